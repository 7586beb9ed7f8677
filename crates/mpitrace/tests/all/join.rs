//! `mpitrace join`, `mpitrace repair`, and DUMPI in `mpitrace convert`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use test_support::golden;

fn mpitrace(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    command
        .args(arguments)
        .env("TZ", "UTC")
        .output()
        .expect("started")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs the command, which must succeed, and gives its stdout.
fn done(arguments: &[&str]) -> String {
    let output = mpitrace(arguments);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{arguments:?}: {}",
        stderr(&output)
    );
    stderr(&output)
}

fn data(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace-formats/tests/data");
    folder.join(name).to_str().expect("a name").to_owned()
}

/// A folder of its own for a test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let name = format!("mpitrace-join-{}-{test}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a folder");
        Folder(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a name").to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn join_puts_files_together() {
    let folder = Folder::new("join");
    let (small, out) = (data("clog2/small.clog2"), folder.path("both.clog2"));
    let output_text = done(&["join", &small, &small, &out]);
    assert!(output_text.contains(" records of 2 files"), "{output_text}");
    let lines = |file: &str| {
        let output = mpitrace(&["print", file]);
        assert_eq!(output.status.code(), Some(0));
        output.stdout.iter().filter(|b| **b == b'\n').count()
    };
    // Preamble and table: 16 lines and those of the communicators, of which there are five different ones.
    assert_eq!(lines(&out) - 16 - 5, 2 * (lines(&small) - 16 - 6));
    let name = |rank: &str| {
        golden::path(format!("mpe/flush_n2.{rank}.clog2"))
            .to_str()
            .expect("a name")
            .to_owned()
    };
    done(&[
        "join",
        "--quiet",
        "--force",
        &name("local0"),
        &name("local1"),
        &out,
    ]);
    assert!(fs::read(&out).expect("made") == golden::read(name("joined")));
}

#[test]
fn a_clog2_file_is_copied_to_the_byte_or_into_other_blocks() {
    let folder = Folder::new("copy");
    let (small, copy) = (data("clog2/small.clog2"), folder.path("copy.clog2"));
    done(&["convert", &small, &copy]);
    assert!(fs::read(&copy).expect("made") == fs::read(&small).expect("small.clog2"));
    done(&["convert", "--force", "--block-size", "1024", &small, &copy]);
    let text = mpitrace(&["print", &copy]).stdout;
    assert!(String::from_utf8_lossy(&text).contains("block_size = 1024"));
    let refused = mpitrace(&[
        "convert",
        "--block-size",
        "1024",
        &small,
        &folder.path("a.slog2"),
    ]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn repair_completes_what_was_cut_off() {
    let folder = Folder::new("repair");
    let (cut, whole) = (folder.path("cut.clog2"), folder.path("whole.clog2"));
    let small = fs::read(data("clog2/small.clog2")).expect("small.clog2");
    fs::write(&cut, &small[..1800]).expect("written");
    let output = mpitrace(&["print", &cut]);
    assert_eq!(output.status.code(), Some(1));
    let output_text = done(&["repair", &cut, &whole]);
    assert!(
        output_text.contains("the log had no end") && output_text.contains("records kept"),
        "{output_text}"
    );
    assert_eq!(mpitrace(&["print", &whole]).status.code(), Some(0));
    // In place, and only once.
    done(&["repair", "--in-place", &cut]);
    assert!(fs::read(&cut).expect("there") == fs::read(&whole).expect("there"));
    assert!(done(&["repair", "--in-place", &cut]).contains("nothing to repair"));
    assert!(fs::read(&cut).expect("there") == fs::read(&whole).expect("there"));
    let nothing = mpitrace(&["repair", "--force", &data("dumpi/every-kind.bin"), &whole]);
    assert_eq!(nothing.status.code(), Some(1));
    assert!(
        stderr(&nothing).contains("not a CLOG2 file"),
        "{}",
        stderr(&nothing)
    );
    assert_eq!(mpitrace(&["repair", &cut]).status.code(), Some(2));
}

#[test]
fn a_dumpi_text_becomes_the_file_and_back() {
    let folder = Folder::new("text");
    let (text, file, again) = (
        folder.path("a.txt"),
        folder.path("a.bin"),
        folder.path("b.txt"),
    );
    let printed = mpitrace(&["print", "--all", &data("dumpi/every-kind.bin")]).stdout;
    fs::write(&text, &printed).expect("written");
    done(&["convert", &text, &file]);
    done(&["convert", &file, &again]);
    assert!(fs::read(&again).expect("made") == printed);
    fs::write(
        &text,
        b"version=13.0.0\nMPI_Sond entering at walltime 1.0, cputime 0.1 seconds in thread 0.\n",
    )
    .expect("written");
    let output = mpitrace(&["convert", "--force", &text, &file]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("line 2"), "{}", stderr(&output));
}

#[test]
fn dumpi_is_drawn_and_made_of_nothing_that_lacks_its_arguments() {
    let folder = Folder::new("drawn");
    let (bin, clog2, slog2) = (
        data("dumpi/every-kind.bin"),
        folder.path("a.clog2"),
        folder.path("a.slog2"),
    );
    done(&["convert", &bin, &clog2]);
    done(&["convert", &bin, &slog2]);
    let text = mpitrace(&["print", &clog2]).stdout;
    let text = String::from_utf8_lossy(&text);
    assert!(
        text.contains("name=MPI_Sendrecv") || text.contains("name=MPI_Send"),
        "{text}"
    );
    let output = mpitrace(&["convert", &clog2, &folder.path("b.bin")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("arguments"), "{}", stderr(&output));
}

#[test]
fn a_metafile_stands_for_the_files_of_its_run() {
    let folder = Folder::new("meta");
    let meta = folder.path("run.meta");
    fs::write(
        &meta,
        b"hostname=h\nnumprocs=2\nusername=u\nstartime=1\nfileprefix=run\nversion=13\n",
    )
    .expect("written");
    let output = mpitrace(&["convert", &meta, &folder.path("run.slog2")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("run-NNNN.bin"),
        "{}",
        stderr(&output)
    );
    let bin = fs::read(data("dumpi/every-kind.bin")).expect("every-kind.bin");
    fs::write(folder.path("run-0001.bin"), &bin).expect("written");
    let output_text = done(&["convert", &meta, &folder.path("run.slog2")]);
    assert!(
        output_text.contains("1 x rank without a file"),
        "{output_text}"
    );
}
