//! What the tests of formats for other programs share: running the command, and a trace of each format that can be converted to them.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

/// Runs the command in a folder.
pub fn mpitrace(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    command.args(arguments).current_dir(folder);
    command.output().expect("mpitrace runs")
}

/// What a command has printed on stderr.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs the command, which must end well.
#[track_caller]
pub fn succeeds(folder: &Path, arguments: &[&str]) -> Output {
    let output = mpitrace(folder, arguments);
    let printed = stderr(&output);
    assert!(output.status.success(), "{arguments:?}: {printed}");
    output
}

/// Runs the command, which must end with this code and say this.
#[track_caller]
pub fn fails(folder: &Path, arguments: &[&str], code: i32, expected: &str) {
    let output = mpitrace(folder, arguments);
    let printed = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {printed}");
    assert!(printed.contains(expected), "{arguments:?}: {printed}");
}

/// Makes a trace of three ranks.
pub fn synth(at: &Path, name: &str) {
    let arguments = ["synth", "-q", "--ranks", "3", "--drawables", "3000", name];
    succeeds(at, &arguments);
}

/// Makes a trace of each format that can be converted to others, beside `run.slog2`, which is there.
pub fn of_each_format(at: &Path) -> [&'static str; 7] {
    let converted = ["run.clog2", "run.alog", "run.clog", "run.slog", "run.trace"];
    synth(at, "run.meta");
    for name in converted {
        succeeds(at, &["convert", "-q", "run.slog2", name]);
    }
    let [clog2, alog, clog, slog, paje] = converted;
    ["run.slog2", "run.meta", clog2, alog, clog, slog, paje]
}

/// Number of calls and ns in them, by function and rank.
pub type CallSums = BTreeMap<(String, i64), (i64, i64)>;

/// Sums from the rows that `mpitrace print` makes.
pub fn printed_calls(folder: &Path, trace: &str) -> CallSums {
    let printed = succeeds(folder, &["print", "--json", trace]).stdout;
    let mut sums = CallSums::new();
    for line in String::from_utf8_lossy(&printed).lines() {
        let row: Value = serde_json::from_str(line).expect("a row");
        let function = row["function"].as_str().unwrap_or_default();
        if let (true, Some(rank)) = (function.starts_with("MPI_"), row["rank"].as_i64()) {
            let sum = sums.entry((function.to_owned(), rank)).or_default();
            sum.0 += 1;
            sum.1 += row["duration_ns"].as_i64().unwrap_or_default();
        }
    }
    sums
}
