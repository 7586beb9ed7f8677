//! `report` and `compare`: what they print of golden traces, and of what is no trace.

use crate::json_fields::{documented, fields};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::{Command, Output};
use test_support::golden;

fn mpitrace(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    command.args(arguments).output().unwrap()
}

/// What a command that must succeed prints.
fn ok(arguments: &[&str]) -> String {
    let output = mpitrace(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Every field of the JSON is in the page about the report.
#[test]
fn the_json_is_documented() {
    let page = include_str!("../../../../docs/user/report.md");
    let input = golden::path("mpe/coll_n4.slog2");
    let printed = ok(&["report", "--json", input.to_str().unwrap()]);
    let report: Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!(report["ranks"], 4);
    let mut found = BTreeSet::new();
    fields(&report, &mut found);
    assert!(
        found.contains("serialisation") && found.contains("caused_elsewhere"),
        "{found:?}"
    );
    documented(page, "report.md", &found);
}

#[test]
fn a_trace_is_as_fast_as_itself() {
    let input = golden::path("mpe/coll_n4.slog2");
    let input = input.to_str().unwrap();
    let text = ok(&["compare", input, input]);
    assert!(text.contains("Nothing changed much."), "{text}");
    let json: Value =
        serde_json::from_str(&ok(&["compare", "--json", input, input])).expect("JSON");
    assert_eq!(json["traces"][1]["speedup"], 1.0);
    assert_eq!(json["traces"][1]["computation_scalability"], 1.0);
    assert_eq!(json["changes"], serde_json::json!([]));
}

/// The page of a report needs no other file, has a picture for each of the largest waits, and what a trace says is but text in it.
#[test]
fn a_page_needs_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let [input, page] = ["<b>&coll.slog2", "page.html"].map(|name| folder.path().join(name));
    std::fs::copy(golden::path("mpe/coll_n4.slog2"), &input).unwrap();
    let arguments = [input.to_str().unwrap(), "--html", page.to_str().unwrap()];
    ok(&[&["report"][..], &arguments].concat());
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(
        text.contains("&lt;b&gt;&amp;coll.slog2</h1>"),
        "{text:.2000}"
    );
    stands_alone(&text);
    let json: Value = serde_json::from_str(&ok(&["report", "--json", arguments[0]])).unwrap();
    let waits = json["waits"].as_array().unwrap().iter();
    let large = waits.filter(|group| group["share"].as_f64() >= Some(0.001));
    let pictured = large.count().min(6);
    assert_eq!(text.matches("data:image/svg+xml").count(), pictured);
    assert_eq!(text.matches("hatched: waiting").count(), pictured);
    // Not over what is there, and not over the trace.
    assert_eq!(
        mpitrace(&[&["report"][..], &arguments].concat())
            .status
            .code(),
        Some(2)
    );
    let over = [arguments[0], "--html", arguments[0], "--force"];
    assert_eq!(
        mpitrace(&[&["report"][..], &over].concat()).status.code(),
        Some(2)
    );
}

/// A page refers to nothing outside, and what a trace says is but text in it.
fn stands_alone(page: &str) {
    for foreign in [
        "<b>",
        "src=\"http",
        "href",
        "<script",
        "<link",
        "@import",
        "url(http",
    ] {
        assert!(!page.contains(foreign), "{foreign}");
    }
}

#[test]
fn a_comparison_may_be_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let [input, page] = ["<b>&coll.slog2", "page.html"].map(|name| folder.path().join(name));
    std::fs::copy(golden::path("mpe/coll_n4.slog2"), &input).unwrap();
    let other = golden::path("mpe/commuser_n4.slog2");
    let [input, other, page] = [&input, &other, &page].map(|path| path.to_str().unwrap());
    ok(&["compare", input, other, "--html", page]);
    let text = std::fs::read_to_string(page).unwrap();
    stands_alone(&text);
    // The tables of the text are in it, row for row: the fifteen largest changes of each. JSON has all.
    let printed: Value = serde_json::from_str(&ok(&["compare", "--json", input, other])).unwrap();
    let mut printed = printed.as_object().unwrap().clone();
    let reservations = printed.remove("reservations").unwrap();
    for row in reservations.as_array().unwrap() {
        let sentence = row["reservation"].as_str().unwrap();
        assert!(text.contains(sentence), "{sentence}");
    }
    let lengths = printed
        .values()
        .map(|table| table.as_array().unwrap().len());
    let lengths: Vec<usize> = lengths.filter(|rows| *rows > 0).collect();
    let left_out: Vec<usize> = (lengths.iter())
        .filter_map(|rows| rows.checked_sub(15).filter(|rest| *rest > 0))
        .collect();
    let [rest] = left_out[..] else {
        panic!("{left_out:?} rows of tables are left out");
    };
    assert!(text.contains(&format!("<p>{rest} more changed less.</p>")));
    let rows: usize = lengths.iter().map(|rows| rows.min(&15)).sum();
    let (heads, bars) = (lengths.len(), 2);
    assert_eq!(text.matches("<tr>").count(), rows + heads + bars);
    let shown = ok(&["compare", input, other]);
    assert!(
        shown.contains(&format!("\n{rest} more changed less.\n")),
        "{shown}"
    );
    let again = ["compare", input, other, "--html", page];
    assert_eq!(mpitrace(&again).status.code(), Some(2));
}

