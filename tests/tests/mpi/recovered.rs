//! Block files that a run keeps give the bytes of MPI_Finalize.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tests::trace::{LIMIT, TraceSetup};
use tests::{Mpi, MpiTurns, Program, TracedRun, mpitrace, process};

/// The files of a folder with one of these extensions, by name.
fn trace_files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("own folder")
        .map(|entry| entry.expect("own folder").path())
        .filter(|path| {
            let extension = path.extension().unwrap_or_default();
            extensions.iter().any(|wanted| extension == *wanted)
        })
        .collect();
    files.sort();
    files
}

/// Compares the files of MPI_Finalize with those that `mpitrace recover` makes from the block files of the same run, merged the same way.
#[track_caller]
fn recovered_as_merged(run: &TracedRun, merge: &str, what: &str) {
    let story = run.finished.story();
    assert!(run.finished.status.success(), "{what}: {story}");
    let merged = run.file("slog2");
    let name = merged.file_stem().expect("a name").to_string_lossy();
    let again = run.folder.path().join("again");
    let mut recover = Command::new(mpitrace());
    recover.args([
        "recover",
        "--formats=dumpi,clog2,slog2",
        "--merge",
        merge,
        "--dir",
    ]);
    recover.arg(&again);
    recover.args(["--output", &name]).args(run.files("blocks"));
    process::run(&mut recover, LIMIT).succeeded();
    let extensions = ["slog2", "clog2", "bin", "meta"];
    let pairs = [run.trace(), again].map(|folder| trace_files(&folder, &extensions));
    let [merged, recovered] = &pairs;
    let names = |files: &[PathBuf]| -> Vec<String> {
        let names = files.iter().filter_map(|file| file.file_name());
        names.map(|n| n.to_string_lossy().into_owned()).collect()
    };
    assert_eq!(names(merged), names(recovered), "{what}");
    assert_eq!(merged.len(), 2 + run.ranks + 1, "{what}: {merged:?}");
    for (merged, recovered) in merged.iter().zip(recovered) {
        let [a, b] = [merged, recovered].map(|file| fs::read(file).expect("just listed"));
        let place = a.iter().zip(&b).position(|(a, b)| a != b);
        assert!(
            a == b,
            "{what}: {} has {} bytes, recovered {}; first other byte at {place:?}",
            merged.display(),
            a.len(),
            b.len()
        );
    }
}

/// Communicators that only some ranks know have the same numbers, states of the program the same texts, and all times are the same
/// to the last bit.
#[test]
fn kept_blocks_give_the_files_of_finalize() {
    let turns = MpiTurns::new("block files of each program and merge");
    for (row, name) in ["comms", "regions"].into_iter().enumerate() {
        for (column, merge) in ["tree", "parallel"].into_iter().enumerate() {
            for &mpi in turns.of(row + column) {
                let program = Program::c(name).compile(mpi);
                let mut tracing = TraceSetup::new(mpi, 4);
                let variables = [("TRACE_KEEP_BLOCKS", "yes"), ("TRACE_MERGE", merge)];
                tracing.variables = &variables;
                let run = tracing.run(&program, &[]);
                recovered_as_merged(&run, merge, &format!("{mpi:?}, {name}, merge {merge}"));
            }
        }
    }
}

/// What the settings of the run say of the files holds for `recover`, too, which is not told them.
#[test]
fn settings_of_the_run_are_those_of_recover() {
    let program = Program::c("comms").compile(Mpi::Mpich);
    let mut tracing = TraceSetup::new(Mpi::Mpich, 2);
    tracing.variables = &[
        ("TRACE_KEEP_BLOCKS", "yes"),
        ("TRACE_CALLIDS", "all"),
        ("TRACE_DETAILS", "no"),
        ("TRACE_CHILDREN", "3"),
        ("TRACE_LEAF", "1k"),
        ("TRACE_CLOG2_BLOCK", "1k"),
    ];
    recovered_as_merged(&tracing.run(&program, &[]), "tree", "other settings");
}

/// What is typed as the closing line says makes the files that were asked for, under the names that they were to have.
#[test]
fn the_command_of_merge_later_makes_what_was_asked_for() {
    let program = Program::c("comms").compile(Mpi::Mpich);
    let mut tracing = TraceSetup::new(Mpi::Mpich, 2);
    tracing.variables = &[
        ("TRACE_MERGE", "later"),
        ("TRACE_OUTPUTS", "clog2,slog2"),
        ("TRACE_OUTPUT", "the run"),
    ];
    let run = tracing.run(&program, &[]);
    let story = run.finished.story();
    let line = story.lines().find(|line| line.contains("(merge later)"));
    let line = line.unwrap_or_else(|| panic!("{story}"));
    let command = line.split('`').nth(1).expect("a command");
    let command = command.replacen("mpitrace", &mpitrace().display().to_string(), 1);
    let mut shell = Command::new("sh");
    let shell = shell.args(["-c", &command]).current_dir(run.folder.path());
    process::run(shell, LIMIT).succeeded();
    for (extension, expected) in [("clog2", 1), ("slog2", 1), ("meta", 0)] {
        let files = run.files(extension);
        assert_eq!(files.len(), expected, "{line}: {files:?}");
        for file in files {
            assert_eq!(file.file_stem(), Some("the run".as_ref()), "{line}");
        }
    }
}

/// What `mpitrace recover` does not make, though the settings ask for it, is named in the closing line, and only that.
#[test]
fn merge_later_says_what_recover_does_not_make() {
    let program = Program::c("comms").compile(Mpi::Mpich);
    for (outputs, report) in [
        ("slog2", "no"),
        ("slog2,otf2", "no"),
        ("slog2", "yes"),
        ("otf2", "yes"),
    ] {
        let mut tracing = TraceSetup::new(Mpi::Mpich, 2);
        let variables = [
            ("TRACE_MERGE", "later"),
            ("TRACE_OUTPUTS", outputs),
            ("TRACE_REPORT", report),
        ];
        tracing.variables = &variables;
        let run = tracing.run(&program, &[]);
        let story = run.finished.story();
        let line = story.lines().find(|line| line.contains("(merge later)"));
        let line = line.unwrap_or_else(|| panic!("{story}"));
        let case = format!("{outputs} {report}: {line}");
        assert_eq!(
            line.contains("`mpitrace convert`"),
            outputs.contains("otf2"),
            "{case}"
        );
        assert_eq!(
            line.contains("`mpitrace report`"),
            report == "yes",
            "{case}"
        );
    }
}

/// Each rank on a host of its own, with a clock that is wrong: times are corrected by the same comparisons.
#[test]
fn clocks_of_several_hosts_are_corrected_alike() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("flight").compile(mpi);
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.variables = &[
            ("TRACE_KEEP_BLOCKS", "yes"),
            ("TRACE_TEST_CLOCK", "5000000000,500000"),
            ("TRACE_CLOCK_SYNC", "twice"),
        ];
        recovered_as_merged(
            &tracing.run(&program, &["500"]),
            "tree",
            &format!("{mpi:?}"),
        );
    }
}
