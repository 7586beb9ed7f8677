//! No command writes over a file that is there unless it is told to, and none over what it reads.

use crate::exported::{fails, mpitrace, succeeds};
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use test_support::{limit_here, skip};

/// Writes the inputs of the commands.
fn inputs(folder: &Path) {
    for name in ["a.clog2", "a.slog2", "run.meta"] {
        let synth = ["synth", "-q", "--ranks", "2", "--drawables", "60", name];
        succeeds(folder, &synth);
    }
    // A version that `updates` takes.
    fs::copy(folder.join("a.slog2"), folder.join("b.slog2")).unwrap();
}

/// Every command that writes a file the user names: its arguments, the file it reads and the one it writes first.
const COMMANDS: [(&[&str], &str, &str); 13] = [
    (&["convert", "a.clog2", "OUT"], "a.clog2", "o.slog2"),
    (&["convert", "run.meta", "OUT"], "run.meta", "o.slog2"),
    (
        &["filter", "-r", "0", "a.slog2", "OUT"],
        "a.slog2",
        "o.slog2",
    ),
    (&["filter", "run.meta", "new"], "run.meta", "new.meta"),
    (
        &["merge", "a.slog2", "b.slog2", "OUT"],
        "b.slog2",
        "o.slog2",
    ),
    (&["join", "a.clog2", "OUT"], "a.clog2", "o.clog2"),
    (&["repair", "a.clog2", "OUT"], "a.clog2", "o.clog2"),
    (&["composite", "a.slog2", "OUT"], "a.slog2", "o.slog2"),
    (&["arrows", "a.slog2", "OUT"], "a.slog2", "o.slog2"),
    (&["lines", "a.slog2", "OUT"], "a.slog2", "o.slog2"),
    (&["draw", "a.slog2", "OUT"], "a.slog2", "o.svg"),
    (
        &["clock", "a.clog2", "--forward", "OUT"],
        "a.clog2",
        "o.clog2",
    ),
    (
        &["stats", "run.meta", "--dumpistats", "t"],
        "run.meta",
        "t-bin0-0.tbl",
    ),
];

fn with<'a>(arguments: &[&'a str], output: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let put = |&argument: &&'a str| if argument == "OUT" { output } else { argument };
    arguments
        .iter()
        .map(put)
        .chain(more.iter().copied())
        .collect()
}

#[test]
fn what_is_there_is_written_over_only_with_force() {
    for (arguments, _, output) in COMMANDS {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        inputs(at);
        fs::write(at.join(output), "precious").unwrap();
        let call = with(arguments, output, &[]);
        let refused = mpitrace(at, &call);
        let printed = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{call:?}: {printed}");
        assert!(
            printed.contains(&format!("{output}: exists already")),
            "{call:?}: {printed}"
        );
        assert_eq!(fs::read(at.join(output)).unwrap(), b"precious", "{call:?}");
        succeeds(at, &with(arguments, output, &["--force"]));
        assert_ne!(fs::read(at.join(output)).unwrap(), b"precious", "{call:?}");
        fs::remove_file(at.join(output)).unwrap();
    }
}

