//! Counts, lengths and offsets that a file has no right to: whatever number stands in it, every command that reads it ends
//! in time and in little memory, with a word instead of a panic.
//!
//! Small files of every format are damaged: numbers of 4 and 8 bytes are put over every place of a binary one, and over
//! every number of a text. Commands that take many files look at all of them, the others at every few.

use super::recover::{KILLED, exchange, file};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Virtual memory that a command may have, KB: its program, its threads' stacks and 256 MB.
const MEMORY: u32 = 450_000;
/// Seconds of processor time that it may take.
const SECONDS: u32 = 2;
/// Files that a command gets at once, where it takes many.
const BATCH: usize = 24;
/// Of damaged files, every how many goes to commands that take one.
const FEW: usize = 61;
/// Places of a binary file that are damaged.
const PLACES: usize = 350;

/// A command under these limits; what went wrong with it other than by its own word.
fn trouble(folder: &Path, arguments: &[&str]) -> Option<String> {
    let limited = format!("ulimit -v {MEMORY}; ulimit -t {SECONDS}; exec \"$0\" \"$@\"");
    let output = Command::new("sh")
        .args(["-c", &limited, env!("CARGO_BIN_EXE_mpitrace")])
        .args(arguments)
        .current_dir(folder)
        .env("TZ", "UTC")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    // `verify` ends with 3 if it finds something.
    let is_fine = matches!(output.status.code(), Some(0 | 1 | 3)) && !printed.contains("panicked");
    let signal = output.status.signal();
    (!is_fine).then(|| format!("{:?}, signal {signal:?}: {printed}", output.status.code()))
}

/// Places near which something stands, so many at most, evenly.
fn places(bytes: &[u8]) -> Vec<usize> {
    let is_used = |&at: &usize| {
        let near = at.saturating_sub(4)..(at + 4).min(bytes.len());
        bytes[near].iter().any(|&byte| byte != 0)
    };
    let used: Vec<usize> = (0..bytes.len().saturating_sub(4)).filter(is_used).collect();
    // A stride that has no factor with the sizes of records meets all their fields in some of them.
    let stride = used.len().div_ceil(PLACES) | 1;
    used.into_iter().step_by(stride).collect()
}

/// The file with each of the numbers over each of the places.
fn damaged_binary(bytes: &[u8], is_little: bool) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for at in places(bytes) {
        let most = |size: usize| {
            let mut most = vec![0xFF; size];
            most[if is_little { size - 1 } else { 0 }] = 0x7F;
            most
        };
        for number in [vec![0; 4], vec![0xFF; 4], vec![0xFF; 8], most(4), most(8)] {
            let Some(end) = at
                .checked_add(number.len())
                .filter(|&end| end <= bytes.len())
            else {
                continue;
            };
            let mut damaged = bytes.to_vec();
            damaged[at..end].copy_from_slice(&number);
            all.push(damaged);
        }
    }
    all
}

/// The text with each of the numbers in place of each of its own.
fn damaged_text(bytes: &[u8]) -> Vec<Vec<u8>> {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let starts = (0..bytes.len()).filter(|&at| digit(at) && (at == 0 || !digit(at - 1)));
    let starts: Vec<usize> = starts.collect();
    let stride = starts.len().div_ceil(PLACES / 4) | 1;
    let mut all = Vec::new();
    for at in starts.into_iter().step_by(stride) {
        let end = (at..).find(|&at| !digit(at)).unwrap_or(bytes.len());
        for number in ["0", "-1", "2147483647", "4294967295", "9223372036854775807"] {
            all.push([&bytes[..at], number.as_bytes(), &bytes[end..]].concat());
        }
    }
    all
}

