//! `mpitrace filter` on runs of DUMPI: what is chosen by rank and by function, also by those without a number, and what it leaves
//! of an older run.

use crate::dumpi_run::write_meta;
use crate::exported::stderr;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use trace_formats::dumpi::functions::{FUNCTION_ENTER, FUNCTION_EXIT, by_name};
use trace_formats::dumpi::meta::{bin_path, meta_path};
use trace_formats::dumpi::read::DumpiReader;
use trace_formats::dumpi::types::{AddressLabel, ClockOffsets, ClockSpan, DumpiTrailer, Mask};
use trace_formats::dumpi::write::{FileWriter, LIBDUMPI, RecordHead};

const IBCAST: u64 = 0x4D50_4900_0000_00D5;
const PHASE: u64 = 4096;

fn filter(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    command
        .arg("filter")
        .args(arguments)
        .output()
        .expect("runs")
}

/// Writes a run of three ranks, each with three calls of MPI_Barrier, two of MPI_Ibcast and one annotation: nine records.
fn run(root: &Path) {
    let labels = [(IBCAST, "MPI_Ibcast"), (PHASE, "ANNOTATION: phase")];
    let label = |(key, label): (u64, &str)| AddressLabel {
        key,
        label: label.into(),
    };
    let trailer = DumpiTrailer {
        address_labels: labels.map(label).to_vec(),
        ..DumpiTrailer::default()
    };
    let mut now = 0;
    let mut head = || {
        now += 1000;
        RecordHead {
            mask: Mask::DEFAULT,
            thread: 0,
            cpu: ClockSpan::default(),
            wall: ClockSpan::from_ns(now, now + 500),
        }
    };
    let barrier = by_name("MPI_Barrier").expect("a function").id;
    for rank in 0..3 {
        let offsets = ClockOffsets::default();
        let mut writer = FileWriter::create(&bin_path(root, rank, 4), offsets).expect("begins");
        for _ in 0..3 {
            let mut call = writer.call(barrier, &head(), &[]);
            call.handle(2);
            call.end().expect("a call");
        }
        for key in [IBCAST, IBCAST, PHASE] {
            for id in [FUNCTION_ENTER, FUNCTION_EXIT] {
                let mut call = writer.call(id, &head(), &[]);
                call.u64(key);
                call.end().expect("a call");
            }
        }
        writer.finish(&trailer, LIBDUMPI).expect("written");
    }
    write_meta(root, 3);
}

/// Records and names of each rank that a filtered run has.
fn kept(folder: &Path, options: &[&str]) -> Vec<(u32, usize, Vec<String>)> {
    let (run, out) = (folder.join("run.meta"), folder.join("out"));
    for rank in 0..3 {
        _ = fs::remove_file(bin_path(&out, rank, 4));
    }
    _ = fs::remove_file(meta_path(&out));
    let files = [run, out.clone()].map(|path| path.display().to_string());
    let output = filter(&[options, &[&files[0], &files[1]]].concat());
    assert!(output.status.success(), "{options:?}: {}", stderr(&output));
    let read = |rank| {
        let bytes = fs::read(bin_path(&out, rank, 4)).ok()?;
        let reader = DumpiReader::open(&bytes).expect("opens");
        let labels = reader.address_labels().expect("reads").unwrap_or_default();
        let name = |label: AddressLabel| String::from_utf8(label.label).expect("a text");
        let names = labels.into_iter().map(name).collect();
        Some((rank, reader.records().count(), names))
    };
    (0..3).filter_map(read).collect()
}

/// Number of records that a filtered run has.
fn records(folder: &Path, options: &[&str]) -> usize {
    let ranks = kept(folder, options);
    ranks.iter().map(|(_, records, _)| records).sum()
}

