//! `mpitrace synth`: the same trace in every format.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use trace_formats::dumpi::read::DumpiReader;
use trace_formats::dumpi::value::FieldValue;

fn mpitrace(arguments: &[&str], folder: &Path) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_mpitrace"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("mpitrace runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn synth(name: &str, more: &[&str], folder: &Path) -> String {
    let options = ["synth", "--ranks", "5", "--drawables", "3000", name];
    let (code, _, printed) = mpitrace(&[&options, more].concat(), folder);
    assert_eq!(code, Some(0), "{printed}");
    printed
}

#[test]
fn the_same_options_make_the_same_bytes() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let read = |name: &str| fs::read(folder.path().join(name)).expect("written");
    let printed = synth("a.slog2", &[], folder.path());
    assert!(
        printed.starts_with("mpitrace: a.slog2: 30")
            && printed.ends_with(" drawables of 5 ranks\n"),
        "{printed}"
    );
    synth("b.slog2", &[], folder.path());
    synth("c.slog2", &["--seed", "2"], folder.path());
    synth(
        "d.slog2",
        &["--leaf", "4k", "--children", "4"],
        folder.path(),
    );
    assert_eq!(read("a.slog2"), read("b.slog2"));
    assert_ne!(read("a.slog2"), read("c.slog2"));
    let (_, header, _) = mpitrace(&["print", "-d", "d.slog2"], folder.path());
    assert!(header.contains("NumOfChildrenPerNode = 4\nTreeLeafByteSize = 4096\n"));
    assert_eq!(fs::read_dir(folder.path()).expect("folder").count(), 4);
}

#[test]
fn every_format_holds_the_same_trace() {
    let folder = tempfile::tempdir().expect("temporary folder");
    synth("a.slog2", &[], folder.path());
    let states = |name: &str| {
        let (_, text, _) = mpitrace(&["print", "-s", name], folder.path());
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for line in text.lines().filter(|line| line.contains(": Primitive[")) {
            let name = line
                .split("name=")
                .nth(1)
                .and_then(|rest| rest.split(',').next());
            *counts.entry(name.expect("a name").to_owned()).or_default() += 1;
        }
        counts
    };
    let expected = states("a.slog2");
    assert!(
        expected.len() == 15 && expected["MPI_Waitall"] > 100,
        "{expected:?}"
    );
    for other in ["b.clog2", "c.alog", "d.trace"] {
        synth(other, &["-q"], folder.path());
        let (code, _, printed) = mpitrace(
            &["convert", "-q", "--force", other, "back.slog2"],
            folder.path(),
        );
        assert_eq!(code, Some(0), "{other}: {printed}");
        assert_eq!(states("back.slog2"), expected, "{other}");
    }
    let (code, text, printed) = mpitrace(&["print", "d.trace"], folder.path());
    assert_eq!((code, printed.as_str()), (Some(0), ""));
    assert!(text.contains("\nLink, synth, MPI message, "));
}

/// Sends and receives of all ranks match: partner, tag, size; and what MPI_Waitall tells of them.
#[test]
fn calls_of_dumpi_match() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let printed = synth("run.meta", &[], folder.path());
    assert!(printed.contains(" calls of 5 ranks"), "{printed}");
    let meta = fs::read_to_string(folder.path().join("run.meta")).expect("written");
    assert!(
        meta.contains("numprocs=5\n") && meta.contains("fileprefix=run\n"),
        "{meta}"
    );
    // By sender, receiver and tag, the counts in order.
    let mut sent: BTreeMap<(i32, i32, i32), Vec<i32>> = BTreeMap::new();
    let mut received = sent.clone();
    let mut writes = 0;
    for rank in 0..5 {
        let bytes = fs::read(folder.path().join(format!("run-000{rank}.bin"))).expect("written");
        let reader = DumpiReader::open(&bytes).expect("good file");
        let mut last = 0;
        let mut posted = Vec::new();
        for record in reader.records() {
            let record = record.expect("good record");
            let start =
                record.wall.start.sec as u64 * 1_000_000_000 + record.wall.start.nsec as u64;
            assert!(start >= last);
            last = start;
            let arguments: Vec<FieldValue> = record.args().map(|(_, argument)| argument).collect();
            match (record.function.name, arguments.as_slice()) {
                (
                    "MPI_Isend",
                    &[
                        FieldValue::Int(count),
                        _,
                        FieldValue::Int(to),
                        FieldValue::Int(tag),
                        ..,
                    ],
                ) => {
                    sent.entry((rank, to, tag)).or_default().push(count);
                }
                (
                    "MPI_Irecv",
                    &[
                        FieldValue::Int(count),
                        _,
                        FieldValue::Int(from),
                        FieldValue::Int(tag),
                        ..,
                    ],
                ) => {
                    received.entry((from, rank, tag)).or_default().push(count);
                    posted.push((from, tag, 8 * count));
                }
                ("MPI_Waitall", [FieldValue::Int(4), _, FieldValue::Statuses(statuses)]) => {
                    let reported: Vec<_> = statuses
                        .iter()
                        .map(|s| (s.source, s.tag, s.bytes))
                        .collect();
                    assert_eq!(reported[..2], posted[..]);
                    posted.clear();
                }
                ("MPI_File_write_at_all", [_, FieldValue::I64(offset), ..]) => {
                    assert_eq!(*offset, i64::from(rank) << 20);
                    writes += 1;
                }
                ("MPI_Isend" | "MPI_Irecv" | "MPI_Waitall", other) => panic!("{other:?}"),
                _ => {}
            }
        }
        assert!(posted.is_empty());
    }
    assert_eq!(sent, received);
    assert!(sent.len() == 10 && sent.values().all(|counts| counts.len() > 50) && writes >= 10);
}

#[test]
fn wrong_calls_end_with_2() {
    let folder = tempfile::tempdir().expect("temporary folder");
    for arguments in [
        &["synth", "x"][..],
        &["synth", "--ranks", "0", "x.slog2"],
        &["synth", "--leaf", "auto", "x.clog2"],
        &["synth", "--to", "dumpi", "-"],
        &["synth", "x.blocks"],
    ] {
        let (code, _, printed) = mpitrace(arguments, folder.path());
        assert_eq!(code, Some(2), "{arguments:?}: {printed}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("folder").count(), 0);
}
