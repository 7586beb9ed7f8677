//! What the tests of ALOG and CLOG-1 share: the golden files and a small CLOG-1 log of our own.

use std::path::{Path, PathBuf};
use test_support::golden;
use trace_formats::clog1::*;
use trace_formats::clog2::FixedText;

/// A file of the original software.
pub fn golden(name: &str) -> Vec<u8> {
    golden::read(format!("legacy/{name}"))
}

/// ALOG files of every writer, with their names: one that clog2alog made, those of our own, and those that other packages
/// ship where [`golden::shipped`] has them.
pub fn alog_files() -> Vec<(&'static str, Vec<u8>)> {
    let mut files = vec![("ring_from_clog.alog", golden("alog/ring_from_clog.alog"))];
    for name in ["small_from_clog.alog", "p4.log", "mpe_profile.log"] {
        let file = std::fs::read(data(&format!("alog/{name}"))).unwrap();
        files.push((name, file));
    }
    for name in [
        "fpilog_from_clog.alog",
        "fpilog_profile.log",
        "sam_hyp.16.log",
        "srtest.alog",
        "systest_profile.log",
    ] {
        let file = golden::shipped(&format!("legacy/alog/{name}"));
        files.extend(file.map(|file| (name, file)));
    }
    files
}

/// CLOG-1 files of every layout, with their names: see [`alog_files`].
pub fn clog1_files() -> Vec<(&'static str, Vec<u8>)> {
    let mut files = vec![("ring.clog", golden("clog1/ring.clog"))];
    for name in ["clog1/early.clog", "slog1/from_clog.clog"] {
        files.push((name, std::fs::read(data(name)).unwrap()));
    }
    for name in ["fpilog.clog", "srtest_1024_unpadded.clog"] {
        let file = golden::shipped(&format!("legacy/clog1/{name}"));
        files.extend(file.map(|file| (name, file)));
    }
    files
}

/// A golden file of CLOG-1, and what a tool of the original made of it; then, where [`golden::shipped`] has them, those of
/// a shipped file.
pub fn clog1_and(made: fn(&str) -> String) -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    let mut files = vec![("ring", golden("clog1/ring.clog"), golden(&made("ring")))];
    if let (Some(clog), Some(made)) = (
        golden::shipped("legacy/clog1/fpilog.clog"),
        golden::shipped(&format!("legacy/{}", made("fpilog"))),
    ) {
        files.push(("fpilog", clog, made));
    }
    files
}

/// The place of a small file of our own.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

/// Compares with a small file of our own, or with `REGENERATE=1` makes it anew.
pub fn assert_stored(name: &str, made: &[u8]) {
    let path = data(name);
    if std::env::var_os("REGENERATE").is_some() {
        std::fs::write(&path, made).unwrap();
    }
    let stored = std::fs::read(&path).unwrap();
    assert!(stored == made, "{name} differs from what is made now");
}

pub fn record(time: f64, rank: i32, body: Clog1Body) -> Clog1Record {
    let header = Clog1RecordHeader {
        time,
        rank,
        pad: [0; 4],
    };
    Clog1Record { header, body }
}

pub fn raw(time: f64, rank: i32, etype: i32, data: i32, text: &str) -> Clog1Record {
    let body = RawEvent {
        etype,
        data,
        srcloc: 901,
        pad: [0; 4],
        text: FixedText::new(text),
    };
    record(time, rank, Clog1Body::Raw(body))
}

pub fn state_def(id: i32, start: i32, color: &str, name: &str) -> Clog1Body {
    Clog1Body::StateDef(Clog1StateDef {
        state_id: id,
        start_etype: start,
        end_etype: start + 1,
        pad: [0; 4],
        color: FixedText::new(color),
        name: FixedText::new(name),
    })
}

/// A log with every record type; two ranks, nested and overlapping states, messages in both orders, ends without a
/// start and the other way round.
pub fn small_log() -> Vec<Clog1Record> {
    let place = Clog1Body::SrcLoc(SrcLoc {
        srcloc: 901,
        line: 42,
        file: FixedText::new("program.c"),
    });
    let init = Clog1Body::Comm(Clog1Comm {
        etype: comm_etype::INIT,
        parent: -1,
        comm: 91,
        srcloc: 901,
    });
    let coll = Clog1Body::Coll(Coll {
        etype: 13,
        root: 1,
        comm: 91,
        size: 80,
        srcloc: 901,
        pad: [0; 4],
    });
    let msg = Clog1Body::Msg(Clog1Msg {
        etype: -101,
        tag: 7,
        partner: 1,
        comm: 91,
        size: 1024,
        srcloc: 901,
    });
    let event = Clog1Body::EventDef(Clog1EventDef {
        etype: 520,
        pad: [0; 4],
        name: FixedText::new("Step"),
    });
    vec![
        record(0.25, 0, place),
        record(0.25, 0, init),
        record(0.25, 1, Clog1Body::Shift(-0.125)),
        record(0.25, 0, Clog1Body::Undefined),
        raw(0.5, 0, -201, -1, "MPI_ANY_TAG"),
        record(0.5, 0, event),
        record(0.5, 0, state_def(200, 500, "blue:gray3", "Solve")),
        raw(0.75, 0, 500, 1, "outer"),
        raw(1.0, 0, 500, 2, ""),
        raw(1.0, 1, 501, 0, ""),
        raw(1.25, 0, 520, 3, "third step"),
        raw(1.25, 1, -102, 0, "99 12"),
        raw(1.5, 0, -101, 1, "99 12"),
        record(1.5, 0, msg),
        raw(1.75, 0, 501, 2, ""),
        raw(1.75, 0, 155, 1, ""),
        raw(2.0, 1, -102, 0, "7 1024"),
        raw(2.0, 1, -102, 0, "8 4"),
        raw(2.0, 1, -101, 0, "no tag"),
        record(2.0, 1, coll),
        raw(2.25, 0, 156, 2, ""),
        raw(2.5, 0, 501, 1, "done"),
        raw(2.5, 0, 500, 3, ""),
        record(2.5, 0, state_def(201, 155, "green:light_gray", "RECV")),
    ]
}

pub fn written(records: &[Clog1Record], layout: Clog1Layout) -> Vec<u8> {
    let mut writer = Clog1Writer::new(Vec::new(), layout);
    for record in records {
        writer.write(record).unwrap();
    }
    writer.finish().unwrap()
}

/// The copy of a file by way of its records, and what ended the reading.
pub fn copied(file: &[u8]) -> (Vec<u8>, Result<(), Clog1Error>) {
    let reader = match Clog1Reader::new(file) {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), Err(error)),
    };
    let mut writer = Clog1Writer::new(Vec::new(), reader.layout());
    for raw in reader.raw_records() {
        match raw {
            Ok(raw) => writer.write_raw(&raw).unwrap(),
            Err(error) => return (writer.finish().unwrap(), Err(error)),
        }
    }
    (writer.finish().unwrap(), Ok(()))
}

pub fn printed(file: &[u8]) -> (Vec<u8>, Result<(), Clog1Error>) {
    let mut text = Vec::new();
    let result = Clog1Reader::new(file).and_then(|reader| print::print(&reader, &mut text));
    (text, result)
}