/// Inverted, ranks that are not chosen are kept whole, and chosen ones lose what else they would keep.
#[test]
fn inverted_choice_of_ranks_is_the_rest() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    run(&folder.join("run"));
    let counts = |options: &[&str]| -> Vec<(u32, usize)> {
        let ranks = kept(folder, options).into_iter();
        ranks.map(|(rank, records, _)| (rank, records)).collect()
    };
    assert_eq!(counts(&["--invert", "--rank", "0"]), [(1, 9), (2, 9)]);
    assert_eq!(counts(&["--invert", "--no-rank", "0"]), [(0, 9)]);
    let barriers = ["--rank", "0", "--category", "MPI_Barrier"];
    assert_eq!(counts(&barriers), [(0, 3)]);
    let inverted = counts(&[&["--invert"], &barriers[..]].concat());
    assert_eq!(inverted, [(0, 6), (1, 9), (2, 9)]);
    let early = ["--rank", "0", "--window", "0", "0.0000025"];
    assert_eq!(counts(&early), [(0, 3)]);
    let inverted = counts(&[&["--invert"], &early[..]].concat());
    assert_eq!(inverted, [(0, 6), (1, 9), (2, 9)]);
    let inverted = counts(&["--invert", "--rank", "0", "-F", "-m", "MPI_Barrier"]);
    assert_eq!(inverted, [(0, 4), (1, 9), (2, 9)]);

    let files = ["run.meta", "all"].map(|name| folder.join(name).display().to_string());
    let output = filter(&["--invert", &files[0], &files[1]]);
    assert!(stderr(&output).contains("nothing of it is selected"));
    assert_eq!(output.status.code(), Some(1));
}

/// Functions without a number in DUMPI are chosen by name like others, and so are annotations. Names stay with what they name.
#[test]
fn functions_without_a_number_are_chosen_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    run(&folder.join("run"));
    for (options, expected) in [
        (&["--category", "MPI_Ibcast"][..], 12),
        (&["--no-category", "MPI_Ibcast"], 15),
        (&["--category", "MPI_I*"], 12),
        (&["--category", "MPI_*"], 21),
        (&["--category", "phase"], 6),
        (&["--category", "291"], 9 + 9),
        (&["-F", "-m", "MPI_Ibcast"], 18),
        (&["-F", "-U", "-m", "MPI_Ibcast"], 12),
        (&["-M", "MPI_Ibcast"], 15),
        (&["-M", "MPI_Ibcast", "-f"], 27),
        (&["-F"], 6),
        (&["-U"], 21),
        (&["--invert", "-M", "MPI_Ibcast"], 12),
        (&["--as-dumpi2dumpi", "-F"], 18),
        (&["--as-dumpi2dumpi", "-U"], 9),
    ] {
        assert_eq!(records(folder, options), expected, "{options:?}");
    }
    let names = |options: &[&str]| kept(folder, options).swap_remove(0).2;
    let (ibcast, phase) = ("MPI_Ibcast", "ANNOTATION: phase");
    assert_eq!(names(&[]), [ibcast, phase]);
    assert_eq!(
        names(&["--invert", "--category", "MPI_Barrier"]),
        [ibcast, phase]
    );
    assert_eq!(names(&["--category", "MPI_Ibcast"]), [ibcast]);
    assert_eq!(names(&["--invert", "--category", "MPI_Ibcast"]), [phase]);
    assert!(names(&["--category", "MPI_Barrier"]).is_empty());

    let files = ["run.meta", "new"].map(|name| folder.join(name).display().to_string());
    for (options, expected) in [
        (&["-m", "MPI_Foo"][..], "MPI_Foo is no MPI function\n"),
        (
            &["--as-dumpi2dumpi", "-m", "MPI_Ibcast"],
            "MPI_Ibcast is no MPI function of DUMPI\n",
        ),
    ] {
        let output = filter(&[options, &[&files[0], &files[1]]].concat());
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}

