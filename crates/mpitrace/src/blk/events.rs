//! The events of the block layer that are needed, and how they lie in the ring buffer of this kernel.
//!
//! | event | says |
//! |---|---|
//! | block_bio_queue | a task asks for a transfer: the only one that tells which |
//! | block_rq_issue | the driver gets it, with neighbours merged into one request, or a part of it |
//! | block_rq_complete | the device is done with a request or a part of it |
//! | block_bio_complete | likewise, on devices that take transfers without making requests of them |
//! | iomap_dio_rw_begin, _queued, _complete | a task is in a transfer that bypasses the page cache |

use super::ring::{u32_at, u64_at};
use super::tracefs::Instance;
use std::collections::BTreeMap;

/// Kind of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TransferAction {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Gives up the contents of blocks, or makes them zero without sending any.
    Discard,
}

/// The letters by which the kernel describes a transfer (blk_fill_rwbs).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags {
    /// Kind of the transfer.
    pub action: TransferAction,
    /// Whether the device's cache must be written out before the transfer.
    pub flush: bool,
    /// Whether the data must be on the medium when the transfer is done.
    pub fua: bool,
    /// Whether the transfer is of the file system's own data, not of the contents of a file.
    pub metadata: bool,
}

impl Flags {
    /// `None` for requests that the block layer makes by itself to flush the device's cache.
    fn new(letters: &[u8]) -> Option<Flags> {
        let end = letters.iter().position(|&c| c == 0);
        let letters = &letters[..end.unwrap_or(letters.len())];
        let (flush, rest) = match letters {
            [b'F', b'F', ..] | [b'F'] => return None,
            [b'F', rest @ ..] => (true, rest),
            _ => (false, letters),
        };
        let action = match rest.first()? {
            b'R' => TransferAction::Read,
            b'W' => TransferAction::Write,
            // A zone is written to where it is filled (ZA), or emptied.
            b'Z' if rest.get(1) == Some(&b'A') => TransferAction::Write,
            _ => TransferAction::Discard,
        };
        Some(Flags {
            action,
            flush,
            fua: rest[1..].contains(&b'F'),
            metadata: rest[1..].contains(&b'M'),
        })
    }
}

/// A range of sectors of a disk that something happened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorRange {
    /// The device, as the kernel numbers it.
    pub device: u32,
    /// First sector.
    pub sector: u64,
    /// Number of sectors.
    pub sectors: u64,
    /// Kind and options of the transfer.
    pub flags: Flags,
}

/// Event of a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockEvent {
    /// A task asks for a transfer.
    Queue(SectorRange),
    /// The driver got a request.
    Issue(SectorRange),
    /// A request, or part of it, is done; not 0: an error number, negative.
    Complete(SectorRange, i32),
    /// A transfer without a request is done; likewise.
    CompleteBio(SectorRange, i32),
    /// The task begins a transfer of a file that bypasses the page cache.
    BeginDirect {
        /// Of the file system, as the kernel numbers it.
        device: u32,
        /// Inode.
        inode: u64,
        /// Bytes.
        bytes: u64,
        /// Whether the transfer only writes.
        writes: bool,
    },
    /// The task has asked for all of that transfer.
    EndDirect,
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedBlockEvent {
    /// CLOCK_MONOTONIC, ns.
    pub time: u64,
    /// Thread ID of the task that ran at that moment; only of a queue event it is the one that asked.
    pub tid: u32,
    /// The event.
    pub what: BlockEvent,
}

