//! The infos of the drawables of attribution records, written and read.

use std::fmt::Write;

use blockfile::operation as op;

use super::categories::DrawableMeaning;
use crate::record::{
    AttributedOperation, AttributionEdge, AttributionRecord, DataAccessCall, FileRole, OpenedFile,
    PicturePoint, Precision, Relation,
};
use trace_model::{InfoValue, InfoWriter};

const ROLES: [(FileRole, &str); 4] = [
    (FileRole::Data, "data"),
    (FileRole::SharedPointer, "shared pointer"),
    (FileRole::Side, "side"),
    (FileRole::Other, "other"),
];

const PRECISIONS: [(Precision, &str); 5] = [
    (Precision::Exact, "exact"),
    (Precision::Page, "page"),
    (Precision::BoundingExtent, "hull"),
    (Precision::Ambiguous, "may serve"),
    (Precision::MayCarry, "may carry"),
];

/// Value of `writes` for a call of which another call of the same collective access writes some bytes, too; otherwise it is 0 or 1.
const WRITES_AND_OVERLAPS: i32 = 2;
/// Added to `writes` for a call that failed.
const FAILED: i32 = 4;

fn word<T: PartialEq>(words: &[(T, &'static str)], of: &T) -> &'static str {
    let found = words.iter().find(|(value, _)| value == of);
    found.map_or("", |(_, word)| word)
}

fn value<T: Copy>(words: &[(T, &'static str)], of: &[u8]) -> Option<T> {
    let found = words.iter().find(|(_, word)| word.as_bytes() == of);
    found.map(|(value, _)| *value)
}

fn file_number(file: Option<u32>) -> i32 {
    file.and_then(|id| i32::try_from(id).ok()).unwrap_or(-1)
}

pub(super) fn write_file(file: &OpenedFile, out: &mut InfoWriter) {
    out.clear()
        .int(file.id as i32)
        .text(word(&ROLES, &file.role).as_bytes())
        .text(shortened(&file.name))
        .long(file.device as i64)
        .long(file.inode as i64);
}

/// An info has 32767 bytes at most, and no name is that long on any system.
fn shortened(name: &str) -> &[u8] {
    let mut end = name.len().min(16384);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name.as_bytes()[..end]
}

pub(super) fn write_call(call: &DataAccessCall, out: &mut InfoWriter) {
    let since = |ns: i64| ns.wrapping_sub(call.place.ns);
    let (first, behind) = call
        .bounding_extent
        .map_or((-1, -1), |(a, b)| (a as i64, b as i64));
    out.clear()
        .long(call.call as i64)
        .text(shortened(&call.name))
        .int(call.file as i32)
        .long(call.sequence.map_or(-1, |n| n as i64))
        .long(call.bytes as i64)
        .long(first)
        .long(behind)
        .long(call.pieces as i64)
        .long(since(call.stop))
        .long(since(call.complete))
        .int(
            match (call.writes, call.overlaps) {
                (false, _) => 0,
                (true, false) => 1,
                (true, true) => WRITES_AND_OVERLAPS,
            } + if call.failed { FAILED } else { 0 },
        )
        .int(call.function.into());
}

pub(super) fn write_edge(edge: &AttributionEdge, out: &mut InfoWriter) {
    out.clear()
        .long(edge.call as i64)
        .long(edge.bytes as i64)
        .text(word(&PRECISIONS, &edge.precision).as_bytes())
        .long(edge.operation as i64);
}

pub(super) fn write_operation(operation: &AttributedOperation, out: &mut InfoWriter) {
    let record = &operation.record;
    out.clear();
    if let Some(call) = operation.call {
        out.long(call as i64);
    }
    out.int(file_number(operation.file))
        .int(record.fd)
        .long(record.offset)
        .long(record.size)
        .long(record.result)
        .long(operation.hole_bytes as i64)
        .int(operation.error)
        .text(details(operation).as_bytes())
        .long(operation.id as i64);
}

const FLAGS: [(u32, &str); 3] = [
    (op::OUTSIDE, "outside"),
    (op::DEFERRED, "deferred"),
    (op::DIRECT, "direct"),
];

/// The `details` text of an operation: the fields that only some operations have.
fn details(operation: &AttributedOperation) -> String {
    let record = &operation.record;
    let mut text = String::new();
    let mut add = |word: std::fmt::Arguments<'_>| {
        let blank = if text.is_empty() { "" } else { " " };
        // Writing to a String cannot fail.
        let _ = write!(text, "{blank}{word}");
    };
    if operation.outstanding {
        add(format_args!("outstanding"));
    }
    let mut flags = record.flags;
    for (flag, word) in FLAGS {
        if flags & flag != 0 {
            add(format_args!("{word}"));
            flags &= !flag;
        }
    }
    if flags != 0 {
        add(format_args!("flags={flags:x}"));
    }
    match record.call {
        Some(call) if Some(call) == operation.call => add(format_args!("told")),
        Some(call) => add(format_args!("told={call:x}")),
        None => {}
    }
    if let Some((read, written)) = record.sectors {
        add(format_args!("sectors={read}+{written}"));
    }
    if let Some(request) = record.request {
        add(format_args!(
            "request={} inode={} tid={} arrived={}",
            request.unique, request.inode, request.tid, request.arrived
        ));
    }
    if let Some((fd, offset)) = record.peer {
        add(format_args!("peer={fd}@{offset}"));
    }
    if let Some(control) = record.control {
        add(format_args!("control={control:x}"));
    }
    text
}

/// Reads a text of [`details`] into `operation`. Words that are not known are skipped.
fn read_details(text: &str, operation: &mut AttributedOperation) {
    let call = operation.call;
    let record = &mut operation.record;
    for word in text.split(' ') {
        if let Some((flag, _)) = FLAGS.iter().find(|(_, known)| *known == word) {
            record.flags |= flag;
            continue;
        }
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let hex = || u64::from_str_radix(value, 16).ok();
        let number = || value.parse::<u64>().unwrap_or(0);
        match key {
            "outstanding" => operation.outstanding = true,
            "flags" => record.flags |= hex().and_then(|n| u32::try_from(n).ok()).unwrap_or(0),
            "told" if value.is_empty() => record.call = call,
            "told" => record.call = hex(),
            "control" => record.control = hex(),
            "sectors" => {
                let ends = value.split_once('+');
                record.sectors = ends.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
            }
            "peer" => {
                let ends = value.split_once('@');
                record.peer = ends.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
            }
            "request" => record.request.get_or_insert_default().unique = number(),
            "inode" => record.request.get_or_insert_default().inode = number(),
            "tid" => {
                let tid = u32::try_from(number()).unwrap_or(0);
                record.request.get_or_insert_default().tid = tid;
            }
            "arrived" => record.request.get_or_insert_default().arrived = number(),
            _ => {}
        }
    }
}

/// Reads the values of an info one after the other.
struct InfoValues<'a, I: Iterator<Item = InfoValue<'a>>>(I);

impl<'a, I: Iterator<Item = InfoValue<'a>>> InfoValues<'a, I> {
    fn long(&mut self) -> Option<i64> {
        match self.0.next()? {
            InfoValue::Integer(n) => Some(n),
            InfoValue::Hex(n) => Some(n as i64),
            InfoValue::Text(_) | InfoValue::Real(_) => None,
        }
    }

    fn unsigned(&mut self) -> Option<u64> {
        self.long().map(|n| n as u64)
    }

    fn int(&mut self) -> Option<i32> {
        self.long()?.try_into().ok()
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        match self.0.next()? {
            InfoValue::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// The attribution record of a drawable, from the meaning of its category, its info and its points.
pub(super) fn read<'a>(
    what: DrawableMeaning,
    values: impl Iterator<Item = InfoValue<'a>>,
    places: &[PicturePoint],
) -> Option<AttributionRecord> {
    let v = &mut InfoValues(values);
    let lossy = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
    Some(match (what, places) {
        (DrawableMeaning::File, _) => AttributionRecord::File(OpenedFile {
            id: v.int()? as u32,
            role: value(&ROLES, v.text()?)?,
            name: lossy(v.text()?),
            device: v.unsigned()?,
            inode: v.unsigned()?,
        }),
        (DrawableMeaning::Access, [place, ..]) => {
            let call = v.unsigned()?;
            let name = lossy(v.text()?);
            let file = v.int()? as u32;
            let sequence = u64::try_from(v.long()?).ok();
            let bytes = v.unsigned()?;
            let bounding_extent = (v.long()?, v.long()?);
            let pieces = v.unsigned()?;
            let ends = [v.long()?, v.long()?].map(|since| place.ns.wrapping_add(since));
            let kind = v.int()?;
            let (writes, failed) = (kind & !FAILED, kind & FAILED != 0);
            AttributionRecord::Call(DataAccessCall {
                call,
                function: u16::try_from(v.int()?).ok()?,
                name: name.into(),
                place: *place,
                stop: ends[0],
                complete: ends[1],
                file,
                sequence,
                writes: writes != 0,
                bytes,
                bounding_extent: (bounding_extent != (-1, -1))
                    .then_some((bounding_extent.0 as u64, bounding_extent.1 as u64)),
                pieces,
                overlaps: writes == WRITES_AND_OVERLAPS,
                failed,
            })
        }
        (DrawableMeaning::Operation(kind, has_call), [place, end]) => {
            let call = if has_call { Some(v.unsigned()?) } else { None };
            let mut operation = AttributedOperation {
                id: 0,
                kind,
                place: *place,
                stop: end.ns,
                error: 0,
                record: op::OperationRecord::default(),
                file: u32::try_from(v.int()?).ok(),
                call,
                outstanding: false,
                hole_bytes: 0,
            };
            operation.record.fd = v.int()?;
            operation.record.offset = v.long()?;
            operation.record.size = v.long()?;
            operation.record.result = v.long()?;
            operation.hole_bytes = v.unsigned()?;
            operation.error = v.int()?;
            read_details(&String::from_utf8_lossy(v.text()?), &mut operation);
            operation.id = v.unsigned()?;
            AttributionRecord::Operation(operation)
        }
        (DrawableMeaning::Edge(kind, relation), [from, to]) => {
            AttributionRecord::Edge(edge(kind, relation, v, *from, *to)?)
        }
        _ => return None,
    })
}

fn edge<'a>(
    kind: u16,
    relation: Relation,
    v: &mut InfoValues<'a, impl Iterator<Item = InfoValue<'a>>>,
    from: PicturePoint,
    to: PicturePoint,
) -> Option<AttributionEdge> {
    let call = v.unsigned()?;
    let bytes = v.unsigned()?;
    let precision = value(&PRECISIONS, v.text()?)?;
    Some(AttributionEdge {
        call,
        from,
        operation: v.unsigned()?,
        kind,
        to,
        relation,
        bytes,
        precision,
    })
}
