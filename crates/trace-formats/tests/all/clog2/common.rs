//! What the CLOG2 tests share: the golden files and a small log of our own.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use test_support::golden;
use trace_formats::clog2::*;

/// All golden CLOG2 files with their names, sorted.
pub fn golden_files() -> Vec<(String, Vec<u8>)> {
    let files = golden::contents("mpe", ".clog2");
    assert!(files.len() >= 25, "only {} golden files", files.len());
    files
}

/// The place of a small file of our own.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/clog2")
        .join(name)
}

/// A record; the place is communicator, rank and thread.
fn record(time: f64, (icomm, rank, thread): (i32, i32, i32), body: Clog2Body) -> Clog2Record {
    Clog2Record {
        header: Clog2RecordHeader {
            time,
            icomm,
            rank,
            thread,
        },
        body,
    }
}

/// A communicator event; the numbers are its LID, the rank in it and the rank in MPI_COMM_WORLD.
fn comm(etype: i32, (icomm, rank, wrank): (i32, i32, i32), gid: Gid) -> Clog2Body {
    Clog2Body::Comm(Clog2CommEvent {
        etype,
        icomm,
        rank,
        wrank,
        gid,
    })
}

/// The GID of this number.
fn gid(number: i32) -> Gid {
    Gid::new(number, 1000.0 + 0.25 * f64::from(number), b"node")
}

/// The records at the start of a log: time shift, communicators, constants.
fn small_log_setup() -> Vec<Clog2Record> {
    let mut records = Vec::new();
    let mut add = |time, place, body| records.push(record(time, place, body));
    add(0.0, (0, 0, 0), Clog2Body::TimeShift { shift: -0.0 });
    add(
        1e-6,
        (0, 0, 0),
        comm(comm_etype::WORLD_CREATE, (0, 0, 0), gid(1)),
    );
    add(
        2e-6,
        (0, 0, 0),
        comm(comm_etype::SELF_CREATE, (1, 0, 0), gid(2)),
    );
    for (name, value) in [
        ("MPI_PROC_NULL", -1),
        ("MPI_ANY_SOURCE", -2),
        ("MPI_ANY_TAG", -1),
    ] {
        let def = Clog2ConstDef {
            etype: constdef_etype::MPI_CONST,
            value,
            name: FixedText::new(name),
        };
        add(3e-6, (0, 0, 0), Clog2Body::ConstDef(def));
    }
    add(4e-6, (0, 0, 0), Clog2Body::Bare { etype: -10 });
    add(
        5e-6,
        (0, 0, 0),
        comm(comm_etype::INTER_CREATE, (2, 0, 0), gid(4)),
    );
    add(
        6e-6,
        (0, 0, 0),
        comm(comm_etype::INTRA_LOCAL, (0, 0, 0), gid(1)),
    );
    add(
        7e-6,
        (0, 0, 0),
        comm(comm_etype::INTRA_REMOTE, (4, -1, 0), gid(5)),
    );
    records
}

/// The events of a log, the last one with a time of many digits.
fn small_log_events() -> Vec<Clog2Record> {
    let mut records = Vec::new();
    let mut add = |time, place, body| records.push(record(time, place, body));
    let mut bytes = [0; CARGO_SIZE];
    bytes[..6].copy_from_slice(&[0x12, b'a', 0xff, b'z', 0, 7]);
    add(0.125, (0, 1, 2), Clog2Body::Cargo { etype: 600, bytes });
    let (send, recv) = (msg_etype::SEND, msg_etype::RECV);
    add(
        0.25,
        (0, 1, 0),
        Clog2Body::Msg(Clog2Msg {
            etype: send,
            icomm: 4,
            rank: 0,
            tag: 7,
            size: 1024,
        }),
    );
    add(
        0.5,
        (0, 0, 0),
        Clog2Body::Msg(Clog2Msg {
            etype: recv,
            icomm: 0,
            rank: 1,
            tag: -5,
            size: 0,
        }),
    );
    add(
        0.75,
        (5, 0, 0),
        Clog2Body::Coll {
            etype: 10,
            root: 3,
            size: 8,
        },
    );
    add(
        1.0,
        (0, 0, 0),
        Clog2Body::SrcLoc {
            srcloc: 9,
            line: 120,
            file: FixedText::new("main.c"),
        },
    );
    add(
        1.5,
        (0, 0, 0),
        comm(comm_etype::FREE, (UNKNOWN_LID, -1, -1), Gid::NULL),
    );
    add(12345678.5, (0, 0, 0), Clog2Body::Bare { etype: -9 });
    records
}

/// The definitions of a log.
fn small_log_definitions() -> Vec<Clog2Record> {
    let state = Clog2StateDef {
        state_id: 300,
        start_etype: 600,
        final_etype: 601,
        color: FixedText::new("DarkOliveGreen2"),
        name: FixedText::new("a name that is longer than its field"),
        format: FixedText::new("step=%d."),
    };
    let event = Clog2EventDef {
        etype: -10,
        color: FixedText::new("red"),
        name: FixedText::new("MPE_Comm_init"),
        format: FixedText::default(),
    };
    vec![
        record(12345679.0, (0, 0, 0), Clog2Body::StateDef(state)),
        record(12345679.5, (0, 0, 0), Clog2Body::EventDef(event)),
    ]
}

/// A log with every record type, an intercommunicator, a raw byte in the data and more than one block.
pub fn small_log() -> (Preamble, Vec<Clog2Record>, CommTable) {
    let mut table = CommTable::default();
    for (number, kind) in [
        (1, Clog2CommKind::Intra),
        (2, Clog2CommKind::Intra),
        (4, Clog2CommKind::Inter),
        (1, Clog2CommKind::Local),
        (5, Clog2CommKind::Remote),
        (3, Clog2CommKind::Unknown),
    ] {
        table.push(gid(number), kind);
    }
    let lids: Vec<i32> = table.0.iter().map(|entry| entry.lid).collect();
    assert_eq!(lids, [0, 1, 2, 0, 4, 5], "a known GID keeps its number");

    let mut records = small_log_setup();
    records.extend(small_log_events());
    records.extend(small_log_definitions());
    let preamble = Preamble {
        block_size: 512,
        max_comm_world_size: 2,
        max_thread_count: 3,
        user_state_id_count: 1,
        ..Preamble::default()
    };
    (preamble, records, table)
}

/// Writes a log into memory.
pub fn written(preamble: &Preamble, records: &[Clog2Record], table: &CommTable) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let mut writer = Clog2Writer::new(&mut file, preamble).unwrap();
    for record in records {
        writer.write(record).unwrap();
    }
    writer.finish(table, preamble).unwrap();
    file.into_inner()
}

/// The text `clog2_print` gives, and the error if there was one.
pub fn printed(file: &[u8]) -> (Vec<u8>, Result<(), Clog2Error>) {
    let mut text = Vec::new();
    let result = Clog2Reader::new(file).and_then(|reader| print::print(&reader, &mut text));
    (text, result)
}

/// The text the Java `clog2print` gives, and the error if there was one.
pub fn java_printed(file: &[u8]) -> (Vec<u8>, Result<(), Clog2Error>) {
    let mut text = Vec::new();
    let result = Clog2Reader::new(file).and_then(|reader| java::print(&reader, &mut text));
    (text, result)
}
