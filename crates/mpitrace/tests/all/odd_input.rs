//! What is said of files that are cut, of files that are not what a command takes, and of wrong calls; and that nothing half-written stays.

use crate::exported::{fails, mpitrace, stderr, succeeds, synth};
use crate::recover::{KILLED, exchange, file};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Names of what is in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_cut_block_file_is_told_by_every_command_that_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut bytes = file(&exchange(0, 1, 5000), &KILLED);
    bytes.truncate(bytes.len() / 65536 * 65536 - 32768);
    fs::write(at.join("cut.blocks"), &bytes).unwrap();
    for arguments in [
        &["convert", "-q", "cut.blocks", "a.slog2"][..],
        &["filter", "-q", "cut.blocks", "b.slog2"],
        &["stats", "-q", "cut.blocks"],
        &["io", "-q", "cut.blocks"],
        &["report", "-q", "cut.blocks"],
    ] {
        let told = stderr(&mpitrace(at, arguments));
        let lines = told.matches("the file ends within a block").count();
        assert_eq!(lines, 1, "{arguments:?}: {told}");
        assert!(told.contains("cut.blocks: byte "), "{arguments:?}: {told}");
    }
    let files = names(at);
    assert_eq!(files, ["a.slog2", "b.slog2", "cut.blocks"]);
}

#[test]
fn block_files_that_are_missing_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for rank in 0..4 {
        let bytes = file(&exchange(rank, 4, 10), &KILLED);
        fs::write(at.join(format!("{rank}.blocks")), &bytes).unwrap();
    }
    let told = |files: &[&str]| {
        let arguments = [&["stats", "-q"][..], files].concat();
        stderr(&succeeds(at, &arguments))
    };
    assert_eq!(told(&["0.blocks", "1.blocks", "2.blocks", "3.blocks"]), "");
    let some = told(&["2.blocks", "0.blocks"]);
    assert!(
        some.contains("no block file of rank 1, 3 of the run"),
        "{some}"
    );
    fs::copy(at.join("2.blocks"), at.join("copy.blocks")).unwrap();
    let twice = "2.blocks and copy.blocks are both of rank 2: expected the block files of one run";
    fails(at, &["report", "2.blocks", "copy.blocks"], 1, twice);
    // One behind the other, as `cat` gives them.
    let read = |rank| fs::read(at.join(format!("{rank}.blocks"))).unwrap();
    let both = [read(0), read(1)];
    fs::write(at.join("both.blocks"), both.concat()).unwrap();
    let place = format!(
        "both.blocks: byte {}: the header of another block file",
        both[0].len()
    );
    fails(at, &["report", "both.blocks"], 1, &place);
}

#[test]
fn a_cut_dumpi_file_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    synth(at, "run.meta");
    let bytes = fs::read(at.join("run-0001.bin")).unwrap();
    fs::write(at.join("run-0001.bin"), &bytes[..bytes.len() / 2]).unwrap();
    for command in ["report", "stats"] {
        let told = stderr(&succeeds(at, &[command, "-q", "run.meta"]));
        assert!(told.contains("warning: run-0001.bin: "), "{told}");
        assert!(!told.contains("run-0000.bin"), "{told}");
    }
}

#[test]
fn files_of_several_dumpi_runs_are_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    synth(at, "a.meta");
    synth(at, "b.meta");
    let expected = "expected the files of one run";
    for files in [
        ["a.meta", "b.meta"],
        ["a.meta", "a.meta"],
        ["a-0001.bin", "b-0001.bin"],
        ["a.meta", "b-0000.bin"],
    ] {
        for command in ["stats", "verify", "report"] {
            fails(at, &[command, files[0], files[1]], 2, expected);
        }
    }
    succeeds(at, &["stats", "a-0000.bin", "a-0001.bin"]);
}

#[test]
fn a_dumpi_run_of_which_nothing_is_selected_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    synth(at, "run.meta");
    let before = names(at);
    let nothing = "nothing of it is selected";
    let window = ["--window", "1000000", "1000001"];
    for input in ["run.meta", "run-0000.bin"] {
        let output = input.replace("run", "new");
        fails(
            at,
            &[&["filter", input, &output], &window[..]].concat(),
            1,
            nothing,
        );
    }
    fails(
        at,
        &["filter", "run.meta", "new", "--rank", "7"],
        1,
        nothing,
    );
    assert_eq!(names(at), before);
    let told = stderr(&succeeds(at, &["filter", "run.meta", "new", "--rank", "0"]));
    let told_all = stderr(&succeeds(at, &["filter", "run.meta", "all"]));
    let counts = |told: &str| -> Vec<u64> {
        let words = told.split_whitespace();
        words.filter_map(|word| word.parse().ok()).collect()
    };
    let (some, all) = (counts(&told), counts(&told_all));
    assert!(some[1] > 0 && all[1] == 0, "{told}{told_all}");
    assert_eq!(some[0] + some[1], all[0], "{told}{told_all}");
}

