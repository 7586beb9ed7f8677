//! `mpitrace window` and `mpitrace navigate`, on a small file of the tests of `trace-formats`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::exported::{succeeds, synth};
use serde_json::Value;
use std::collections::BTreeMap;

fn sample(name: &str) -> PathBuf {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace-formats/tests/data/slog2");
    data.join(name)
}

fn run(command: &str, arguments: &[&str]) -> Output {
    let mut mpitrace = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    mpitrace.arg(command).arg(sample("sample.slog2"));
    mpitrace.args(arguments).output().unwrap()
}

fn text(arguments: &[&str]) -> String {
    let output = run("window", arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(errors.is_empty(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&text(&[arguments, &["--json"]].concat())).unwrap()
}

#[test]
fn a_window_as_text() {
    let shown = text(&["0.18", "0.3", "--depth", "0"]);
    // One blank between words, so that the width of columns does not matter.
    let words = |row: &str| row.split_whitespace().collect::<Vec<_>>().join(" ");
    let rows: Vec<String> = shown.lines().skip(4).map(words).collect();
    let expected = [
        "0.000000000 0.750000000 state rank 0 step: n=0, r=0.5, s=abc",
        "0.015625000 0.765625000 state rank 1 step: n=0, r=0.5, s=abc",
        "0.031250000 0.781250000 state rank 2 step: n=0, r=0.5, s=abc",
        "0.125000000 0.250000000 state rank 0 MPI_Comm_rank",
    ];
    assert_eq!(rows[..4], expected, "{shown}");
    let arrow = rows.iter().find(|row| row.contains("arrow")).unwrap();
    assert_eq!(
        *arrow,
        "0.187500000 0.515625000 arrow rank 0 -> rank 1 message: msg_tag=0, msg_size=0"
    );
    let on_another = rows.iter().find(|row| row.contains("comm 3")).unwrap();
    assert!(
        on_another.contains("rank 1 thread 1 (comm 3 rank 0)"),
        "{on_another}"
    );
    assert!(!shown.contains("previews  "), "{shown}");
}

#[test]
fn previews_where_nothing_deeper_is_read() {
    let shown = text(&["0%", "100%", "--depth", "2"]);
    assert!(
        shown.contains("read to depth 2 (root 3, leaves 0)"),
        "{shown}"
    );
    let states = shown.lines().find(|row| row.contains("  states ")).unwrap();
    assert!(states.contains("step ") && states.contains('%'), "{states}");
    // Drawables and what previews stand for are the whole log, at any depth.
    for depth in ["0", "1", "2", "3", "9"] {
        let all = json(&["0%", "100%", "--depth", depth]);
        let previews = all["previews"].as_array().unwrap();
        let previewed = previews
            .iter()
            .map(|preview| preview["count"].as_u64().unwrap());
        let drawables = all["drawables"].as_array().unwrap().len() as u64;
        assert_eq!(drawables + previewed.sum::<u64>(), 57, "{depth}");
        assert_eq!(previews.is_empty(), depth == "0");
    }
}

#[test]
fn a_window_as_json() {
    let all = json(&["0.18", "0.2"]);
    assert_eq!(all["window"]["from"], 0.18);
    assert_eq!(all["log"]["to"], 5.875);
    let drawables = all["drawables"].as_array().unwrap();
    let arrow = drawables.iter().find(|d| d["kind"] == "arrow").unwrap();
    assert_eq!(arrow["info"]["msg_tag"], 0);
    assert_eq!(
        (&arrow["from_line"], &arrow["to_line"]),
        (&0.into(), &2.into())
    );
    let lines = all["lines"].as_array().unwrap();
    let line = lines.iter().find(|line| line["line"] == 2).unwrap();
    assert_eq!(line["rank"], 1);
    let step = drawables.iter().find(|d| d["category"] == "step").unwrap();
    assert_eq!(step["info"]["s"], "abc");
    assert_eq!(step["info"]["r"], 0.5);
}

/// Values have the names that rows of calls have, and CallIDs are no numbers, as those of many readers of JSON have 53 bits.
#[test]
fn values_of_a_window_are_those_of_rows() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    synth(at, "run.slog2");
    let window = [
        "window",
        "--json",
        "run.slog2",
        "0%",
        "100%",
        "--depth",
        "0",
    ];
    let window: Value = serde_json::from_slice(&succeeds(at, &window).stdout).unwrap();
    let printed = succeeds(at, &["print", "--json", "run.slog2"]).stdout;
    let values_of = |values: &Value| -> BTreeMap<String, String> {
        let values = values.as_object().into_iter().flatten();
        let values = values.map(|(name, value)| (name.clone(), value.to_string()));
        values.collect()
    };
    let mut rows = Vec::new();
    for line in std::str::from_utf8(&printed).unwrap().lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let mut values = values_of(&row["arguments"]);
        if row["call_id"].is_string() {
            values.insert("CallID".to_owned(), row["call_id"].to_string());
        }
        rows.push((row["function"].to_string(), values));
    }
    let states = window["drawables"].as_array().unwrap().iter();
    let states = states.filter(|drawable| drawable["kind"] == "state");
    let mut found: Vec<_> = states
        .map(|state| (state["category"].to_string(), values_of(&state["info"])))
        .collect();
    rows.sort_unstable();
    found.sort_unstable();
    assert!(rows.iter().any(|(_, values)| values.contains_key("CallID")));
    assert!(found.len() > 1000 && found == rows);
}

