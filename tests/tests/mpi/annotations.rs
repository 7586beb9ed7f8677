//! MPI_Pcontrol's annotations: from the program's printf arguments to DUMPI, CLOG2 and SLOG2, as `programs/annotate.c` makes
//! them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tests::trace::{TraceSetup, TracedRun};
use tests::{Mpi, Program, mpitrace, process};
use trace_formats::clog2::{Clog2Body, Clog2Reader as Clog2};
use trace_formats::dumpi::read::DumpiReader as Dumpi;
use trace_formats::dumpi::value::FieldValue;

fn installed() -> impl Iterator<Item = Mpi> {
    Mpi::ALL.into_iter().filter(|mpi| mpi.installed())
}

/// Annotations of the program: keys and texts of one rank, in order.
fn annotations(rank: usize) -> Vec<(u64, String)> {
    let arguments =
        "1 -2 3 four 5 6 7|0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9|1.250000|pre     8 9.12 6000 %";
    let big = "x".repeat(5999);
    let of_rank = [
        format!("note of rank {rank}"),
        format!("thread of rank {rank}"),
    ];
    let all: [(u64, &str); 12] = [
        (4096, "begin phase 1"),
        (4097, arguments),
        (17, &of_rank[0]),
        (17, "another note"),
        (5_000_000_000, "large key"),
        (4098, ""),
        (4099, &big),
        (4100, &of_rank[1]),
        (4101, "count%n"),
        (4102, "name %s"),
        (4103, "wide %.*f"),
        (4104, "end phase 1"),
    ];
    all.map(|(key, text)| (key, text.to_owned())).into()
}

/// Keys of a DUMPI file's pseudo calls with this name that are annotations, and all labels of annotations.
fn dumpi(path: &Path, name: &str) -> (Vec<u64>, BTreeMap<u64, String>) {
    let bytes = fs::read(path).expect("a file");
    let reader = Dumpi::open(&bytes).expect("a DUMPI file");
    let labels = reader.address_labels().expect("sound").unwrap_or_default();
    let labels: BTreeMap<u64, String> = labels
        .into_iter()
        .filter_map(|l| {
            let text = String::from_utf8(l.label).expect("text");
            Some((l.key, text.strip_prefix("ANNOTATION: ")?.to_owned()))
        })
        .collect();
    let records = reader.records().map(|record| record.expect("sound"));
    let keys = records
        .filter(|record| record.function.name == name)
        .filter_map(|record| match record.args().next() {
            Some((_, FieldValue::U64(key))) => Some(key),
            _ => None,
        });
    let keys = keys.filter(|key| labels.contains_key(key)).collect();
    (keys, labels)
}

/// Each rank's DUMPI file has its annotations, the first text of each key.
#[track_caller]
fn in_dumpi(files: &[std::path::PathBuf], enter: bool, exit: bool) {
    assert_eq!(files.len(), 2);
    for (rank, file) in files.iter().enumerate() {
        let wanted = annotations(rank);
        for (name, on) in [("Function_enter", enter), ("Function_exit", exit)] {
            let (keys, labels) = dumpi(file, name);
            let all: Vec<u64> = wanted.iter().map(|(key, _)| *key).collect();
            assert_eq!(
                keys,
                if on { all } else { Vec::new() },
                "{name} of rank {rank}"
            );
            let mut first = BTreeMap::new();
            for (key, text) in &wanted {
                first.entry(*key).or_insert_with(|| text.clone());
            }
            assert_eq!(labels, first, "rank {rank}");
        }
    }
}

