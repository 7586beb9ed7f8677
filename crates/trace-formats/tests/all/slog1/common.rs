//! What the tests of SLOG-1 share: small files of our own, and checks.

use std::io::Cursor;
use std::path::PathBuf;
use trace_formats::slog1::*;
use trace_model::Text;

/// The place of a small file of our own.
pub fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/slog1")
        .join(name)
}

/// Compares with a small file of our own, or with `REGENERATE=1` makes it anew.
#[track_caller]
pub fn assert_stored(name: &str, made: &[u8]) {
    if std::env::var_os("REGENERATE").is_some() {
        std::fs::write(data(name), made).expect("written");
    }
    let stored = std::fs::read(data(name)).expect("stored");
    assert_same(name, made, &stored);
}

#[track_caller]
pub fn assert_same(name: &str, found: &[u8], expected: &[u8]) {
    let difference = found.iter().zip(expected).position(|(a, b)| a != b);
    assert_eq!(
        (difference, found.len()),
        (None, expected.len()),
        "{name}: {:?} against {:?}",
        around(found, difference),
        around(expected, difference)
    );
}

fn around(bytes: &[u8], at: Option<usize>) -> String {
    let at = at.unwrap_or(bytes.len());
    let part = &bytes[at.saturating_sub(60)..bytes.len().min(at + 60)];
    String::from_utf8_lossy(part).into_owned()
}

/// The text of a file, as far as it goes, and what ended it.
pub fn printed(file: &[u8], name: &str) -> (Vec<u8>, Result<(), Slog1Error>) {
    let mut text = Vec::new();
    let result = Slog1Reader::new(file).and_then(|r| print(&r, name.as_bytes(), &mut text));
    (text, result)
}

pub fn kind(
    key: RecordKey,
    class: &str,
    label: &str,
    color: &str,
    arguments: &[&str],
) -> RecordKind {
    let names = arguments.iter().map(|&name| Text::from(name)).collect();
    RecordKind {
        display: Display {
            key,
            class: class.into(),
            label: label.into(),
            color: color.into(),
            arguments: (!arguments.is_empty()).then_some(names),
        },
        associations: 0,
    }
}

pub const FIRST: Bebits = Bebits::ALL[0];
pub const LAST: Bebits = Bebits::ALL[2];

/// Kinds of every sort: with and without arguments and associations, in pieces, arrows, one that is not used.
pub fn small_tables() -> FileTables {
    let piece = |intvltype, bebits| RecordKey { intvltype, bebits };
    let mut linked = kind(RecordKey::whole(7), "state", "Linked", "blue:gray3", &[]);
    linked.associations = 2;
    FileTables {
        preview: b"what it is about".to_vec(),
        threads: vec![
            Slog1Thread {
                node: 0,
                thread: 0,
                process_id: 4711,
                thread_id: 1,
                application: 0,
            },
            Slog1Thread {
                node: 1,
                application: 1,
                ..Slog1Thread::default()
            },
            Slog1Thread {
                node: 1,
                thread: 5,
                application: 1,
                ..Slog1Thread::default()
            },
        ],
        kinds: vec![
            kind(
                RecordKey::whole(12),
                "message",
                "forward arrow",
                "white",
                &[],
            ),
            kind(
                RecordKey::whole(13),
                "message",
                "backward arrow",
                "grey",
                &[],
            ),
            kind(
                RecordKey::whole(3),
                "state",
                "Compute",
                "red",
                &["a long name", "n"],
            ),
            kind(RecordKey::whole(4), "state", "never seen", "pink", &[]),
            linked,
            kind(piece(9, LAST), "state", "Split", "green", &["result"]),
            kind(piece(9, FIRST), "state", "Split", "green", &["request"]),
            kind(
                RecordKey::whole(9),
                "state",
                "Split",
                "green",
                &["request", "result"],
            ),
        ],
    }
}

pub fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

pub fn task(node: u16, thread: u32) -> TaskId {
    TaskId {
        node,
        cpu: 0,
        thread,
    }
}

/// A record in pieces that own their bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Owned {
    pub rectype: u16,
    pub key: RecordKey,
    pub start: f64,
    pub duration: f64,
    pub origin: TaskId,
    pub destination: Option<TaskId>,
    pub address: u32,
    pub associations: Vec<u8>,
    pub arguments: Vec<u8>,
}

impl Owned {
    pub fn state(intvltype: u16, start: f64, end: f64, origin: TaskId) -> Self {
        Owned {
            rectype: STATE,
            key: RecordKey::whole(intvltype),
            start,
            duration: end - start,
            origin,
            destination: None,
            address: 0,
            associations: Vec::new(),
            arguments: Vec::new(),
        }
    }

