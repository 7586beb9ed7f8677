//! `report` and `compare`: what they print of golden traces, and of what is no trace.

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

/// All names of fields in a JSON value.
fn fields(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, inner) in object {
                found.insert(name.clone());
                fields(inner, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| fields(item, found)),
        _ => {}
    }
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
    for name in found {
        assert!(
            page.contains(&format!("`{name}`")),
            "{name} is not in report.md"
        );
    }
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

/// What cannot be reported on is said in words that name the file, the place and what is there.
#[test]
fn what_is_not_there_is_said() {
    let input = golden::path("mpe/coll_n4.slog2");
    let input = input.to_str().unwrap();
    for (arguments, code, told) in [
        (
            &["--window", "1000", "2000"][..],
            1,
            "no time in the window; the trace goes from",
        ),
        (&["--window", "2", "1"], 2, "the first before the second"),
        (&["--fail-if", "speed<1"], 2, "parallel-efficiency"),
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
