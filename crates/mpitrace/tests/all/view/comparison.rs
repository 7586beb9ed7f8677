//! What the viewer says of two traces is what `mpitrace compare` says of them.

use super::server::Server;
use serde_json::Value;
use std::process::Command;
use test_support::golden;

/// What `mpitrace compare` prints of two traces.
fn compared(arguments: &[&str], traces: [&str; 2]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    let output = command.arg("compare").args(arguments).args(traces).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

#[test]
fn traces_of_one_name_are_told_apart_by_their_folders() {
    let folder = tempfile::tempdir().unwrap();
    let trace = |name: &str, of: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir(&path).unwrap();
        let path = path.join("run.slog2");
        std::fs::copy(golden::path(of), &path).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (old, new) = (
        trace("old", "mpe/ring_n4.slog2"),
        trace("new", "mpe/coll_n4.slog2"),
    );
    let server = Server::start(&[&old, &new, "-q"]);
    let answer = server.get("t/0/compare?with=1").json();
    let words = answer["words"].as_str().unwrap();
    assert!(
        words.starts_with("From old/run.slog2 to new/run.slog2: "),
        "{words}"
    );
    assert_eq!(server.get("t/1/meta").json()["name"], "new/run.slog2");
}

#[test]
fn a_comparison_is_that_of_the_command() {
    let paths = ["mpe/ring_n4.slog2", "mpe/coll_n4.slog2"].map(golden::path);
    let traces = [paths[0].to_str().unwrap(), paths[1].to_str().unwrap()];
    let server = Server::start(&[traces[0], traces[1], traces[0], "-q"]);
    let answer = server.get("t/0/compare?with=1").json();
    let words = answer["words"].as_str().unwrap();
    let found = words.strip_prefix("From ring_n4.slog2 to coll_n4.slog2: ");
    let printed = compared(&["--wide"], traces);
    let printed: Vec<&str> = printed.split_whitespace().collect();
    assert!(printed.join(" ").contains(found.unwrap()), "{words}");
    let json: Value = serde_json::from_str(&compared(&["--json"], traces)).unwrap();
    let mut rows = 0;
    let names = ["changes", "regions", "ranks"].into_iter();
    let names = names.filter(|name| json[name].as_array().is_some_and(|rows| !rows.is_empty()));
    for (table, name) in names.enumerate() {
        let found = answer["tables"][table]["rows"].as_array().unwrap();
        let expected = json[name].as_array().unwrap();
        // The panel has the rows of the text.
        assert_eq!(found.len(), expected.len().min(15), "{name}");
        for (found, expected) in found.iter().zip(expected) {
            for (field, of) in [
                ("before", "before_s"),
                ("after", "after_s"),
                ("change", "change_s"),
                ("ratio", "ratio"),
            ] {
                assert_eq!(found[field], expected[of], "{name}: {found}");
            }
        }
        rows += found.len();
    }
    assert!(rows > 4, "{answer}");
    // A trace and itself.
    let same = server.get("t/0/compare?with=2").json();
    assert!(
        same["words"].as_str().unwrap().ends_with(": as fast."),
        "{same}"
    );
    for table in same["tables"].as_array().unwrap() {
        assert_eq!(table["rows"], serde_json::json!([]));
    }
    for (question, status) in [
        ("compare", 404),
        ("compare?with=3", 404),
        ("compare?with=x", 400),
    ] {
        assert_eq!(
            server.get(&format!("t/0/{question}")).status,
            status,
            "{question}"
        );
    }
}
