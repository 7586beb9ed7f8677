//! SLOG-1 on the command line: text, conversions, options of frames, exit codes, messages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn mpitrace(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    let output = command.args(arguments).current_dir(folder).output();
    output.expect("mpitrace runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A file of the tests of `trace-formats`.
fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../trace-formats/tests/data")
        .join(name)
}

#[test]
fn the_text_is_that_of_slog_print_called_with_the_same_name() {
    let folder = data("slog1");
    let output = mpitrace(&["print", "small.slog"], &folder);
    assert!(output.status.success(), "{}", stderr(&output));
    let expected = fs::read(folder.join("small.txt")).expect("stored");
    assert_eq!(output.stdout, expected);
    let output = mpitrace(&["print", "../slog1/small.slog"], &folder);
    assert!(
        output
            .stdout
            .starts_with(b"argv[1] = _../slog1/small.slog_\n")
    );
}

#[test]
fn a_copy_has_the_same_bytes() {
    let folder = tempfile::tempdir().expect("folder");
    let small = data("slog1/small.slog");
    let name = small.to_str().expect("text");
    let output = mpitrace(&["convert", "-q", name, "copy.slog"], folder.path());
    assert!(output.status.success(), "{}", stderr(&output));
    let copy = fs::read(folder.path().join("copy.slog")).expect("copy");
    assert_eq!(copy, fs::read(&small).expect("small"));
    // With other frames it is another file.
    let frames = ["convert", "-q", "--frame", "1k", name, "other.slog"];
    let output = mpitrace(&frames, folder.path());
    assert!(output.status.success(), "{}", stderr(&output));
    let other = fs::read(folder.path().join("other.slog")).expect("other");
    assert_eq!(other[8..12], 1024u32.to_be_bytes());
}

#[test]
fn clog1_becomes_what_clog2slog_makes() {
    let folder = tempfile::tempdir().expect("folder");
    let clog = data("slog1/from_clog.clog");
    let name = clog.to_str().expect("text");
    let arguments = [
        "convert",
        "--frame",
        "1k",
        "--frames",
        "9",
        name,
        "made.slog",
    ];
    let output = mpitrace(&arguments, folder.path());
    assert!(output.status.success(), "{}", stderr(&output));
    let made = fs::read(folder.path().join("made.slog")).expect("made");
    assert!(made == fs::read(data("slog1/from_clog.slog")).expect("stored"));
    let printed = stderr(&output);
    assert!(printed.contains("x tag and size of a message"), "{printed}");
    // The directory was asked for and is too small.
    let arguments = [
        "convert", "--frame", "1k", "--frames", "2", name, "few.slog",
    ];
    let output = mpitrace(&arguments, folder.path());
    assert_eq!(output.status.code(), Some(1));
    let printed = stderr(&output);
    assert!(
        printed.contains("few.slog: the frame directory has 2 entries"),
        "{printed}"
    );
    assert!(!folder.path().join("few.slog").exists());
}

#[test]
fn wrong_calls_and_bad_files_are_told_apart() {
    let folder = tempfile::tempdir().expect("folder");
    let small = data("slog1/small.slog");
    let name = small.to_str().expect("text");
    let output = mpitrace(
        &["convert", "--frame", "8k", name, "x.slog2"],
        folder.path(),
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--frame has no meaning for x.slog2"));
    let whole = fs::read(&small).expect("small");
    fs::write(folder.path().join("cut.slog"), &whole[..whole.len() - 1]).expect("cut");
    for arguments in [
        &["print", "cut.slog"][..],
        &["convert", "cut.slog", "x.slog"],
        &["convert", "cut.slog", "x.slog2"],
    ] {
        let output = mpitrace(arguments, folder.path());
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let printed = stderr(&output);
        assert!(
            printed.contains("cut.slog: byte ") && printed.contains("the file ends in"),
            "{printed}"
        );
        assert!(
            !folder.path().join(arguments[arguments.len() - 1]).exists() || arguments[0] == "print"
        );
    }
    // All but the statistics, which are cut, is printed.
    let output = mpitrace(&["print", "cut.slog"], folder.path());
    assert!(output.stdout.ends_with(b"Finish reading records :\n"));
}