/// With --force nothing of the run that had the name before is left, and nothing else is removed. What no metafile counts is not read.
#[test]
fn a_run_that_replaces_another_has_only_its_own_ranks() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    run(&folder.join("run"));
    let files = ["run.meta", "new"].map(|name| folder.join(name).display().to_string());
    let file = |name: &str| folder.join(name);
    let done = |options: &[&str]| {
        let output = filter(&[options, &[&files[0], &files[1]]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
    };
    done(&[]);
    // Rank 3 is none of the run, and another run has a longer name.
    for name in ["new-0003.bin", "new-0000.bin.old", "newer-0000.bin"] {
        fs::write(file(name), "").expect("written");
    }
    // A run that fails leaves what is there.
    let nothing = ["--force", "--rank", "7", &files[0], &files[1]];
    assert_eq!(filter(&nothing).status.code(), Some(1));
    assert!(file("new-0000.bin").exists());
    done(&["--force", "--rank", "1-"]);
    assert!(!file("new-0000.bin").exists());
    for name in ["new-0001.bin", "new-0002.bin", "new-0003.bin"] {
        assert!(file(name).exists(), "{name}");
    }
    assert!(file("new-0000.bin.old").exists() && file("newer-0000.bin").exists());

    // A metafile of the name that names the files of another run.
    fs::copy(file("run.meta"), file("new.meta")).expect("copied");
    done(&["--force", "--rank", "2"]);
    for name in [
        "run-0000.bin",
        "run-0001.bin",
        "run-0002.bin",
        "new-0001.bin",
    ] {
        assert!(file(name).exists(), "{name}");
    }
    // A rank that the metafile calls absent is not read, whatever lies there.
    let mut print = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    let print = print.args(["print", "--csv"]).arg(file("new.meta"));
    let output = print.output().expect("runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("MPI_Barrier"));
    assert_eq!(text.matches("MPI_Barrier").count(), 3, "{text}");
}

/// All files of the run get their names together: of an older run with the same name none is replaced as long as a file may fail.
#[test]
fn an_older_run_stays_whole_when_a_file_cannot_be_written_or_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    run(&folder.join("run"));
    let files = ["run.meta", "out"].map(|name| folder.join(name).display().to_string());
    let [input, out] = [&files[0], &files[1]];
    let barriers = ["--category", "MPI_Barrier", input, out];
    assert!(filter(&barriers).status.success());
    let written = || -> Vec<(String, Vec<u8>)> {
        let entries = fs::read_dir(folder).expect("a folder");
        let entries = entries.map(|entry| entry.expect("an entry"));
        let named = entries.map(|entry| (entry.file_name(), entry.path()));
        let own = named.filter(|(name, _)| !name.to_string_lossy().starts_with("run"));
        let mut files: Vec<(String, Vec<u8>)> = own
            .map(|(name, path)| {
                let bytes = fs::read(path).expect("a file");
                (name.to_string_lossy().into_owned(), bytes)
            })
            .collect();
        files.sort();
        files
    };
    let before = written();
    assert_eq!(before.len(), 4);

    let last = bin_path(&folder.join("run"), 2, 4);
    let offsets = ClockOffsets::default();
    let mut long = FileWriter::create(&last, offsets).expect("begins");
    let barrier = by_name("MPI_Barrier").expect("a function").id;
    for call in 0..2000 {
        let head = RecordHead {
            mask: Mask::DEFAULT,
            thread: 0,
            cpu: ClockSpan::default(),
            wall: ClockSpan::from_ns(call, call),
        };
        let mut call = long.call(barrier, &head, &[]);
        call.handle(2);
        call.end().expect("a call");
    }
    let trailer = DumpiTrailer::default();
    long.finish(&trailer, LIBDUMPI).expect("written");
    // As on a full disk: the files of the first two ranks fit, the last does not.
    let mut shell = Command::new("sh");
    let script = "ulimit -f 16; trap '' XFSZ; exec \"$0\" filter --force \"$1\" \"$2\"";
    shell.args(["-c", script, env!("CARGO_BIN_EXE_mpitrace"), input, out]);
    let output = shell.output().expect("runs");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("out-0002.bin: "), "{said}");
    assert_eq!(written(), before);

    fs::write(&last, "no DUMPI file").expect("written");
    let output = filter(&["--force", input, out]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("run-0002.bin"));
    assert_eq!(written(), before);

    run(&folder.join("run"));
    assert!(filter(&["--force", input, out]).status.success());
    let after = written();
    assert_eq!(after.len(), 4);
    assert!((0..3).all(|rank| after[rank].1 != before[rank].1));
}