/// The solo events of each rank in the CLOG2 file: the beginnings of the texts, in order.
fn in_clog2(run: &TracedRun) -> BTreeMap<i32, Vec<String>> {
    let bytes = fs::read(run.file("clog2")).expect("a file");
    let reader = Clog2::new(&bytes).expect("a CLOG2 file");
    let mut ranks: BTreeMap<i32, Vec<String>> = BTreeMap::new();
    for record in reader.records() {
        let record = record.expect("sound");
        if let Clog2Body::Cargo { etype: 5000, bytes } = record.body {
            let length = usize::from(u16::from_be_bytes([bytes[0], bytes[1]]));
            let text = String::from_utf8_lossy(&bytes[2..2 + length]).into_owned();
            ranks.entry(record.header.rank).or_default().push(text);
        }
    }
    ranks
}

#[test]
fn annotations_are_in_all_files() {
    for mpi in installed() {
        let program = Program::c("annotate").compile(mpi);
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.preload = false;
        let plain = tracing.run(&program, &[]).finished.succeeded();
        assert_eq!(plain.stdout, "ok\n", "untraced");
        tracing.preload = true;
        tracing.variables = &[("TRACE_KEEP_BLOCKS", "yes")];
        let run = tracing.run(&program, &[]);
        let story = run.finished.story();
        assert!(run.finished.status.success(), "{story}");
        assert_eq!(run.finished.stdout, "ok\n", "{story}");
        // The one key outside 1 to 4095, told by rank 0.
        let about_keys = |line: &&str| line.starts_with("trace: MPI_Pcontrol(3, ");
        let printed: Vec<&str> = run.finished.stderr.lines().filter(about_keys).collect();
        assert_eq!(printed.len(), 1, "{story}");
        assert!(
            printed[0].contains("MPI_Pcontrol(3, 5000000000, "),
            "{story}"
        );

        in_dumpi(&run.files("bin"), true, true);
        let events = in_clog2(&run);
        for rank in 0..2 {
            let beginnings = annotations(rank).into_iter().map(|(_, mut text)| {
                text.truncate(30);
                text
            });
            let wanted: Vec<String> = beginnings.collect();
            assert_eq!(events[&(rank as i32)], wanted, "{mpi:?} rank {rank}");
        }
        let print = run.print(&run.file("slog2"));
        let texts = print.matches(": begin phase 1]").count();
        assert_eq!(texts, 2, "one in each rank's timeline");

        // From the blocks, the same.
        let again = run.folder.path().join("again");
        let mut recover = Command::new(mpitrace());
        recover
            .arg("recover")
            .arg("--dir")
            .arg(&again)
            .args(run.files("blocks"));
        process::run(&mut recover, Duration::from_secs(30)).succeeded();
        let mut files: Vec<_> = fs::read_dir(&again)
            .expect("made")
            .map(|entry| entry.expect("made").path())
            .filter(|path| path.extension().is_some_and(|e| e == "bin"))
            .collect();
        files.sort();
        in_dumpi(&files, true, true);
    }
}

/// A program may call MPI_Pcontrol with a level alone: what it prints and returns stays as it is.
#[test]
fn levels_without_arguments_do_no_harm() {
    for mpi in installed() {
        let program = Program::c("annotate").compile(mpi);
        let run = TraceSetup::new(mpi, 2).run(&program, &["without"]);
        let story = run.finished.story();
        assert!(run.finished.status.success(), "{story}");
        assert_eq!(run.finished.stdout, "ok\n", "{story}");
        for (rank, calls) in run.in_dumpi() {
            assert_eq!(calls.get("MPI_Barrier"), Some(&8), "{mpi:?} rank {rank}");
        }
    }
}

/// `tracing` switches the records, each of them by itself, and never the labels.
#[test]
fn tracing_is_a_setting() {
    for mpi in installed() {
        let program = Program::c("annotate").compile(mpi);
        for (words, enter, exit) in [
            ("tracing disable", false, false),
            ("tracing disable; tracing exit", false, true),
        ] {
            let variables = [("TRACE_SETTINGS", words)];
            let mut tracing = TraceSetup::new(mpi, 2);
            tracing.variables = &variables;
            let run = tracing.run(&program, &[]);
            assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
            in_dumpi(&run.files("bin"), enter, exit);
        }
    }
}
