//! `mpitrace convert`: the original converter's files, messages, exit codes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use test_support::golden;

fn mpitrace(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    command.arg("convert").args(arguments);
    command
}

fn run(arguments: &[&str]) -> Output {
    mpitrace(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn small() -> String {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace-formats/tests/data/clog2/small.clog2");
    path.to_str().unwrap().to_string()
}

/// A folder of its own for a test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("mpitrace-convert-{}-{test}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_string()
    }

    fn names(&self) -> Vec<String> {
        let name = |entry: std::io::Result<fs::DirEntry>| {
            entry.unwrap().file_name().to_str().unwrap().to_string()
        };
        fs::read_dir(&self.0).unwrap().map(name).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The counts that clog2TOslog2 printed are ours, for each tree shape of the goldens.
#[test]
fn golden_counts() {
    let folder = Folder::new("golden");
    let out = folder.path("x.slog2");
    for (name, shape, options) in [
        ("nonblk_n5", "", &[][..]),
        ("commuser_n4", "", &[]),
        (
            "nonblk_n5",
            ".ls1k_nc4",
            &["--leaf", "1k", "--children", "4"],
        ),
        (
            "ring_n4",
            ".ls600_nc3",
            &["--leaf", "600", "--children", "3"],
        ),
    ] {
        let input = golden::path(format!("mpe/{name}.clog2"));
        let output = run(&[options, &["--force", input.to_str().unwrap(), &out]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let text = golden::text(format!("mpe/{name}{shape}.conv.txt"));
        let number = |title: &str| {
            text.split(title)
                .nth(1)
                .unwrap()
                .split_whitespace()
                .next()
                .unwrap()
                .to_string()
        };
        assert_eq!(
            stderr(&output).lines().last().unwrap(),
            format!(
                "mpitrace: {out}: {} drawables, {} unmatched events, {} bytes of records, tree of depth {}",
                number("Number of Drawables = "),
                number("Number of Unmatched Events = "),
                number("Total ByteSize of the logfile = "),
                number("MaxTreeDepth = ")
            )
        );
        // The bytes are compared where the converter is; here it is enough that it is that converter.
        let theirs = golden::read(format!("mpe/{name}{shape}.slog2"));
        assert_eq!(fs::metadata(&out).unwrap().len(), theirs.len() as u64);
    }
}

#[test]
fn from_stdin_to_stdout() {
    let folder = Folder::new("pipe");
    let out = folder.path("x.slog2");
    let output = run(&["--quiet", &small(), &out]);
    assert_eq!(
        (output.status.code(), stderr(&output)),
        (Some(0), String::new())
    );
    let mut command = mpitrace(&["-q", "--to", "slog2", "-", "-"]);
    let output = command
        .stdin(Stdio::from(fs::File::open(small()).unwrap()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(output.stdout, fs::read(out).unwrap());
    assert!(
        run(&["--to", "slog2", &small(), "/dev/null"])
            .status
            .success()
    );
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn a_failed_conversion_leaves_nothing() {
    let folder = Folder::new("failed");
    let (cut, out) = (folder.path("cut.clog2"), folder.path("x.slog2"));
    let whole = fs::read(small()).unwrap();
    fs::write(&cut, &whole[..2000]).unwrap();
    let output = run(&[&cut, &out]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).starts_with(&format!("mpitrace: {cut}: byte ")),
        "{}",
        stderr(&output)
    );
    assert_eq!(folder.names(), ["cut.clog2"]);

    let flag = whole
        .windows(5)
        .position(|bytes| bytes == b"TRUE ")
        .unwrap();
    fs::write(
        &cut,
        [&whole[..flag], b"FALSE", &whole[flag + 5..]].concat(),
    )
    .unwrap();
    let output = run(&[&cut, &out]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("little-endian"),
        "{}",
        stderr(&output)
    );

    for name in ["no/such/folder.slog2", "no/such/folder.clog2"] {
        let output = run(&[&small(), &folder.path(name)]);
        assert_eq!(output.status.code(), Some(1));
        assert!(
            stderr(&output).contains(&format!("{name}: No such file")),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn a_dumpi_file_becomes_the_same_dumpi_file() {
    let folder = Folder::new("dumpi_copy");
    let data = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../trace-formats/tests/data/dumpi/every-kind.bin"
    );
    let copy = folder.path("copy.bin");
    let output = run(&["-q", data, &copy]);
    assert!(output.status.success(), "{}", stderr(&output));
    let [old, new] = [data, copy.as_str()].map(|path| fs::read(path).unwrap());
    assert!(old == new, "{} and {} bytes", old.len(), new.len());

    // Nothing that SLOG2 could hold: said with the name of the file that does not come to be.
    let cut = folder.path("cut.bin");
    fs::write(&cut, &old[..61]).unwrap();
    let output = run(&["-q", &cut, &folder.path("cut.slog2")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("cut.slog2: the log holds no drawable"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn wrong_calls_end_with_2() {
    for options in [
        ["--leaf", "0"],
        ["--leaf", "4096m"],
        ["--children", "1"],
        ["--leaf", "x"],
    ] {
        let output = run(&[&options[..], &[&small(), "/dev/null"]].concat());
        assert_eq!(
            output.status.code(),
            Some(2),
            "{options:?}: {}",
            stderr(&output)
        );
    }
    assert_eq!(run(&[&small()]).status.code(), Some(2));
}

/// A disk that gets full: the message names the file, whatever its format, and nothing is left of it.
#[test]
fn a_full_disk_is_told_with_the_name_of_the_file() {
    let folder = Folder::new("full");
    let input = folder.path("in.clog2");
    let made = Command::new(env!("CARGO_BIN_EXE_mpitrace"))
        .args(["synth", "--quiet", "--ranks", "4", "--drawables", "20000"])
        .arg(&input)
        .status()
        .unwrap();
    assert!(made.success());
    for ending in ["slog2", "clog2", "alog", "clog", "slog", "trace"] {
        let output = folder.path(&format!("out.{ending}"));
        // Writing more than some 64 KiB of a file fails, without the signal that would end the process.
        let limited = Command::new("sh")
            .args(["-c", "trap '' XFSZ; ulimit -f 128; exec \"$@\"", "sh"])
            .args([env!("CARGO_BIN_EXE_mpitrace"), "convert", "--quiet"])
            .args([&input, &output])
            .output()
            .unwrap();
        let message = stderr(&limited);
        assert_eq!(limited.status.code(), Some(1), "{ending}: {message}");
        let named = format!("mpitrace: {output}: ");
        assert!(message.contains(&named), "{ending}: {message}");
        assert_eq!(folder.names(), ["in.clog2"], "{ending}");
    }
}

/// Threads that read, sort and write make the bytes of one thread.
#[test]
fn all_cores_make_the_bytes_of_one() {
    let folder = Folder::new("cores");
    let trace = folder.path("trace.slog2");
    let synth = ["synth", "--quiet", "--ranks", "8", "--drawables", "200000"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    assert!(command.args(synth).arg(&trace).status().unwrap().success());
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let allowed = status.lines().find(|l| l.starts_with("Cpus_allowed_list:"));
    let core: String = allowed
        .unwrap()
        .chars()
        .skip_while(|c| !c.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    let convert = |from: &str, to: &str, is_alone: bool| {
        let mut command = match is_alone {
            true => {
                let mut command = Command::new("taskset");
                command.args(["-c", &core, env!("CARGO_BIN_EXE_mpitrace")]);
                command
            }
            false => Command::new(env!("CARGO_BIN_EXE_mpitrace")),
        };
        let output = command.args(["convert", from, to]).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        fs::read(to).unwrap()
    };
    // In the order that is wanted, and sorted on the way.
    for to in ["clog2", "alog", "slog"] {
        let [one, all] = [(true, "one"), (false, "all")].map(|(is_alone, name)| {
            convert(&trace, &folder.path(&format!("{name}.{to}")), is_alone)
        });
        assert!(one == all, "SLOG2 to {to}");
        let from = folder.path(&format!("one.{to}"));
        let [one, all] = [(true, "back-one"), (false, "back-all")].map(|(is_alone, name)| {
            convert(&from, &folder.path(&format!("{name}.{to}.slog2")), is_alone)
        });
        assert!(one == all, "{to} to SLOG2");
    }
}