#[test]
fn what_is_read_is_never_written_over() {
    for (arguments, input, _) in COMMANDS {
        if !arguments.contains(&"OUT") {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        inputs(at);
        fs::create_dir(at.join("d")).unwrap();
        let ending = if arguments[0] == "draw" {
            "svg"
        } else {
            "slog2"
        };
        let ending = if ["join", "repair", "clock"].contains(&arguments[0]) {
            "clog2"
        } else {
            ending
        };
        let (soft, hard) = (format!("soft.{ending}"), format!("hard.{ending}"));
        symlink(at.join(input), at.join(&soft)).unwrap();
        fs::hard_link(at.join(input), at.join(&hard)).unwrap();
        let before = fs::read(at.join(input)).unwrap();
        let mut names = vec![soft, hard];
        if input.ends_with(ending) {
            names.extend([input.to_owned(), format!("d/../{input}")]);
        }
        for name in names {
            let call = with(arguments, &name, &["--force"]);
            let refused = mpitrace(at, &call);
            let printed = String::from_utf8_lossy(&refused.stderr);
            assert_eq!(refused.status.code(), Some(2), "{call:?}: {printed}");
            assert!(printed.contains("this is the input"), "{call:?}: {printed}");
            assert_eq!(fs::read(at.join(input)).unwrap(), before, "{call:?}");
        }
    }
}

/// Where the file goes to stdout, nothing else is printed there.
#[test]
fn stdout_has_the_file_and_nothing_else() {
    let alike = ["join", "repair", "composite", "arrows", "lines", "clock"];
    for (arguments, _, output) in COMMANDS {
        if !alike.contains(&arguments[0]) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        inputs(at);
        succeeds(at, &with(arguments, output, &[]));
        let format: &[&str] = match arguments[0] {
            "arrows" => &["--to", "slog2"],
            _ => &[],
        };
        let printed = succeeds(at, &with(arguments, "-", format)).stdout;
        let written = fs::read(at.join(output)).unwrap();
        assert!(printed == written, "{arguments:?}: {} bytes", printed.len());
    }
}

#[test]
fn synth_and_the_files_of_a_run_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let synth = ["synth", "-q", "--ranks", "2", "--drawables", "60"];
    for (name, kept) in [("x.slog2", "x.slog2"), ("x.meta", "x-0001.bin")] {
        fs::write(at.join(kept), "precious").unwrap();
        let refused = mpitrace(at, &with(&synth, "", &[name]));
        assert_eq!(refused.status.code(), Some(2), "{name}");
        assert_eq!(fs::read(at.join(kept)).unwrap(), b"precious");
        succeeds(at, &with(&synth, "", &["--force", name]));
        assert_ne!(fs::read(at.join(kept)).unwrap(), b"precious");
    }
    // A metafile stands for files that are read.
    let refused = mpitrace(at, &["convert", "--force", "x.meta", "x-0000.bin"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn what_an_input_is_read_with_is_never_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    inputs(at);
    succeeds(at, &["convert", "-q", "a.clog2", "x.slog2a"]);
    let calls: [(&[&str], &str); 5] = [
        (&["convert", "x.slog2a"], "a.clog2"),
        (&["filter", "-r", "0", "x.slog2a"], "a.clog2"),
        (&["merge", "x.slog2a", "a.slog2"], "a.clog2"),
        (&["composite", "x.slog2a"], "a.clog2"),
        (
            &["merge", "--to", "slog2", "run.meta", "a.slog2"],
            "run-0001.bin",
        ),
    ];
    for (arguments, read) in calls {
        let before = fs::read(at.join(read)).unwrap();
        let call = [arguments, &[read, "--force"]].concat();
        let refused = mpitrace(at, &call);
        let printed = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{call:?}: {printed}");
        assert!(
            printed.contains("this is the input that"),
            "{call:?}: {printed}"
        );
        assert_eq!(fs::read(at.join(read)).unwrap(), before, "{call:?}");
    }
}

#[test]
fn a_folder_with_files_of_others_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    inputs(at);
    for (ending, foreign) in [
        ("otf2", ["notes.txt", "traces/notes.txt", "figures/a.png"]),
        ("parquet", ["notes.txt", "ranks/notes.txt", "figures/a.png"]),
        ("arrow", ["ranks/0.csv", "_metadata", "ranks/more/0.arrow"]),
    ] {
        let output = format!("x.{ending}");
        let call = ["convert", "-q", "--force", "a.slog2", &output];
        let made = mpitrace(at, &call);
        if String::from_utf8_lossy(&made.stderr).contains("OTF2 library 3.0") {
            skip("the OTF2 library is not installed");
            continue;
        }
        let there = at.join(&output);
        for name in foreign {
            let file = there.join(name);
            let new = file
                .parent()
                .filter(|parent| !parent.exists() && *parent != there);
            new.map_or(Ok(()), fs::create_dir).unwrap();
            fs::write(&file, "precious").unwrap();
            let named = name.split_once("/a.").map_or(name, |(folder, _)| folder);
            let named = named.strip_suffix("/0.arrow").unwrap_or(named);
            fails(
                at,
                &call,
                2,
                &format!("{output}: the folder has {named}, which is not part of"),
            );
            assert_eq!(fs::read(&file).unwrap(), b"precious", "{output} {name}");
            fs::remove_file(&file).unwrap();
            new.map_or(Ok(()), fs::remove_dir).unwrap();
        }
        // A link is nothing that was written there, wherever it leads.
        symlink("../a.clog2", there.join("traces.def.clog2")).unwrap();
        fails(at, &call, 2, "the folder has traces.def.clog2");
        fs::remove_file(there.join("traces.def.clog2")).unwrap();
        let input = format!("{output}/in.slog2");
        fs::copy(at.join("a.slog2"), at.join(&input)).unwrap();
        let itself = ["convert", "-q", "--force", &input, &output];
        let expected = format!("{output}: in this folder is the input {input}");
        fails(at, &itself, 2, &expected);
        assert!(at.join(&input).exists());
        fs::remove_file(at.join(&input)).unwrap();
        succeeds(at, &call);
    }
}

/// An output may be a pipe, as of another command. One that nobody reads is refused and not waited for, before the work.
#[test]
fn a_pipe_that_nobody_reads_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    inputs(at);
    for name in ["pipe", "pipe.slog2", "pipe.svg"] {
        let made = Command::new("mkfifo").arg(at.join(name)).status();
        assert!(made.unwrap().success());
    }
    for call in [
        &["convert", "-q", "--to", "slog2", "a.clog2", "pipe"][..],
        &["convert", "-q", "a.clog2", "pipe.slog2"],
        &["convert", "-q", "--to", "clog2", "a.slog2", "pipe"],
        &["convert", "-q", "--to", "paje", "a.slog2", "pipe"],
        &["draw", "a.slog2", "pipe.svg"],
    ] {
        let begun = std::time::Instant::now();
        let refused = mpitrace(at, call);
        let printed = String::from_utf8_lossy(&refused.stderr);
        assert_ne!(refused.status.code(), Some(0), "{call:?}: {printed}");
        assert!(
            printed.contains("a pipe that nobody reads"),
            "{call:?}: {printed}"
        );
        assert!(
            begun.elapsed() < limit_here(Duration::from_secs(20)),
            "{call:?}"
        );
    }
    let reader = std::thread::spawn({
        let pipe = at.join("pipe.slog2");
        move || fs::read(pipe).unwrap()
    });
    succeeds(at, &["convert", "-q", "a.clog2", "pipe.slog2"]);
    succeeds(at, &["convert", "-q", "a.clog2", "expected.slog2"]);
    let expected = fs::read(at.join("expected.slog2")).unwrap();
    assert_eq!(reader.join().unwrap(), expected);
}

