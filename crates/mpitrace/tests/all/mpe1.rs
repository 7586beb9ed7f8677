//! ALOG and CLOG-1 on the command line: texts, conversions, exit codes, messages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn mpitrace(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    command.args(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A file of the tests of `trace-formats`.
fn data(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace-formats/tests/data");
    folder.join(name).to_str().unwrap().to_owned()
}

/// A folder of its own for a test, removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("mpe1-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_are_printed_by_what_they_are() {
    let output = mpitrace(&["print", &data("clog1/small.clog")]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(output.stdout, fs::read(data("clog1/small.txt")).unwrap());
    // The oldest layout differs in the file, not in the text.
    let output = mpitrace(&["print", &data("clog1/early.clog")]);
    assert_eq!(output.stdout, fs::read(data("clog1/small.txt")).unwrap());
    let note = "early.clog: has the records of MPICH 1.1.0 and older";
    assert!(stderr(&output).contains(note), "{}", stderr(&output));
    let alog = data("alog/small_from_clog.alog");
    let output = mpitrace(&["print", &alog]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(output.stdout, fs::read(&alog).unwrap());
}

#[test]
fn damaged_files_are_printed_as_far_as_they_go() {
    let folder = Folder::new("damaged");
    let cut = folder.path("cut.clog");
    fs::write(&cut, &fs::read(data("clog1/small.clog")).unwrap()[..1200]).unwrap();
    let output = mpitrace(&["print", &cut]);
    assert_eq!(output.status.code(), Some(1));
    let whole = fs::read(data("clog1/small.txt")).unwrap();
    assert!(whole.starts_with(&output.stdout) && output.stdout.len() > whole.len() / 2);
    assert!(
        stderr(&output).contains("cut.clog: byte "),
        "{}",
        stderr(&output)
    );

    let cut = folder.path("cut.alog");
    let alog = fs::read(data("alog/small_from_clog.alog")).unwrap();
    fs::write(&cut, &alog[..alog.len() - 3]).unwrap();
    let output = mpitrace(&["print", &cut]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout, alog[..alog.len() - 3]);
    let message = "line 29: the file ends in the middle of it, expected a line feed";
    assert!(stderr(&output).contains(message), "{}", stderr(&output));
    // A file that is no whole one is not made of it.
    let made = folder.path("made.clog");
    let output = mpitrace(&["convert", &cut, &made]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!Path::new(&made).exists());
}

#[test]
fn clog_becomes_what_clog2alog_makes() {
    let folder = Folder::new("clog2alog");
    let made = folder.path("made.alog");
    let output = mpitrace(&["convert", &data("clog1/small.clog"), &made]);
    assert!(output.status.success(), "{}", stderr(&output));
    let expected = fs::read(data("alog/small_from_clog.alog")).unwrap();
    assert_eq!(fs::read(&made).unwrap(), expected);
    let lost = "1 x partner, tag and size of a message record";
    assert!(stderr(&output).contains(lost), "{}", stderr(&output));
    let output = mpitrace(&[
        "convert",
        "-q",
        "--to",
        "alog",
        &data("clog1/early.clog"),
        "-",
    ]);
    assert_eq!(output.stdout, expected);
}

#[test]
fn old_blocks_become_new_ones() {
    let folder = Folder::new("blocks");
    let made = folder.path("made.clog");
    let output = mpitrace(&["convert", &data("clog1/early.clog"), &made]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(fs::metadata(&made).unwrap().len(), 65536);
    let output = mpitrace(&["print", &made]);
    let text = String::from_utf8(output.stdout).unwrap();
    let small = fs::read_to_string(data("clog1/small.txt")).unwrap();
    let records: Vec<&str> = small
        .lines()
        .filter(|line| !line.contains("type=eblk"))
        .collect();
    assert_eq!(text.lines().collect::<Vec<_>>(), records);
}

#[test]
fn alog_is_written_as_mpe_does_if_asked() {
    let folder = Folder::new("mpe");
    let made = folder.path("made.alog");
    let clog2 = data("clog2/small.clog2");
    let output = mpitrace(&["convert", "-q", "--mpe", &clog2, &made]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        fs::read(&made)
            .unwrap()
            .starts_with(b"-1 0 0 0 0 0 Me\n-2 0 0 ")
    );
    let output = mpitrace(&["convert", "-q", "--force", &clog2, &made]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        fs::read(&made)
            .unwrap()
            .starts_with(b"-1 0 0 0 0 0 unknown 20")
    );
    let output = mpitrace(&["convert", "--mpe", &clog2, &folder.path("made.clog")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("--mpe has no meaning"),
        "{}",
        stderr(&output)
    );
}
