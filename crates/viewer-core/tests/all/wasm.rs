//! A page without a server gets the same bytes as from one. Needs node, and in VIEW_WASM the file that ci/build-wasm made.

use crate::common::{Simple, categories, file};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use trace_formats::slog2::Vertex;
use viewer_core::{AnswerLimits, Viewer};

/// States nested in each other on 40 lines, with messages and events.
fn sample() -> Vec<u8> {
    let mut drawables: Vec<(i32, Vec<Vertex>, Vec<u8>)> = Vec::new();
    let mut state = |(line, kind, start, end): Simple| {
        let vertices = [start, end].map(|time| Vertex { time, line });
        drawables.push((kind, vertices.to_vec(), Vec::new()));
    };
    for line in 0..40 {
        state((line, 0, 0.0, 100.0));
        for step in 0..99 {
            let start = f64::from(step) + f64::from(line * step % 17) / 20.0;
            state((line, 1 + step % 5, start, start + 0.7));
        }
    }
    for step in 0..500 {
        let time = f64::from(step) / 5.0;
        let ends = [(time, step % 40), (time + 0.1, (step * 7) % 40)];
        let ends = ends.map(|(time, line)| Vertex { time, line });
        drawables.push((6, ends.to_vec(), Vec::new()));
        drawables.push((7, vec![ends[0]], Vec::new()));
    }
    file(&categories(), 40, &mut drawables)
}

const QUESTIONS: &[&str] = &[
    "meta",
    "timelines",
    "timelines?timelines=cluster:3",
    "timelines?timelines=sort:-kind:2;pin:7",
    "picture?w=300",
    "picture?w=300&mode=stack&timelines=block:4&arrows=all",
    "picture?w=1000&t0=3.25&t1=4.5&arrows=worst&max=100000",
    "picture?w=77&mode=rare&hide=0,3&y0=4&y1=20",
    "at?t=50.5&timeline=3",
    "next?timeline=3&t=50.5&dir=1",
    "next?timeline=3&t=50.5&dir=-1",
    "ref?ref=3.0.0.0",
    "follow?ref=3.0.0.0&dir=1",
    "call?id=0x5",
    "stats?t0=3&t1=50",
    "matrix",
    "sizes",
    "events?limit=30&sort=dur",
    "search?q=dur%3E0.1s&from=10&dir=1",
    "hits?q=state&bins=20",
    "aggregate?a=sum%20dur%20by%20rank%20where%20state",
    "picture?w=300&timelines=levels:3;depth:4",
    "summary",
    "waits",
    "csv?what=stats",
    "picture?w=0",
    "picture?mode=x",
    "nothing",
];

#[test]
fn the_same_answers_as_from_a_server() {
    let Some(answers) = std::env::var_os("VIEW_WASM") else {
        test_support::skip("VIEW_WASM does not name what ci/build-wasm made");
        return;
    };
    let sample = sample();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let trace = folder.join("a.slog2");
    std::fs::write(&trace, &sample).unwrap();
    let viewer = Viewer::new("a.slog2", &sample, AnswerLimits::default()).unwrap();
    viewer.answer("waits", &|| false).unwrap();
    let waits = viewer.waits().unwrap();
    let whole = waits.encode(viewer.trace(), f64::NEG_INFINITY, f64::INFINITY);
    let waits = folder.join("a.waits");
    std::fs::write(&waits, whole).unwrap();
    let names = folder.join("a.names");
    let told = viewer.names(&|| false).encode().unwrap();
    std::fs::write(&names, told).unwrap();
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = own.join("../mpitrace/src/view/page.js");
    let output = run_node(
        "wasm.mjs",
        &[own.join("../..").join(answers), script, trace, names, waits],
        QUESTIONS,
    );
    assert_same(&viewer, QUESTIONS, &output);
}

/// Runs a script of these tests in node, which is given the questions, a line each. What it prints.
fn run_node(script: &str, arguments: &[PathBuf], questions: &[&str]) -> String {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut node = Command::new("node")
        .arg(own.join("tests").join(script))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node runs");
    let input = node.stdin.take();
    input
        .unwrap()
        .write_all(questions.join("\n").as_bytes())
        .unwrap();
    let output = node.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// Compares answers, of each line the status and the body in hexadecimal, with those of a viewer.
fn assert_same(viewer: &Viewer<'_>, questions: &[&str], output: &str) {
    assert_eq!(output.lines().count(), questions.len());
    for (question, line) in questions.iter().zip(output.lines()) {
        let (status, body) = match viewer.answer(question, &|| false) {
            Ok(answer) => (200, answer.body),
            Err(error) => (error.status, error.message.into_bytes()),
        };
        let hex: String = body.iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(line == format!("{status} {hex}"), "{question}: {status}");
    }
}

#[test]
fn a_file_that_is_read_piece_by_piece_gives_the_same_answers() {
    let Some(answers) = std::env::var_os("VIEW_WASM") else {
        test_support::skip("VIEW_WASM does not name what ci/build-wasm made");
        return;
    };
    let sample = sample();
    let trace = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pieces.slog2");
    std::fs::write(&trace, &sample).unwrap();
    let viewer = Viewer::new("a.slog2", &sample, AnswerLimits::default()).unwrap();
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let paths = [
        own.join("../..").join(answers),
        own.join("../mpitrace/src/view/file_worker.js"),
        trace,
    ];
    let output = run_node("wasm_file.mjs", &paths, QUESTIONS);
    let (same, read) = output.trim_end().rsplit_once('\n').unwrap();
    assert_same(&viewer, QUESTIONS, same);
    // All of it is asked for, and nothing is read for each question anew.
    let read: usize = read.parse().unwrap();
    assert!(read <= 2 * sample.len(), "{read} of {}", sample.len());
}
