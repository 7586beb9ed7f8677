//! Traces for Perfetto and Chrome on the command line. What is in them is compared where the writers are, in `trace-formats`.

use crate::exported::{fails, mpitrace, of_each_format, stderr, succeeds, synth};
use std::fs;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("temporary folder");
    synth(folder.path(), "run.slog2");
    folder
}

/// Begins of slices whose line has this text, in Chrome's JSON.
fn slices(json: &str, has: &str) -> usize {
    let begins = json
        .lines()
        .filter(|line| line.starts_with("{\"ph\":\"B\""));
    begins.filter(|line| line.contains(has)).count()
}

#[test]
fn slices_and_flows_are_as_many_as_info_says() {
    let folder = folder();
    let at = folder.path();
    let info = mpitrace(at, &["info", "--json", "run.slog2"]);
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).expect("JSON");
    let count = |what: &str| info[0][what].as_u64().expect(what) as usize;
    let printed = stderr(&succeeds(at, &["convert", "run.slog2", "run.json"]));
    assert!(printed.contains("run.json: written"), "{printed}");
    assert!(printed.contains("x colour of a category"), "{printed}");
    let json = fs::read_to_string(at.join("run.json")).expect("written");
    let (starts, ends) = (
        slices(&json, "\"flow_out\":true"),
        slices(&json, "\"flow_in\":true"),
    );
    assert_eq!((starts, ends), (count("arrows"), count("arrows")));
    let others = slices(&json, "") - starts - ends;
    assert_eq!(others, count("states") + count("events"));
    let stats = mpitrace(
        at,
        &["stats", "--by", "rank", "--format", "csv", "run.slog2"],
    );
    let stats = String::from_utf8(stats.stdout).expect("text");
    let mut ranks = 0;
    for row in stats.lines().skip(1) {
        let mut columns = row.split(',').map(|column| column.parse::<usize>());
        let [Some(Ok(rank)), Some(Ok(states))] = [columns.next(), columns.next()] else {
            continue;
        };
        let pid = format!("\"pid\":{},", rank + 1);
        let process = format!("\"process_name\",{pid}\"args\":{{\"name\":\"rank {rank}\"}}");
        assert!(json.contains(&process), "{process}");
        let of_rank = |line: &&str| line.starts_with("{\"ph\":\"B\"") && line.contains(&pid);
        let is_state =
            |line: &&str| !line.contains("\"flow_") && !line.contains("\"checkpoint written\"");
        let found = json.lines().filter(of_rank).filter(is_state).count();
        assert_eq!(found, states, "rank {rank}");
        ranks += 1;
    }
    assert_eq!(ranks, 3, "{stats}");
}

#[test]
fn every_format_becomes_a_perfetto_trace() {
    let folder = folder();
    let at = folder.path();
    for (nth, name) in of_each_format(at).into_iter().enumerate() {
        let to = format!("{nth}.pftrace");
        succeeds(at, &["convert", "-q", name, &to]);
        let bytes = fs::read(at.join(&to)).expect("written");
        assert!(trace_formats::perfetto::recognises(&bytes), "{name}");
        let has = |text: &str| {
            bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
        };
        assert!(has("rank 2") && has("MPI_Allreduce"), "{name}");
    }
    // Every command that writes drawables can.
    succeeds(
        at,
        &["filter", "-q", "-r", "1", "run.slog2", "part.pftrace"],
    );
    synth(at, "synth.pftrace");
}

#[test]
fn stdout_and_both_endings_have_the_same_bytes() {
    let folder = folder();
    let at = folder.path();
    succeeds(at, &["convert", "-q", "run.slog2", "run.pftrace"]);
    succeeds(at, &["convert", "-q", "run.slog2", "run.perfetto-trace"]);
    let expected = fs::read(at.join("run.pftrace")).expect("written");
    assert_eq!(
        fs::read(at.join("run.perfetto-trace")).expect("written"),
        expected
    );
    let output = mpitrace(at, &["convert", "-q", "--to", "perfetto", "run.slog2", "-"]);
    assert!(output.status.success() && output.stdout == expected);
    succeeds(at, &["convert", "-q", "run.slog2", "run.chrome.json"]);
    let expected = fs::read(at.join("run.chrome.json")).expect("written");
    let output = mpitrace(at, &["convert", "-q", "--to", "chrome", "run.slog2", "-"]);
    assert!(output.status.success() && output.stdout == expected);
}

#[test]
fn nothing_is_written_over_or_left_behind() {
    let folder = folder();
    let at = folder.path();
    for (name, to) in [("x.pftrace", "perfetto"), ("x.json", "chrome")] {
        fs::write(at.join(name), "precious").expect("written");
        fails(at, &["convert", "run.slog2", name], 2, "exists already");
        assert_eq!(fs::read(at.join(name)).expect("there"), b"precious");
        succeeds(at, &["convert", "-q", "--force", "run.slog2", name]);
        assert_ne!(fs::read(at.join(name)).expect("there"), b"precious");
        fails(
            at,
            &["convert", "-q", "--to", to, "run.slog2", "/dev/full"],
            1,
            "/dev/full: ",
        );
        fails(
            at,
            &["convert", "-q", "run.slog2", &format!("missing/{name}")],
            1,
            "missing/",
        );
    }
    // Of a damaged trace there is no half of a file.
    let mut bytes = fs::read(at.join("run.slog2")).expect("there");
    let half = bytes.len() / 2;
    bytes[100..half].fill(0xff);
    fs::write(at.join("bad.slog2"), bytes).expect("written");
    fails(
        at,
        &["convert", "-q", "bad.slog2", "bad.pftrace"],
        1,
        "bad.slog2: ",
    );
    let names = fs::read_dir(at)
        .expect("folder")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    assert_eq!(names, ["bad.slog2", "run.slog2", "x.json", "x.pftrace"]);
}

#[test]
fn names_that_tell_no_format_are_refused_with_those_that_do() {
    let folder = folder();
    let at = folder.path();
    for name in ["run.protobuf", "run"] {
        fails(at, &["convert", "run.slog2", name], 2, ".clog2, .slog2");
        fails(
            at,
            &["convert", "run.slog2", name],
            2,
            ".pftrace, .perfetto-trace, .json",
        );
    }
    fails(
        at,
        &["convert", "--leaf", "1k", "run.slog2", "x.pftrace"],
        2,
        "a Perfetto file",
    );
}

#[test]
fn they_are_written_and_not_read() {
    let folder = folder();
    let at = folder.path();
    for name in ["x.pftrace", "x.json"] {
        succeeds(at, &["convert", "-q", "run.slog2", name]);
        for command in [
            &["print", name][..],
            &["info", name],
            &["check", name],
            &["convert", name, "y.slog2"],
        ] {
            let output = mpitrace(at, command);
            let printed = stderr(&output) + &String::from_utf8_lossy(&output.stdout);
            assert_eq!(output.status.code(), Some(1), "{command:?}: {printed}");
            let expected = "which mpitrace writes and does not read";
            assert!(printed.contains(expected), "{command:?}: {printed}");
        }
    }
}