#[test]
fn wrong_calls_end_with_2_and_wrong_files_with_1() {
    for arguments in [
        &["1", "0"][..],
        &["1"],
        &["x", "2"],
        &["0", "1", "--depth", "-2"],
    ] {
        assert_eq!(
            run("window", arguments).status.code(),
            Some(2),
            "{arguments:?}"
        );
    }
    let mut mpitrace = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    let other = sample("sample.slog2.txt");
    let output = mpitrace
        .arg("window")
        .arg(&other)
        .args(["0", "1"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        message.contains("sample.slog2.txt: not an SLOG2 file"),
        "{message}"
    );
}

#[test]
fn windows_before_and_behind_the_log_are_told() {
    for window in [["-9", "-1"], ["1e6", "2e6"]] {
        let output = run("window", &window);
        assert_eq!(output.status.code(), Some(2), "{window:?}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(
            message.contains("outside the log, which goes from"),
            "{message}"
        );
    }
}

#[test]
fn a_walk_reads_commands_from_stdin_and_ends_with_them() {
    let script = "d=1 a\n+=2.5\n+\n>=0.5\ns\n>\n-\n<=2 d=7\nd=0\nts=0.5 tf=1.5\nnone\n";
    let mut mpitrace = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    mpitrace.arg("navigate").arg(sample("sample.slog2"));
    let pipes = mpitrace.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = pipes.stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(script.as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let expected = fs::read(sample("sample.navigate.txt")).unwrap();
    assert!(output.stdout == expected);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("depth 7, expected 0 to 3"), "{errors}");
    assert!(errors.contains("\"none\""), "{errors}");
}

/// A line that is wrong changes nothing for those behind it.
#[test]
fn a_wrong_depth_or_time_is_that_of_its_line() {
    let mut mpitrace = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    mpitrace.arg("navigate").arg(sample("sample.slog2"));
    let pipes = mpitrace.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = pipes.stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"d=100 s\nts=nan\ntf=inf\ns\n").unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(errors.lines().count(), 3, "{errors}");
    for told in [
        "depth 100, expected 0 to 3",
        "\"nan\" is not a finite number",
        "\"inf\" is not a finite number",
    ] {
        assert!(errors.contains(told), "{errors}");
    }
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains("NaN") && text.contains("@ d = 3"), "{text}");
}
