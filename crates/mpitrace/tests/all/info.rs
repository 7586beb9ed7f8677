//! `mpitrace info`: what it tells of each format, of whole and of cut files.

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;
use test_support::golden;

fn info(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    command
        .arg("info")
        .args(arguments)
        .output()
        .expect("mpitrace")
}

/// The object of one file, and the exit code.
fn json(path: &Path) -> (Value, Option<i32>) {
    let output = info(&["--json", &path.display().to_string()]);
    let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    (all[0].clone(), output.status.code())
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../trace-formats/tests/data")
        .join(name)
}

fn number(value: &Value, name: &str) -> u64 {
    value[name]
        .as_u64()
        .unwrap_or_else(|| panic!("{name} in {value}"))
}

/// Drawables are those of their kinds, and those of the categories.
fn adds_up(found: &Value) {
    let kinds = ["states", "arrows", "events"].map(|kind| number(found, kind));
    assert_eq!(
        number(found, "drawables"),
        kinds.iter().sum::<u64>(),
        "{found}"
    );
    let categories = found["categories"].as_array().expect("categories");
    let counts = categories.iter().map(|category| number(category, "count"));
    assert_eq!(number(found, "drawables"), counts.sum::<u64>(), "{found}");
}

#[test]
fn the_same_trace_in_two_formats() {
    let folder = tempfile::tempdir().expect("folder");
    let log = data("clog2/small.clog2");
    let tree = folder.path().join("small.slog2");
    let mut convert = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    let status = convert
        .args(["convert", "--quiet"])
        .arg(&log)
        .arg(&tree)
        .status();
    assert!(status.expect("mpitrace").success());
    let ((log, log_code), (tree, tree_code)) = (json(&log), json(&tree));
    assert_eq!((log_code, tree_code), (Some(0), Some(0)));
    assert_eq!(
        (&log["format"], &tree["format"]),
        (&"CLOG2".into(), &"SLOG2".into())
    );
    for what in [
        "drawables",
        "states",
        "arrows",
        "events",
        "ranks",
        "threads",
        "from_s",
        "to_s",
    ] {
        assert_eq!(log[what], tree[what], "{what}");
    }
    adds_up(&log);
    adds_up(&tree);
    assert_eq!(number(&tree["tree"], "nodes"), 1);
}

#[test]
fn every_golden_is_whole() {
    let mut files = 0;
    for ending in [
        ".slog2", ".clog2", ".bin", ".meta", ".alog", ".clog", ".slog", ".trace",
    ] {
        for path in golden::files("", ending) {
            let (found, code) = json(&path);
            assert_eq!(code, Some(0), "{}: {}", path.display(), found["problems"]);
            files += 1;
            let name = path.display().to_string();
            let doubled = name.ends_with(".filter.slog2");
            if found["states"].is_u64() && !doubled {
                adds_up(&found);
            }
        }
    }
    assert!(files > 180, "only {files} goldens");
}

#[test]
fn numbers_of_the_goldens() {
    // As the original converter says: 57 drawables of 2 ranks.
    let (found, _) = json(&golden::path("mpe/ring_n2.slog2"));
    let printed = golden::text("mpe/ring_n2.conv.txt");
    let printed = printed
        .lines()
        .find_map(|line| line.strip_prefix("Number of Drawables = "));
    assert_eq!(
        printed.and_then(|n| n.trim().parse().ok()),
        Some(number(&found, "drawables"))
    );
    assert_eq!(number(&found, "ranks"), 2);
    let (found, _) = json(&golden::path("mpe/threads_n2.clog2"));
    assert_eq!(
        (number(&found, "threads"), number(&found, "sends")),
        (6, 16)
    );
    assert_eq!(found["clock_shifts"].as_array().map(Vec::len), Some(2));
    let meta = &golden::files("dumpi/ring-n4-default", ".meta")[0];
    let (found, _) = json(meta);
    assert_eq!((number(&found, "ranks"), number(&found, "calls")), (4, 163));
    assert_eq!(found["files"][2]["calls"], 41);
}

