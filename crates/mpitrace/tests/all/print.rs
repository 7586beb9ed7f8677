//! `mpitrace print`: the original tools' text, exit codes, messages, pipes.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use test_support::golden;

fn mpitrace(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    // The reference texts show times of day of this zone.
    command.arg("print").args(arguments).env("TZ", "UTC");
    command
}

fn run(arguments: &[&str]) -> Output {
    mpitrace(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A file of the tests of `trace-formats`.
fn small(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../trace-formats/tests/data/clog2")
        .join(name)
}

/// Fails with the first line that differs.
fn assert_prints(arguments: &[&str], expected: &[u8]) {
    let output = run(arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        stderr(&output)
    );
    if output.stdout == expected {
        return;
    }
    let lines = output
        .stdout
        .split(|&c| c == b'\n')
        .zip(expected.split(|&c| c == b'\n'));
    for (number, (ours, theirs)) in lines.enumerate() {
        let show = |line: &[u8]| line.escape_ascii().to_string();
        assert_eq!(
            show(ours),
            show(theirs),
            "{arguments:?}, line {}",
            number + 1
        );
    }
    panic!(
        "{arguments:?}: {} bytes, expected {}",
        output.stdout.len(),
        expected.len()
    );
}

#[test]
fn clog2() {
    let file = small("small.clog2");
    let file = file.to_str().unwrap();
    assert_prints(&[file], &fs::read(small("small.txt")).unwrap());
    assert_prints(
        &["--java", file],
        &fs::read(small("small.java.txt")).unwrap(),
    );
}

#[test]
fn clog2_golden() {
    for path in golden::files("mpe", ".clog2") {
        let path = path.to_str().unwrap();
        assert_prints(&[path], &golden::read(format!("{path}.txt")));
    }
}

#[test]
fn slog2_golden() {
    let mut compared = [0; 2];
    for path in golden::files("mpe", ".slog2") {
        let path = path.to_str().unwrap();
        assert_prints(&[path], &golden::read(format!("{path}.txt")));
        compared[0] += 1;
        let recursive = path.replace(".slog2", ".recur.txt");
        if golden::exists(&recursive) {
            assert_prints(&["--recursive", path], &golden::read(recursive));
            compared[1] += 1;
        }
    }
    assert!(
        compared[0] > 20 && compared[1] >= 4,
        "only {compared:?} files with a text"
    );
}

#[test]
fn slog2_options() {
    let path = golden::path("mpe/nonblk_n2.slog2");
    let path = path.to_str().unwrap();
    let text = |arguments: &[&str]| {
        let output = run(&[arguments, &[path]].concat());
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            stderr(&output)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    // Numbers in front of drawables depend on which are listed.
    let drawables = |text: &str| -> Vec<String> {
        let is_drawable = |line: &&str| line.contains(": Primitive[");
        text.lines()
            .filter(is_drawable)
            .map(|line| line.split_once(": ").unwrap().1.to_string())
            .collect()
    };
    let whole = text(&[]);
    assert_eq!(text(&["-is"]), whole);
    let parts = [text(&["-c"]), text(&["-d"]), text(&["-y"])];
    for (part, title) in parts
        .iter()
        .zip(["CategoryMap", "SLOG-2 Tree Directory", "LineIDMapList"])
    {
        assert!(
            part.contains(title) && part.contains("SLOG-2 Header"),
            "{part}"
        );
        assert!(part.len() < whole.len() && drawables(part).is_empty());
    }
    assert_eq!(text(&["-c", "-d"]), parts[1], "the last wins");
    assert_eq!(drawables(&text(&["-c", "-s"])), drawables(&text(&["-s"])));

    let all = drawables(&whole);
    let (states, others) = (drawables(&text(&["-s"])), drawables(&text(&["-a"])));
    assert!(!states.is_empty() && !others.is_empty());
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    assert_eq!(sorted([states, others].concat()), sorted(all.clone()));
    // In decreasing order another drawable falls out at the end of the log, so only the ends are compared.
    let decreasing = drawables(&text(&["-ds"]));
    assert_eq!(decreasing.last(), all.first());
    let first_half = drawables(&text(&["-ts", "0", "-tf", "0.5"]));
    assert!(!first_half.is_empty() && first_half.len() < all.len());
    assert_eq!(first_half, all[..first_half.len()]);
    assert_ne!(drawables(&text(&["-ie"])), drawables(&text(&["-de"])));
}

#[test]
fn dumpi_golden() {
    let mut compared = 0;
    for path in golden::files("dumpi", ".bin") {
        let text = golden::read(path.with_extension("txt"));
        assert_prints(&["-a", path.to_str().unwrap()], &text);
        compared += 1;
    }
    assert!(compared > 40, "only {compared} files with a text");
}

#[test]
fn dumpi_sections() {
    let path = &golden::files("dumpi", ".bin")[0];
    let path = path.to_str().unwrap();
    let text = |arguments: &[&str]| run(&[arguments, &[path]].concat()).stdout;
    assert_eq!(text(&[]), text(&["-S"]));
    assert_eq!(
        text(&["-a"]),
        text(&["-H", "-S", "-K", "-F", "-P", "-A", "-X"])
    );
    assert_eq!(
        text(&["-a"]),
        [text(&["-H"]), text(&["-SK"]), text(&["-F", "-PAX"])].concat()
    );
    assert!(text(&["-S"]).starts_with(b"MPI_Init"));
}

#[test]
fn a_dash_is_stdin() {
    let mut child = mpitrace(&["-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(&fs::read(small("small.clog2")).unwrap())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, fs::read(small("small.txt")).unwrap());
}

/// As in `mpitrace print x | head -1`: no message, no failure.
#[test]
fn a_closed_pipe_is_no_failure() {
    // Longer than the buffers of the pipe and of mpitrace together, so that it meets the closed pipe.
    let log = std::env::temp_dir().join(format!("mpitrace-print-{}.clog2", std::process::id()));
    let preamble = trace_formats::clog2::Preamble::default();
    let mut writer = trace_formats::clog2::Clog2Writer::create(&log, &preamble).unwrap();
    let header = trace_formats::clog2::Clog2RecordHeader::default();
    for etype in 0..20_000 {
        let body = trace_formats::clog2::Clog2Body::Bare { etype };
        writer
            .write(&trace_formats::clog2::Clog2Record { header, body })
            .unwrap();
    }
    writer.finish(&Default::default(), &preamble).unwrap();

    for option in ["--", "--java"] {
        let mut command = mpitrace(&[option, log.to_str().unwrap()]);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(&first, b"CLOG-02.44");
        assert_eq!(
            (output.status.code(), stderr(&output)),
            (Some(0), String::new()),
            "{option}"
        );
    }
    fs::remove_file(log).unwrap();
}

#[test]
fn bad_files_end_with_1_after_what_can_be_read() {
    let whole = fs::read(small("small.clog2")).unwrap();
    let cut = std::env::temp_dir().join(format!("mpitrace-print-{}-cut.clog2", std::process::id()));
    fs::write(&cut, &whole[..1300]).unwrap();
    let name = cut.to_str().unwrap();
    let output = run(&[name]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(
        text.contains("type=cdef et=-201 name=MPI_PROC_NULL"),
        "{text}"
    );
    assert_eq!(
        stderr(&output),
        format!(
            "mpitrace: {name}: byte 1264: the file ends in a record: 64 bytes expected, 36 left\n"
        )
    );
    fs::write(&cut, "no trace").unwrap();
    let output = run(&[name]);
    assert_eq!(output.status.code(), Some(1));
    let printed = stderr(&output);
    let start = format!("mpitrace: {name}: byte 0: of no known format; expected one of CLOG2, ");
    assert!(printed.starts_with(&start), "{printed}");
    fs::remove_file(cut).unwrap();

    let output = run(&["no/such/file"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).starts_with("mpitrace: no/such/file: No such file"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn options_of_another_format_end_with_2() {
    let file = small("small.clog2");
    for option in ["-K", "-c", "-is", "-a", "--recursive"] {
        let output = run(&[option, file.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(
            stderr(&output).contains(&format!("{option} has no meaning for ")),
            "{}",
            stderr(&output)
        );
        assert!(output.stdout.is_empty());
    }
    assert_eq!(run(&["-ts", "2", "x"]).status.code(), Some(2));
    assert_eq!(run(&[]).status.code(), Some(2));
}