#[test]
fn devices_and_stdout_are_no_files_in_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    inputs(at);
    succeeds(at, &["convert", "-q", "a.clog2", "expected.slog2"]);
    let expected = fs::read(at.join("expected.slog2")).unwrap();
    succeeds(
        at,
        &["convert", "-q", "--to", "slog2", "a.clog2", "/dev/null"],
    );
    for name in ["-", "/dev/stdout"] {
        let call = ["convert", "-q", "--to", "slog2", "a.clog2", name];
        assert_eq!(mpitrace(at, &call).stdout, expected, "{name}: a pipe");
        let to = File::create(at.join("redirected")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
        command.args(call).current_dir(at).stdout(to);
        assert!(command.status().unwrap().success(), "{name}: a file");
        assert_eq!(fs::read(at.join("redirected")).unwrap(), expected, "{name}");
    }
}

#[test]
fn an_output_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    inputs(at);
    for call in ["clock a.clog2 --forward o.clog2", "repair a.clog2 o.clog2"] {
        // As on a full disk.
        let script = format!("ulimit -f 8; trap '' XFSZ; exec \"$0\" {call}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_mpitrace")]);
        let output = shell.current_dir(at).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{call}: {printed}");
        assert!(
            printed.starts_with("mpitrace: o.clog2: "),
            "{call}: {printed}"
        );
        assert!(!at.join("o.clog2").exists());
    }
}