/// A table by rank, communicator or activity has the sums of the report.
#[test]
fn tables_have_what_the_report_has() {
    let input = golden::path("mpe/coll_n4.slog2");
    let input = input.to_str().unwrap();
    let table = ok(&["report", "--by", "rank", input]);
    assert_eq!(table.lines().count(), 5, "{table}");
    let table = ok(&["report", "--by", "communicator", input]);
    assert!(table.contains("MPI_COMM_WORLD"), "{table}");
    assert!(table.contains("messages  sent"), "{table}");
    let json: Value = serde_json::from_str(&ok(&["report", "--json", input])).unwrap();
    let table = ok(&["report", "--by", "activity", input]);
    let activities = json["activities"].as_array().unwrap().len();
    assert_eq!(table.lines().count(), activities + 1, "{table}");
}

/// What cannot be reported on is said in words that name the file, the place and what is there.
#[test]
fn what_is_not_there_is_said() {
    let input = golden::path("mpe/coll_n4.slog2");
    let input = input.to_str().unwrap();
    for (arguments, code, told) in [
        (
            &["--window", "1000", "2000"][..],
            2,
            "the window from 1000 s to 2000 s is outside the log, which goes from",
        ),
        (&["--window", "2", "1"], 2, "the first before the second"),
        (&["--fail-if", "speed<1"], 2, "parallel-efficiency"),
        (&["--focus", "rank 3"], 2, "expected 'region NAME'"),
        (&["--focus", "region solve"], 2, "no state 'solve'"),
        (&["--focus", "phase 3"], 2, "phase"),
        (
            &["--fail-if", "parallel-efficiency<2"],
            3,
            "parallel-efficiency is",
        ),
    ] {
        let all = [&["report"][..], arguments, &[input]].concat();
        let failed = mpitrace(&all);
        assert_eq!(failed.status.code(), Some(code), "{arguments:?}");
        let stderr = String::from_utf8_lossy(&failed.stderr).into_owned();
        assert!(stderr.contains(told), "{arguments:?}: {stderr}");
    }
    let failed = mpitrace(&["report", "no such file"]);
    assert_eq!(failed.status.code(), Some(1));
}

/// The exit code of a condition that holds is the same where nobody reads the report.
#[test]
fn a_condition_holds_where_nobody_reads_the_report() {
    let input = golden::path("mpe/coll_n4.slog2");
    for output in [&[][..], &["--json"], &["--by", "rank"], &["--html", "-"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
        command.args(["report", "--fail-if", "parallel-efficiency<2"]);
        command.args(output).arg(&input).stdout(writer);
        let ended = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(3), "{output:?}: {stderr}");
        assert!(
            stderr.contains("parallel-efficiency is"),
            "{output:?}: {stderr}"
        );
    }
}
