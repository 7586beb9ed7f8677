//! The waits that pictures of the viewer are given are those that `mpitrace report` tells of the same calls.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use test_support::golden;
use viewer_core::picture::frame::{DecodedFrame, section};
use viewer_core::{AnswerLimits, ApiQuery, Viewer};

/// A wait in a picture: the lines of its timeline, function, begin and end in seconds.
type ShownWait = (Vec<i32>, String, f64, f64);

fn report(path: &Path) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    let output = command
        .args(["report", "--json"])
        .arg(path)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {stderr}", path.display());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// All waits of a trace, as the picture of the whole of it has them.
fn shown(viewer: &Viewer<'_>) -> Vec<ShownWait> {
    viewer.answer("waits", &|| false).unwrap();
    let timelines = ApiQuery::parse("timelines").unwrap();
    let layout = viewer.layout(&timelines, &|| false).unwrap();
    let answer = viewer
        .answer("picture?w=1000&max=1000000", &|| false)
        .unwrap();
    let frame = DecodedFrame::read(&answer.body).unwrap();
    let [_, _, timelines, kinds, _] = section::STATES;
    let (timelines, kinds) = (frame.numbers(timelines), frame.numbers(kinds));
    let [states, begins, lengths] = section::WAITS;
    let (begins, lengths) = (frame.reals(begins), frame.reals(lengths));
    let states = frame.numbers(states).into_iter().enumerate();
    let lines = |timeline: u32| {
        let lines = layout.lines_of(timeline as usize).iter();
        let ids = lines.map(|&line| viewer.trace().lines()[line as usize].line.id);
        ids.collect::<Vec<i32>>()
    };
    states
        .map(|(nth, state)| {
            let kind = &viewer.trace().kinds()[kinds[state as usize] as usize];
            let from = frame.header.window[0] + f64::from(begins[nth]);
            let to = frame.header.window[0] + f64::from(begins[nth] + lengths[nth]);
            (
                lines(timelines[state as usize]),
                kind.name.clone(),
                from,
                to,
            )
        })
        .collect()
}

/// Waits by function: how many, and seconds.
fn sums<'s>(waits: impl Iterator<Item = (&'s str, u64, f64)>) -> BTreeMap<&'s str, (u64, f64)> {
    let mut sums: BTreeMap<&str, (u64, f64)> = BTreeMap::new();
    for (name, count, seconds) in waits {
        let sum = sums.entry(name).or_default();
        sum.0 += count;
        sum.1 += seconds;
    }
    sums
}

/// The critical path is on each rank as long as the report says.
fn assert_path(viewer: &Viewer<'_>, report: &Value, file: &Path) {
    let answer = viewer.answer("path?w=20000", &|| false).unwrap();
    let answer: Value = serde_json::from_slice(&answer.body).unwrap();
    let numbers = |name: &str| {
        let list = answer[name].as_array().unwrap().iter();
        list.map(|value| value.as_f64().unwrap())
            .collect::<Vec<f64>>()
    };
    let (from, to, timelines) = (numbers("from"), numbers("to"), numbers("timeline"));
    let mut found: BTreeMap<i64, f64> = BTreeMap::new();
    for ((from, to), timeline) in from.iter().zip(&to).zip(timelines) {
        *found.entry(timeline as i64).or_default() += to - from;
    }
    let mut found: Vec<f64> = found.into_values().collect();
    let mut told: Vec<f64> = (report["path_ranks"].as_array().unwrap().iter())
        .map(|rank| rank["seconds"].as_f64().unwrap())
        .collect();
    found.sort_by(f64::total_cmp);
    told.sort_by(f64::total_cmp);
    let is_same = found.len() == told.len()
        && found
            .iter()
            .zip(&told)
            .all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + b));
    assert!(
        is_same,
        "{}: {found:?}, in the report {told:?}",
        file.display()
    );
}

#[test]
fn pictures_have_the_waits_of_the_report() {
    let folder = golden::path("mpe");
    let (mut traces, mut waits) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "slog2") {
            continue;
        }
        let report = report(&path);
        let trace = std::fs::read(&path).unwrap();
        let viewer = Viewer::new("own", &trace, AnswerLimits::default()).unwrap();
        let found = shown(&viewer);
        let groups = report["waits"].as_array().unwrap();
        let of_report = groups.iter().map(|group| {
            let count = group["count"].as_u64().unwrap();
            (
                group["call"].as_str().unwrap(),
                count,
                group["seconds"].as_f64().unwrap(),
            )
        });
        let of_report = sums(of_report);
        let of_picture = sums(
            found
                .iter()
                .map(|(_, name, from, to)| (name.as_str(), 1, to - from)),
        );
        // Pictures have times in 32 bits.
        let near = |a: f64, b: f64, times: f64| (a - b).abs() < 2e-6 * times * (1.0 + b);
        assert!(
            of_picture.keys().eq(of_report.keys())
                && (of_picture.values().zip(of_report.values()))
                    .all(|(a, b)| a.0 == b.0 && near(a.1, b.1, b.0 as f64)),
            "{}: {of_picture:?}, in the report {of_report:?}",
            path.display()
        );
        for group in groups {
            for place in [&group["first"], &group["longest"]] {
                let number = |name: &str| place[name].as_f64().unwrap();
                let is_it = |(lines, name, from, to): &ShownWait| {
                    (lines.iter().any(|line| place["line"] == *line) && group["call"] == **name)
                        && near(*from, number("from"), 1.0)
                        && near(*to, number("to"), 1.0)
                };
                assert!(
                    found.iter().any(is_it),
                    "{}: {group}, {found:?}",
                    path.display()
                );
            }
        }
        assert_path(&viewer, &report, &path);
        traces += 1;
        waits += found.len();
    }
    assert!(
        traces > 20 && waits > 100,
        "{waits} waits in {traces} traces"
    );
}
