//! `mpitrace settings`: which settings are in force, and where each comes from.

use serde_json::Value;
use std::process::{Command, Output};

/// Runs the command in a folder with these files and no variables but these.
fn settings(files: &[(&str, &str)], variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    command.arg("settings").args(arguments).env_clear();
    command.env("XDG_CONFIG_HOME", folder.path());
    command.envs(variables.iter().copied());
    command.current_dir(folder.path()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn each_setting_is_shown_with_its_source() {
    let files = [
        ("dumpi.conf", "outputs slog2\nMPI_Send disable\n"),
        ("libtrace.conf", "\noutputs none\nleaf 4K\n"),
    ];
    let variables = [("TRACE_QUIET", "yes"), ("MPE_SYNC_FREQUENCY", "5")];
    let shown = settings(&files, &variables, &["--changed", "--json"]);
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    let json: Value = serde_json::from_slice(&shown.stdout).unwrap();
    let user = json["files"][1]["path"].as_str().unwrap().to_owned();
    assert!(user.ends_with("/libtrace.conf"), "{json}");
    assert_eq!(json["files"][1]["state"], "read");
    assert_eq!(json["files"][2]["path"], "/etc/libtrace.conf");
    let found = json["settings"].as_object().unwrap();
    let expected = [
        ("outputs", "slog2", "dumpi.conf:1".to_owned()),
        ("MPI_Send", "disable", "dumpi.conf:2".to_owned()),
        ("leaf", "4K", format!("{user}:3")),
        ("quiet", "yes", "TRACE_QUIET".to_owned()),
        ("sync-probes", "5", "MPE_SYNC_FREQUENCY".to_owned()),
    ];
    for (key, value, from) in expected {
        assert_eq!(found[key]["value"], value, "{key}");
        assert_eq!(found[key]["from"], from.as_str(), "{key}");
    }

    let shown = settings(&files, &variables, &["leaf", "rank-bits"]);
    let shown = text(&shown.stdout);
    let rows: Vec<Vec<&str>> = shown
        .lines()
        .map(|l| l.split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), 3, "{shown}");
    assert_eq!(rows[1], ["rank-bits", "24", "default"]);
    assert_eq!(rows[2][..2], ["leaf", "4K"]);
    assert!(rows[2][2].ends_with("/libtrace.conf:3"), "{shown}");
}

#[test]
fn faults_are_told_and_the_rest_is_shown() {
    let shown = settings(&[("dumpi.conf", "rank-bits many\nleaf 4K")], &[], &["leaf"]);
    assert_eq!(shown.status.code(), Some(1));
    assert!(text(&shown.stdout).contains("dumpi.conf:2"));
    assert_eq!(
        text(&shown.stderr),
        "mpitrace: 1 fault in the settings:\n  dumpi.conf:1: rank-bits 'many': allowed are 8 to 32; using 24\n"
    );
    let shown = settings(&[], &[], &["rank-bit"]);
    assert_eq!(shown.status.code(), Some(2));
    assert_eq!(
        text(&shown.stderr),
        "mpitrace: no setting has the key rank-bit; did you mean rank-bits?\n"
    );
}