    pub fn record(&self) -> Slog1Record<'_> {
        let arguments = if is_variable(self.rectype) {
            Arguments::Groups(ArgumentGroups::new(&self.arguments).expect("groups"))
        } else {
            Arguments::Fixed(WordArray::new(&self.arguments))
        };
        Slog1Record {
            rectype: self.rectype,
            key: self.key,
            start: self.start,
            duration: self.duration,
            origin: self.origin,
            destination: self.destination,
            address: self.address,
            associations: WordArray::new(&self.associations),
            arguments,
        }
    }
}

/// Records of all kinds, by end time; some reach over several frames of 256 bytes.
pub fn small_records() -> Vec<Owned> {
    let mut records = Vec::new();
    for nth in 0..14u16 {
        let end = 1.0 + f64::from(nth) * 0.125;
        let place = [task(0, 0), task(1, 0), task(1, 5)][usize::from(nth % 3)];
        let mut record = Owned::state(3, end - 0.25, end, place);
        record.arguments = bytes_of(&[u32::from(nth), u32::MAX - u32::from(nth)]);
        match nth % 7 {
            1 => {
                record.rectype = STATE_VARIABLE;
                // Three groups, the second without numbers.
                record.arguments = [&[0, 1][..], &[0, 0, 0, 9], &[0, 0], &[0, 2]].concat();
                record.arguments.extend(bytes_of(&[1, 2]));
            }
            2 => {
                record.key = RecordKey::whole(7);
                record.associations = bytes_of(&[77, 88]);
                record.arguments.clear();
                record.address = 0x10ab;
            }
            3 => {
                record.key.intvltype = 9;
                record.key.bebits = if nth < 7 { FIRST } else { LAST };
                record.arguments = bytes_of(&[5]);
                record.start = 0.5;
                record.duration = end - 0.5;
            }
            4 => {
                record.rectype = ARROW;
                record.key = RecordKey::whole(12);
                record.destination = Some(task(0, 0));
                record.arguments.clear();
            }
            5 => {
                record.rectype = ARROW + 3;
                record.key = RecordKey::whole(13);
                record.origin.cpu = 3;
                record.destination = Some(task(1, 5));
                record.arguments.clear();
            }
            _ => {}
        }
        records.push(record);
    }
    records
}

pub const SMALL: FileLayout = FileLayout {
    frame_size: 256,
    frame_reserved: 90,
    frames_per_directory: 16,
    order: TimeOrder::End,
    bins: 8,
    spare_entries: 2,
};

pub fn written(
    tables: &FileTables,
    layout: &FileLayout,
    records: &[Owned],
) -> Result<(Vec<u8>, WrittenCounts), Slog1Error> {
    let mut writer = Slog1Writer::new(Cursor::new(Vec::new()), tables, layout)?;
    for record in records {
        writer.write(&record.record())?;
    }
    let (out, written) = writer.finish()?;
    Ok((out.into_inner(), written))
}

pub fn small_file() -> Vec<u8> {
    let (file, _) = written(&small_tables(), &SMALL, &small_records()).expect("written");
    file
}

/// Checks that each frame has all records that reach into it, each in the sector it belongs in, and no other; gives the
/// real records, encoded.
pub fn check_frames(file: &[u8]) -> Vec<Vec<u8>> {
    let reader = Slog1Reader::new(file).expect("header");
    let header = reader.header();
    let frames: Vec<_> = reader.frames().map(|frame| frame.expect("frame")).collect();
    let mut real = Vec::new();
    for frame in &frames {
        let other = if header.by_start {
            Sector::Outgoing
        } else {
            Sector::Incoming
        };
        let all = frame.records(Sector::Current).chain(frame.records(other));
        real.extend(all.map(|record| {
            let mut bytes = Vec::new();
            record.expect("record").encode(&mut bytes);
            bytes
        }));
    }
    let mut before = f64::NEG_INFINITY;
    for frame in &frames {
        let (start, end) = (frame.entry.start, frame.entry.end);
        assert!(start <= end && (before == start || before == f64::NEG_INFINITY));
        before = end;
        for sector in Sector::ALL {
            let count = frame.records(sector).count();
            assert_eq!(count, frame.count(sector) as usize);
            for record in frame.records(sector) {
                let record = record.expect("record");
                let found = (record.start < start, record.end() <= end);
                let expected = match sector {
                    Sector::Current => (false, true),
                    Sector::Incoming => (true, true),
                    Sector::Passing => (true, false),
                    Sector::Outgoing => (false, false),
                };
                assert_eq!(found, expected, "frame {} {sector:?}", frame.index);
            }
        }
    }
    real
}