#[test]
fn a_window_before_the_trace_is_told_with_the_bounds_of_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    synth(at, "run.slog2");
    let arguments = ["report", "run.slog2", "--window", "-5", "-4"];
    fails(at, &arguments, 2, "the log, which goes from 0 s to ");
}

#[test]
fn wrong_calls_are_told_what_is_expected() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    synth(at, "run.meta");
    synth(at, "run.slog2");
    fs::write(at.join("a.blocks"), file(&exchange(0, 1, 5), &KILLED)).unwrap();
    let told = [
        (
            &[
                "merge",
                "run.slog2",
                "run.slog2",
                "m.slog2",
                "--shift",
                "1e300",
            ][..],
            "from -4000000000 to 4000000000",
        ),
        (
            &["convert", "run.slog2", "y.slog", "--frames", "99999999"],
            "1048576",
        ),
        (
            &["convert", "a.blocks", "x.meta"],
            "mpitrace recover --formats dumpi",
        ),
        (
            &["convert", "a.blocks", "x.bin"],
            "mpitrace recover --formats dumpi",
        ),
        (
            &["convert", "run.slog2", "y.slog2", "--check"],
            "--check has no meaning",
        ),
        (
            &["convert", "run.slog2", "y.slog2", "--like-original"],
            "--like-original has no meaning",
        ),
        (
            &["filter", "run.slog2", "y.slog2", "--category", "0,nosuch"],
            "--category nosuch: run.slog2 has no such category",
        ),
        (
            &["print", "-a", "run.meta"],
            "expected the .bin file of one of its ranks",
        ),
    ];
    let before = names(at);
    for (arguments, expected) in told {
        fails(at, arguments, 2, expected);
    }
    let arguments = ["stats", "run.slog2", "--dumpistats", "r"];
    fails(
        at,
        &arguments,
        1,
        "an SLOG2 file; expected the .meta file of a DUMPI run",
    );
    assert_eq!(names(at), before);
}

/// Starts the command with a limit on the size of files.
fn with_limit(folder: &Path, arguments: &[&str], bytes: u64) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    command.args(arguments).current_dir(folder);
    let limit = libc::rlimit {
        rlim_cur: bytes,
        rlim_max: bytes,
    };
    let set = move || {
        // SAFETY: a valid limit; the call may be made between fork and exec.
        match unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: what runs between fork and exec is the one call above, which is async-signal-safe.
    unsafe { command.pre_exec(set) };
    command.output().unwrap()
}

#[test]
fn a_file_that_may_not_grow_is_told_and_goes() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    synth(at, "run.slog2");
    let before = names(at);
    for arguments in [
        &["convert", "-q", "run.slog2", "out.slog2"][..],
        &["convert", "-q", "run.slog2", "out.trace"],
        &["filter", "-q", "run.slog2", "out.slog2"],
        &["merge", "-q", "run.slog2", "run.slog2", "out.slog2"],
        &["lines", "-q", "run.slog2", "out.slog2"],
        &["composite", "-q", "run.slog2", "out.slog2"],
        &["arrows", "-q", "run.slog2", "out.slog2"],
        &[
            "synth",
            "-q",
            "--drawables",
            "3000",
            "--ranks",
            "1",
            "out.meta",
        ],
    ] {
        let output = with_limit(at, arguments, 20_000);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {told}");
        assert!(told.contains("mpitrace: out"), "{arguments:?}: {told}");
        assert!(told.contains("File too large"), "{arguments:?}: {told}");
        assert_eq!(names(at), before, "{arguments:?}");
    }
}

#[test]
fn help_that_cannot_be_written_is_a_failure() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    let full = fs::File::create("/dev/full").unwrap();
    let output = command.arg("--help").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("stdout: "), "{}", stderr(&output));
}

#[test]
fn a_full_stdout_is_a_failure_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    synth(at, "run.slog2");
    succeeds(at, &["convert", "-q", "run.slog2", "run.clog2"]);
    // Nothing is started: a file with the name of the symbol does by which the recorder is known.
    fs::write(at.join("libtrace.so"), "\0trace_abi\0").unwrap();
    for arguments in [
        &["clock", "run.clog2"][..],
        &["arrows", "run.slog2", "arrows.slog2"],
        &["run", "--dry-run", "--", "/bin/true"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
        let full = fs::File::create("/dev/full").unwrap();
        command.current_dir(at).args(arguments).stdout(full);
        command.env("TRACE_LIB", at.join("libtrace.so"));
        let output = command.output().unwrap();
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {told}");
        assert!(told.contains("stdout: "), "{arguments:?}: {told}");
    }
}
