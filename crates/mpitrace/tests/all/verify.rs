//! `verify`: what it prints of golden traces, and of what is no trace.

use crate::json_fields::{documented, fields};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::{Command, Output};
use test_support::golden;

fn mpitrace(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    command.args(arguments).output().unwrap()
}

/// Every field that the report, a finding or a call can have, and every kind of finding, is in the page about verify.
#[test]
fn the_json_is_documented() {
    use analysis::correctness::{CorrectnessReport, Finding, FindingKind, FoundCall};
    let page = include_str!("../../../../docs/user/verify.md");
    let finding = |kind| Finding {
        kind,
        message: String::new(),
        communicator: None,
        number: None,
        object: None,
        tag: None,
        error: None,
        count: 1,
        calls: vec![FoundCall::default()],
    };
    let report = CorrectnessReport {
        findings: FindingKind::ALL.map(finding).into(),
        ..CorrectnessReport::default()
    };
    let json = serde_json::to_value(&report).expect("JSON");
    let mut found = BTreeSet::from(["trace".to_owned()]);
    fields(&json, &mut found);
    let kinds = json["findings"].as_array().expect("findings");
    found.extend(
        kinds
            .iter()
            .filter_map(|it| Some(it["kind"].as_str()?.to_owned())),
    );
    assert!(found.contains("waits_for") && found.contains("unreceived-message"));
    documented(page, "verify.md", &found);
}

#[test]
fn a_trace_without_faults_has_no_findings() {
    let input = golden::path("mpe/coll_n4.slog2");
    let output = mpitrace(&["verify", "--json", input.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["findings"], serde_json::json!([]));
    assert_eq!(report["ranks"], 4);
    assert!(report["operations"].as_u64().unwrap() > 0, "{report:#}");
    let text = mpitrace(&["verify", input.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(
        text.contains("Nothing wrong was found.") && text.contains("Not checked"),
        "{text}"
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn what_cannot_be_read_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("libtrace.x.0.1.blocks");
    std::fs::write(&broken, b"no block file").unwrap();
    for (path, told) in [
        ("no such file".to_owned(), "no such file"),
        (
            folder.path().display().to_string(),
            "not a libtrace block file",
        ),
    ] {
        let output = mpitrace(&["verify", &path]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains(told), "{stderr}");
    }
    assert_eq!(mpitrace(&["verify"]).status.code(), Some(2));
}

/// Calls on several communicators look like calls on one in these formats, which must not become findings.
#[test]
fn collective_calls_are_left_out_where_communicators_are_not_told() {
    let folder = tempfile::tempdir().unwrap();
    let input = golden::path("mpe/coll_n4.slog2");
    for name in ["x.alog", "x.clog", "x.slog"] {
        let made = folder.path().join(name);
        let made = made.to_str().unwrap();
        let converted = mpitrace(&["convert", "-q", input.to_str().unwrap(), made]);
        assert!(converted.status.success(), "{converted:?}");
        let output = mpitrace(&["verify", "--json", made]);
        assert_eq!(output.status.code(), Some(0), "{name}: {output:?}");
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let not_checked = report["not_checked"].to_string();
        let told = "does not tell on which communicator a call was made";
        assert!(not_checked.contains(told), "{name}: {not_checked}");
        assert_eq!(report["operations"], 0);
    }
}

/// The folder stands for the archive, and communicators are those of the trace that it was made of.
#[test]
fn an_archive_is_verified_by_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let input = golden::path("mpe/coll_n4.slog2");
    let input = input.to_str().unwrap();
    let made = folder.path().join("x.otf2");
    let made = made.to_str().unwrap();
    if !mpitrace(&["convert", "-q", input, made]).status.success() {
        return test_support::skip("the OTF2 library is not installed");
    }
    let operations = |path: &str| {
        let output = mpitrace(&["verify", "--json", path]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        report["operations"].clone()
    };
    assert_eq!(operations(made), operations(input));
}

/// As in `mpitrace verify x | head -1`: the exit code is that of what was found, whether or not somebody reads the words.
#[test]
fn the_exit_code_stands_where_nobody_reads() {
    let folder = tempfile::tempdir().unwrap();
    let case = golden::path("dumpi/coll-n2-default");
    let mut meta = None;
    for file in std::fs::read_dir(case).unwrap() {
        let path = file.unwrap().path();
        let to = folder.path().join(path.file_name().unwrap());
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("bin") if path.to_string_lossy().contains("-0001.") => {
                let text = golden::text(path.with_extension("txt"));
                let from = to.with_extension("txt");
                std::fs::write(&from, text.replace("int root=0", "int root=1")).unwrap();
                let names = [from, to].map(|path| path.display().to_string());
                let converted = mpitrace(&["convert", "-q", &names[0], &names[1]]);
                assert!(converted.status.success(), "{converted:?}");
            }
            Some("bin") => _ = std::fs::copy(&path, &to).unwrap(),
            Some("meta") => {
                std::fs::copy(&path, &to).unwrap();
                meta = Some(to.display().to_string());
            }
            _ => {}
        }
    }
    let bad = folder.path().join("bad.slog2").display().to_string();
    std::fs::write(&bad, "SLOG 2").unwrap();
    for (command, file, code) in [
        ("verify", &meta.unwrap(), 3),
        ("check", &bad, 1),
        ("info", &bad, 1),
    ] {
        for json in [&["--json"][..], &[]] {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            let mut run = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
            let run = run.arg(command).args(json).arg(file).stdout(writer);
            assert_eq!(run.status().unwrap().code(), Some(code), "{command}");
        }
    }
}
