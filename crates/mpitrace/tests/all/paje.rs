//! Pajé traces on the command line: text, copies in either dialect, files that a trace names.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn mpitrace(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mpitrace"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("mpitrace runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn sample() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("mixed.trace");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace-formats/tests/data/paje");
    fs::copy(data.join("mixed.trace"), &path).expect("copied");
    fs::copy(data.join("mixed.txt"), folder.path().join("mixed.txt")).expect("copied");
    (folder, path)
}

#[test]
fn print_takes_the_options_of_pj_dump() {
    let (folder, _) = sample();
    let expected = fs::read_to_string(folder.path().join("mixed.txt")).expect("there");
    let found = mpitrace(&["print", "-n", "-z", "-u", "mixed.trace"], folder.path());
    assert_eq!(text(&found.stdout), expected);
    assert_eq!(found.status.code(), Some(0));
    assert_eq!(
        text(&found.stderr),
        "mpitrace: warning: mixed.trace: 1 x event on a container that was destroyed before\n"
    );
    let found = mpitrace(&["print", "-H", "-l", "1", "mixed.trace"], folder.path());
    let found = text(&found.stdout);
    assert!(found.starts_with("Container, Parent, Type, Start, End, Duration, Name\nLink, "));
    assert!(found.contains("\nState, rank-0, Process State, 0.5, 2.0, 1.5, 1.0, Waiting\n"));
    let found = mpitrace(&["print", "--java", "mixed.trace"], folder.path());
    assert_eq!(found.status.code(), Some(2));
    assert!(
        text(&found.stderr).contains("--java has no meaning for mixed.trace, which is a Pajé file")
    );
}

#[test]
fn errors_name_the_file_and_end_with_1() {
    let (folder, path) = sample();
    let mut bytes = fs::read(&path).expect("there");
    bytes.extend_from_slice(b"13 2000000 S nobody 0\n");
    let at = bytes.len() - 22;
    fs::write(&path, bytes).expect("written");
    for arguments in [
        &["print", "mixed.trace"][..],
        &["convert", "mixed.trace", "out.slog2"],
    ] {
        let found = mpitrace(arguments, folder.path());
        let expected = format!(
            "mpitrace: mixed.trace: byte {at}: line 163: Container \"nobody\", expected one that was made above\n"
        );
        assert!(
            text(&found.stderr).ends_with(&expected),
            "{}",
            text(&found.stderr)
        );
        assert_eq!(found.status.code(), Some(1));
    }
    assert!(!folder.path().join("out.slog2").exists());
}

#[test]
fn copies_differ_by_dialect_only() {
    let (folder, path) = sample();
    let original = fs::read(&path).expect("there");
    let convert = |arguments: &[&str], to: &str| {
        let all = [&["convert", "-q"], arguments, &["mixed.trace", to]].concat();
        let found = mpitrace(&all, folder.path());
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
        fs::read(folder.path().join(to)).expect("written")
    };
    assert_eq!(convert(&[], "same.paje"), original);
    let old = text(&convert(&["--dialect", "2003"], "old.trace"));
    assert!(old.contains("%  SourceContainerType string\n%  DestContainerType string\n"));
    let new = text(&convert(&["--dialect", "new"], "new.trace"));
    assert!(new.contains("%  StartContainerType string\n%  EndContainerType string\n"));
    let found = mpitrace(
        &["convert", "--dialect", "2003", "mixed.trace", "x.slog2"],
        folder.path(),
    );
    assert_eq!(found.status.code(), Some(2));

    // Through SLOG2, with the names of the first report.
    convert(&[], "x.slog2");
    let found = mpitrace(
        &["convert", "-q", "--dialect", "2003", "x.slog2", "y.trace"],
        folder.path(),
    );
    assert_eq!(text(&found.stderr), "");
    let y = fs::read_to_string(folder.path().join("y.trace")).expect("written");
    assert!(y.contains("%  EntityType string\n"));
    let found = mpitrace(&["print", "y.trace"], folder.path());
    assert_eq!(
        (text(&found.stderr).as_str(), found.status.code()),
        ("", Some(0))
    );
}

#[test]
fn files_that_a_trace_names_are_found_beside_it() {
    let (folder, path) = sample();
    let mut main = text(&fs::read(&path).expect("there"));
    main += "%EventDef PajeTraceFile 99\n% Container string\n% Type string\n% Filename string\n%EndEventDef\n\
        99 p1 Process \"parts/one.trace\"\n99 p1 Process nowhere.trace\n";
    fs::create_dir(folder.path().join("parts")).expect("made");
    fs::write(&path, main).expect("written");
    // It names the file that names it, which is not read again, and one beside itself.
    let one = "99 p1 Process ../mixed.trace\n99 p1 Process two.trace\n";
    fs::write(folder.path().join("parts/one.trace"), one).expect("written");
    let two = "12 1 found 0x1 p1 S 2000000\n";
    fs::write(folder.path().join("parts/two.trace"), two).expect("written");
    let found = mpitrace(&["print", "mixed.trace"], folder.path());
    let expected =
        "State, rank-0, Process State, 2000000.000000, 2000000.000000, 0.000000, 1.000000, found\n";
    assert!(
        text(&found.stdout).contains(expected),
        "{}",
        text(&found.stdout)
    );
    assert_eq!(found.status.code(), Some(0));
    assert!(text(&found.stderr).contains("1 x PajeTraceFile whose file is not there"));
}