/// Names of the events, and the fields that are taken of each.
const EVENTS: &[(&str, EventKind, &[&str])] = &[
    (
        "block/block_bio_queue",
        EventKind::Queue,
        &["dev", "sector", "nr_sector", "rwbs"],
    ),
    (
        "block/block_rq_issue",
        EventKind::Issue,
        &["dev", "sector", "nr_sector", "rwbs"],
    ),
    (
        "block/block_rq_complete",
        EventKind::Complete,
        &["dev", "sector", "nr_sector", "rwbs", "error"],
    ),
    (
        "block/block_bio_complete",
        EventKind::CompleteBio,
        &["dev", "sector", "nr_sector", "rwbs", "error"],
    ),
    (
        "iomap/iomap_dio_rw_begin",
        EventKind::BeginDirect,
        &["dev", "ino", "count", "isize", "pos", "dio_flags"],
    ),
    ("iomap/iomap_dio_rw_queued", EventKind::EndDirect, &["dev"]),
    ("iomap/iomap_dio_complete", EventKind::EndDirect, &["dev"]),
];
/// IOMAP_DIO_FORCE_WAIT in dio_flags of iomap_dio_rw_begin (linux/iomap.h): ext4 sets it where a write makes the file longer.
const FORCE_WAIT: u64 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventKind {
    Queue,
    Issue,
    Complete,
    CompleteBio,
    BeginDirect,
    EndDirect,
}

impl EventKind {
    /// Whether it can be done without: older kernels do not have it.
    fn spared(self) -> bool {
        matches!(self, EventKind::BeginDirect | EventKind::EndDirect)
    }
}

/// Position of a field in a record: offset and size, bytes.
type FieldPosition = (usize, usize);

/// Layout of an event in the buffer.
#[derive(Clone, Debug)]
struct TraceEventLayout {
    kind: EventKind,
    tid: FieldPosition,
    /// In the order of [`EVENTS`].
    fields: Vec<FieldPosition>,
}

/// The layouts of all events by the number that their records begin with.
#[derive(Clone, Debug)]
pub struct TraceEventLayouts(BTreeMap<u16, TraceEventLayout>);

impl TraceEventLayouts {
    /// The layouts of this kernel, and for each event the folder with its switches.
    ///
    /// # Errors
    /// The name of the event that is missing or cannot be understood.
    pub fn of(instance: &Instance) -> Result<(TraceEventLayouts, Vec<String>), String> {
        let mut layouts = BTreeMap::new();
        let mut folders = Vec::new();
        for &(name, kind, fields) in EVENTS {
            let folder = format!("events/{name}");
            let text = match instance.read(&format!("{folder}/format")) {
                Err(_) if kind.spared() => continue,
                text => text?,
            };
            match layout(&text, kind, fields) {
                Some((number, layout)) => {
                    layouts.insert(number, layout);
                    folders.push(folder);
                }
                None if kind.spared() => {}
                None => {
                    return Err(format!(
                        "event {name} has not the fields {fields:?} in this kernel"
                    ));
                }
            }
        }
        Ok((TraceEventLayouts(layouts), folders))
    }

    /// The event that `data` is; `None` if it is another one or says nothing.
    pub fn event(&self, time: u64, data: &[u8]) -> Option<TimedBlockEvent> {
        let number = u16::from_ne_bytes(*data.first_chunk()?);
        let layout = self.0.get(&number)?;
        let field = |i: usize| number_at(data, *layout.fields.get(i)?);
        let range = || {
            let &(at, size) = layout.fields.get(3)?;
            Some(SectorRange {
                device: field(0)? as u32,
                sector: field(1)?,
                sectors: field(2)?,
                flags: Flags::new(data.get(at..at + size)?)?,
            })
        };
        let what = match layout.kind {
            EventKind::Queue => BlockEvent::Queue(range()?),
            EventKind::Issue => BlockEvent::Issue(range()?),
            EventKind::Complete => BlockEvent::Complete(range()?, field(4)? as i32),
            EventKind::CompleteBio => BlockEvent::CompleteBio(range()?, field(4)? as i32),
            EventKind::BeginDirect => {
                let (size, position) = (field(3)?, field(4)?);
                let writes = position >= size;
                // A read from the end on transfers nothing and is said to begin and never to end: what the thread does next
                // would be taken for it.
                if writes && field(5)? & FORCE_WAIT == 0 {
                    return None;
                }
                BlockEvent::BeginDirect {
                    device: field(0)? as u32,
                    inode: field(1)?,
                    bytes: field(2)?,
                    writes,
                }
            }
            EventKind::EndDirect => BlockEvent::EndDirect,
        };
        let tid = number_at(data, layout.tid)? as u32;
        Some(TimedBlockEvent { time, tid, what })
    }
}

