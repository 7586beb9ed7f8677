//! The attribution events of a process that is no rank: an I/O server, or what follows a device.

use super::machine::machine_number;
use super::out::ReadyEvents;
use crate::event::{AttributionEventKind, ExtentsPart, OperationEvent, SeenFile};
use crate::record::{Actor, FileRole};
use blockfile::define::{Definition, EXTENTS, Extents, FILE};
use blockfile::file::BlockFile;
use blockfile::operation::{self as op, kind};
use trace_model::hash::Map;
use unify::scan::Scan;
use unify::timeline::Timeline;

/// Extents in one event.
const PARTS: usize = 1024;
/// Intervals of a line that are remembered to tell whether an operation encloses them.
const REMEMBERED: usize = 256;

/// The records of such a process.
#[derive(Debug)]
pub(super) struct ServerExtract<'a> {
    scan: &'a Scan,
    timeline: Timeline<'a>,
    seen: u32,
    lanes: Map<u32, Vec<OccupiedLine>>,
}

/// Occupied time of a line: intervals that do not overlap, without those inside others.
#[derive(Debug, Default)]
struct OccupiedLine {
    taken: Vec<(i64, i64)>,
}

impl OccupiedLine {
    /// Whether it can have this interval: beside all others, or, where `nests`, around some of them.
    fn put(&mut self, start: i64, stop: i64, nests: bool) -> bool {
        let from = self.taken.partition_point(|&(_, end)| end <= start);
        let inner = self.taken.get(from..).unwrap_or_default();
        let fits = inner.iter().all(|&(s, e)| nests && s >= start && e <= stop);
        if fits {
            self.taken.truncate(from);
            self.taken.push((start, stop));
            if self.taken.len() > REMEMBERED {
                self.taken.drain(..REMEMBERED / 2);
            }
        }
        fits
    }
}

impl<'a> ServerExtract<'a> {
    pub fn new(file: &BlockFile<'a>, scan: &'a Scan, out: &mut ReadyEvents) -> ServerExtract<'a> {
        // In front of all else: ranks write before a device does.
        let first = i64::MIN;
        for thread in file.threads() {
            let what = AttributionEventKind::Thread {
                tid: thread.tid,
                machine: machine_number(scan),
            };
            out.put(first, thread.number, what);
        }
        for thread in file.threads() {
            let mut records = thread.records();
            while let Some(record) = records.next() {
                if record.function == EXTENTS
                    && let Some(Definition::Extents(extents)) =
                        Definition::decode(EXTENTS, record.payload)
                {
                    let found = scan.clock.ns(record.start);
                    put_extents(&extents, found, thread.number, out);
                }
            }
        }
        ServerExtract {
            scan,
            timeline: Timeline::new(file),
            seen: 0,
            lanes: Map::default(),
        }
    }

    /// The next record; false at the end.
    pub fn step(&mut self, out: &mut ReadyEvents) -> bool {
        let Some(item) = self.timeline.next() else {
            return false;
        };
        let (record, thread) = (item.record, item.thread);
        let clock = &self.scan.clock;
        let (start, stop) = (clock.ns(record.start), clock.ns(record.stop()));
        if record.function == FILE {
            if let Some(Definition::File(file)) = Definition::decode(FILE, record.payload) {
                let seen = SeenFile {
                    seen: self.seen,
                    handle: None,
                    role: FileRole::Other,
                    device: file.device,
                    inode: file.inode,
                    name: file.path,
                };
                self.seen = self.seen.saturating_add(1);
                out.put(out.last, thread, AttributionEventKind::File(seen));
            }
            return true;
        }
        let (Some(_), Some(what)) = (
            kind(record.function).filter(|_| record.is_operation()),
            op::OperationRecord::decode(record.payload),
        ) else {
            return true;
        };
        // Work of a device is nowhere nested.
        let nests = !matches!(out.actor, Actor::Device(_));
        let lines = self.lanes.entry(thread).or_default();
        let fits = lines.iter_mut().position(|l| l.put(start, stop, nests));
        let lane = fits.unwrap_or_else(|| {
            let mut line = OccupiedLine::default();
            line.put(start, stop, nests);
            lines.push(line);
            lines.len() - 1
        });
        // A device gets a transfer later than it was asked for, maybe when the thread is elsewhere.
        let arrived = match what.request {
            Some(request) if nests && request.arrived != 0 => clock.ns(request.arrived),
            _ => start,
        };
        let operation = OperationEvent {
            kind: record.function,
            lane: u32::try_from(lane).unwrap_or(u32::MAX),
            start,
            stop: stop.max(start),
            error: record.code,
            record: what,
            file: None,
            inside: None,
            outstanding: false,
            arrived,
        };
        out.put(stop, thread, AttributionEventKind::Operation(operation));
        true
    }
}

fn put_extents(extents: &Extents, ns: i64, thread: u32, out: &mut ReadyEvents) {
    for part in extents.extents.chunks(PARTS) {
        let extents = Extents {
            extents: part.to_vec(),
            ..extents.clone()
        };
        let part = ExtentsPart { extents, ns };
        // They are wanted from the beginning on.
        out.put(i64::MIN, thread, AttributionEventKind::Extents(part));
    }
}