#[test]
fn of_cut_files_what_is_left() {
    let folder = tempfile::tempdir().expect("folder");
    let whole = fs::read(data("clog2/small.clog2")).expect("file");
    let cut = folder.path().join("cut.clog2");
    // Within the second half of the records.
    fs::write(&cut, &whole[..1024 + 700]).expect("file");
    let (found, code) = json(&cut);
    assert_eq!(code, Some(1));
    assert!(
        found["problems"][0]
            .as_str()
            .is_some_and(|p| p.contains("records before that")),
        "{found}"
    );
    assert!(
        found["records"]
            .as_object()
            .is_some_and(|records| !records.is_empty())
    );
    let nothing = json(&folder.path().join("nothing"));
    assert_eq!(nothing.1, Some(1));
    fs::write(&cut, b"what is this").expect("file");
    let (found, code) = json(&cut);
    assert_eq!(code, Some(1));
    assert!(
        found["problems"][0]
            .as_str()
            .is_some_and(|p| p.contains("no known format")),
        "{found}"
    );
    assert_eq!(info(&[]).status.code(), Some(2));
}

#[test]
fn a_tree_without_its_end() {
    let folder = tempfile::tempdir().expect("folder");
    let whole = golden::read("mpe/nonblk_n5.ls1k.slog2");
    let cut = folder.path().join("cut.slog2");
    fs::write(&cut, &whole[..20000]).expect("file");
    let (found, code) = json(&cut);
    assert_eq!(code, Some(1));
    assert!(number(&found, "drawables") > 100, "{found}");
    assert!(
        found["problems"][0]
            .as_str()
            .is_some_and(|p| p.contains("nodes are whole")),
        "{found}"
    );
}

#[test]
fn damage_never_stops_it() {
    let folder = tempfile::tempdir().expect("folder");
    let damaged = folder.path().join("damaged").display().to_string();
    for name in [
        "clog2/small.clog2",
        "slog2/sample.slog2",
        "dumpi/every-kind.bin",
        "alog/small_from_clog.alog",
        "clog1/early.clog",
        "slog1/small.slog",
        "paje/mixed.trace",
    ] {
        let whole = fs::read(data(name)).expect("file");
        for step in 0..40 {
            let mut bytes = whole[..whole.len() * (40 - step % 20) / 40].to_vec();
            let at = (step * 7919) % bytes.len();
            bytes[at] ^= 0xFF;
            fs::write(&damaged, &bytes).expect("file");
            let code = info(&[&damaged]).status.code();
            assert!(matches!(code, Some(0 | 1)), "{name} {step}: {code:?}");
        }
    }
}

#[test]
fn a_pipe_is_read_and_one_without_a_writer_is_refused() {
    let folder = tempfile::tempdir().expect("folder");
    let pipe = folder.path().join("pipe.blocks");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo").success());
    for command in ["info", "print", "check", "io", "stats"] {
        let mut refused = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
        let refused = refused.arg(command).arg(&pipe).output().expect("mpitrace");
        // `info` tells what is wrong with a file on standard output.
        let printed = [refused.stdout, refused.stderr].concat();
        let printed = String::from_utf8_lossy(&printed);
        assert_ne!(refused.status.code(), Some(0), "{command}: {printed}");
        assert!(
            printed.contains("pipe.blocks: a pipe to which nobody writes"),
            "{command}: {printed}"
        );
    }
    // A writer that comes later, and writes later still. It does not wait for a reader that may have given up.
    let mut reading = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    reading.arg("info").arg(&pipe).stdout(Stdio::piped());
    let mut reading = reading.spawn().expect("mpitrace");
    sleep(Duration::from_millis(300));
    let mut writer = fs::File::options();
    writer.write(true).custom_flags(libc::O_NONBLOCK);
    let mut writer = loop {
        match writer.open(&pipe) {
            Ok(writer) => break writer,
            Err(error) => assert_eq!(error.raw_os_error(), Some(libc::ENXIO), "{error}"),
        }
        assert_eq!(reading.try_wait().expect("own child"), None, "it gave up");
        sleep(Duration::from_millis(5));
    };
    sleep(Duration::from_millis(300));
    writer.write_all(b"no trace").expect("a reader");
    drop(writer);
    let read = reading.wait_with_output().expect("own child");
    let printed = String::from_utf8_lossy(&read.stdout);
    assert!(printed.contains("byte 0: of no known format"), "{printed}");
}