fn number_at(data: &[u8], (at, size): FieldPosition) -> Option<u64> {
    match size {
        4 => u32_at(data, at).map(u64::from),
        8 => u64_at(data, at),
        _ => None,
    }
}

/// Reads the text of a `format` file.
fn layout(text: &str, kind: EventKind, wanted: &[&str]) -> Option<(u16, TraceEventLayout)> {
    let mut number = None;
    let mut places = BTreeMap::new();
    for line in text.lines() {
        if let Some(id) = line.strip_prefix("ID: ") {
            number = id.trim().parse().ok();
        }
        let Some(field) = line.trim().strip_prefix("field:") else {
            continue;
        };
        let mut parts = field.split(';').map(str::trim);
        let name = parts.next()?.rsplit([' ', '*']).next()?;
        let name = name.split('[').next()?;
        let mut value = |key: &str| -> Option<usize> {
            let part = parts.next()?.strip_prefix(key)?;
            part.strip_prefix(':')?.parse().ok()
        };
        let place = (value("offset")?, value("size")?);
        places.insert(name.to_owned(), place);
    }
    let fields = wanted.iter().map(|&name| places.get(name).copied());
    let layout = TraceEventLayout {
        kind,
        tid: *places.get("common_pid")?,
        fields: fields.collect::<Option<_>>()?,
    };
    Some((number?, layout))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "name: block_bio_queue
ID: 2097
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;
\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;
\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;
\tfield:char rwbs[10];\toffset:28;\tsize:10;\tsigned:0;
\tfield:char comm[16];\toffset:38;\tsize:16;\tsigned:0;

print fmt: \"%d,%d\"
";

    #[test]
    fn an_event_is_read_by_its_format() {
        let (number, found) = layout(
            FORMAT,
            EventKind::Queue,
            &["dev", "sector", "nr_sector", "rwbs"],
        )
        .unwrap();
        assert_eq!(number, 2097);
        let mut data = vec![0; 56];
        data[..2].copy_from_slice(&2097u16.to_ne_bytes());
        data[4..8].copy_from_slice(&31i32.to_ne_bytes());
        data[8..12].copy_from_slice(&0x70_0001u32.to_ne_bytes());
        data[16..24].copy_from_slice(&(1u64 << 40).to_ne_bytes());
        data[24..28].copy_from_slice(&8u32.to_ne_bytes());
        data[28..32].copy_from_slice(b"WSM\0");
        let layouts = TraceEventLayouts([(2097, found)].into());
        let event = layouts.event(5, &data).unwrap();
        assert_eq!((event.time, event.tid), (5, 31));
        let BlockEvent::Queue(range) = event.what else {
            panic!("{event:?}")
        };
        assert_eq!(
            (range.device, range.sector, range.sectors),
            (0x70_0001, 1 << 40, 8)
        );
        assert!(range.flags.metadata && range.flags.action == TransferAction::Write);
        for cut in 0..38 {
            assert_eq!(layouts.event(5, &data[..cut]), None);
        }
        assert!(layout(FORMAT, EventKind::Queue, &["error"]).is_none());
    }

    #[test]
    fn letters() {
        let flags = |letters: &[u8]| Flags::new(letters);
        let plain = Flags {
            action: TransferAction::Write,
            flush: false,
            fua: false,
            metadata: false,
        };
        assert_eq!(flags(b"WS\0\0"), Some(plain));
        let journal = Flags {
            flush: true,
            fua: true,
            metadata: true,
            ..plain
        };
        assert_eq!(flags(b"FWFSM"), Some(journal));
        let flush = Flags {
            flush: true,
            ..plain
        };
        assert_eq!(flags(b"FWS"), Some(flush));
        assert_eq!(flags(b"FF"), None);
        assert_eq!(flags(b""), None);
        for (letters, action) in [
            (&b"RA"[..], TransferAction::Read),
            (b"D", TransferAction::Discard),
            (b"DE", TransferAction::Discard),
            (b"N", TransferAction::Discard),
            (b"ZAS", TransferAction::Write),
        ] {
            assert_eq!(flags(letters), Some(Flags { action, ..plain }));
        }
    }
}