/// Has every command read all the files, and tells of the first that is in trouble.
fn try_all(folder: &Path, ending: &str, files: &[Vec<u8>]) {
    assert!(!files.is_empty(), "{ending}");
    let mut names: Vec<String> = Vec::new();
    for (nth, bytes) in files.iter().enumerate() {
        let name = format!("d{nth}-0000.{ending}");
        fs::write(folder.join(&name), bytes).unwrap();
        names.push(name);
    }
    let say = |arguments: &[&str], trouble: String| {
        let name = arguments.last().copied().unwrap_or_default();
        let kept = std::env::temp_dir().join(name);
        drop(fs::copy(folder.join(name), &kept));
        panic!(
            "{arguments:?}: {trouble}; the file is kept as {}",
            kept.display()
        );
    };
    for command in ["info", "check"] {
        for batch in names.chunks(BATCH) {
            let all: Vec<&str> = [command, "--quiet"]
                .into_iter()
                .chain(batch.iter().map(String::as_str))
                .collect();
            if trouble(folder, &all).is_none() {
                continue;
            }
            // Many together may take longer than one of them may.
            for name in batch {
                let one = [command, "--quiet", name];
                if let Some(trouble) = trouble(folder, &one) {
                    say(&one, trouble);
                }
            }
        }
    }
    let single: [&[&str]; 6] = [
        &["print"],
        &["verify"],
        &["stats", "--quiet"],
        &["window"],
        &["view", "--summary"],
        &["convert", "--quiet", "--to", "slog2"],
    ];
    for (nth, name) in names.iter().enumerate().step_by(FEW) {
        let which = single[(nth / FEW) % single.len()];
        let mut arguments = which.to_vec();
        arguments.push(name);
        match which[0] {
            "convert" => arguments.push("/dev/null"),
            "window" => arguments.extend(["0%", "100%"]),
            _ => {}
        }
        if let Some(trouble) = trouble(folder, &arguments) {
            say(&arguments, trouble);
        }
    }
}

/// A small trace of synth's, in the format of this ending.
fn synthetic(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    let made = trouble(
        folder,
        &["synth", "-q", "--ranks", "2", "--drawables", "40", name],
    );
    assert_eq!(made, None, "{name}");
    path
}

/// Puts numbers over a small binary file of the format with this ending.
fn binary(ending: &str) {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let bytes = match ending {
        "bin" => {
            synthetic(at, "run.meta");
            fs::read(at.join("run-0000.bin")).unwrap()
        }
        "clog2" => {
            synthetic(at, "large.clog2");
            let small = [
                "convert",
                "-q",
                "--block-size",
                "1024",
                "large.clog2",
                "s.clog2",
            ];
            assert_eq!(trouble(at, &small), None);
            fs::read(at.join("s.clog2")).unwrap()
        }
        "blocks" => file(&exchange(0, 1, 5), &KILLED),
        _ => fs::read(synthetic(at, &format!("s.{ending}"))).unwrap(),
    };
    try_all(at, ending, &damaged_binary(&bytes, ending == "blocks"));
}

/// Puts numbers over those of a small text of the format with this ending.
fn text(ending: &str) {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let bytes = if ending == "txt" {
        synthetic(at, "run.meta");
        assert_eq!(
            trouble(at, &["convert", "-q", "run-0000.bin", "s.txt"]),
            None
        );
        fs::read(at.join("s.txt")).unwrap()
    } else {
        fs::read(synthetic(at, &format!("s.{ending}"))).unwrap()
    };
    try_all(at, ending, &damaged_text(&bytes));
}

#[test]
fn hostile_numbers_in_clog2() {
    binary("clog2");
}

#[test]
fn hostile_numbers_in_slog2() {
    binary("slog2");
}

#[test]
fn hostile_numbers_in_clog1() {
    binary("clog");
}

#[test]
fn hostile_numbers_in_slog1() {
    binary("slog");
}

#[test]
fn hostile_numbers_in_dumpi() {
    binary("bin");
}

#[test]
fn hostile_numbers_in_block_files() {
    binary("blocks");
}

#[test]
fn hostile_numbers_in_alog() {
    text("alog");
}

#[test]
fn hostile_numbers_in_paje() {
    text("trace");
}

#[test]
fn hostile_numbers_in_texts_of_dumpi() {
    text("txt");
}

/// Thirty-one bytes that claim four thousand million ranks.
#[test]
fn a_metafile_of_any_number_of_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    synthetic(at, "run.meta");
    for prefix in ["r", "run"] {
        let text = format!("numprocs=4294967295\nfileprefix={prefix}\n");
        fs::write(at.join("m.meta"), text).unwrap();
        let commands: [&[&str]; 8] = [
            &["info", "m.meta"],
            &["check", "m.meta"],
            &["stats", "m.meta"],
            &["stats", "--dumpistats", "t", "-x", "all", "m.meta"],
            &["window", "m.meta", "0", "1"],
            &["view", "--summary", "m.meta"],
            &["convert", "m.meta", "x.slog2"],
            &["filter", "m.meta", "y.meta"],
        ];
        for arguments in commands {
            assert_eq!(trouble(at, arguments), None, "{prefix}: {arguments:?}");
        }
        fs::remove_file(at.join("x.slog2")).ok();
    }
}
