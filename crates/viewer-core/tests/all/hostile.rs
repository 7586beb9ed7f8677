//! Damaged files and questions that nobody would ask: answers or errors, never a panic.

use crate::common::{categories, file};
use proptest::prelude::*;
use std::io::Cursor;
use trace_formats::slog2::{
    Category, Color, LineIdMap, NewDrawable, Topology, TreeOptions, Vertex,
};
use viewer_core::{AnswerLimits, Viewer};

const QUESTIONS: &[&str] = &[
    "meta",
    "timelines",
    "timelines?timelines=map:1;fold:0",
    "timelines?timelines=sort:-busy",
    "timelines?timelines=cluster:2",
    "picture?w=50&arrows=all",
    "picture?w=50&t0=0.5&t1=0.6&mode=stack&timelines=block:3",
    "picture?w=7&t0=-1e300&t1=1e300",
    "picture?w=7&t0=1e-300&t1=2e-300&timelines=cluster:9",
    "picture?w=50&timelines=levels:0-5;depth:3",
    "at?t=0.5&timeline=4&timelines=levels:0-5;depth:3",
    "aggregate?a=sum%20dur%20by%20rank",
    "aggregate?a=count%20by%20peer%20where%20dur%3E1ms",
    "at?t=0.5&timeline=0",
    "at?t=1e308&dt=1e308&timeline=1",
    "next?timeline=0&t=0.5&dir=1",
    "next?timeline=0&t=0.5&dir=-1",
    "next?ref=0.0.0.0&dir=1",
    "ref?ref=0.0.0.0",
    "follow?ref=0.0.0.0",
    "call?id=0x1",
];

#[test]
fn a_file_of_another_format_is_not_told_to_be_damaged() {
    let refused = |bytes: &[u8]| match Viewer::new("own", bytes, AnswerLimits::default()) {
        Ok(_) => panic!("opened"),
        Err(error) => error.message,
    };
    let message = refused(b"CLOG-02.44 and what follows");
    assert!(
        message.starts_with("not an SLOG2 file") && !message.contains("damaged"),
        "{message}"
    );
    let whole = sample();
    let message = refused(&whole[..whole.len() / 2]);
    assert!(message.contains("damaged"), "{message}");
}

fn sample() -> Vec<u8> {
    let mut drawables = Vec::new();
    for nth in 0..60 {
        let (line, start) = (nth % 3, f64::from(nth) / 20.0);
        let ends = [(start, line), (start + 0.3, line)].map(|(time, line)| Vertex { time, line });
        drawables.push((nth % 6, ends.to_vec(), Vec::new()));
        let ends = [(start, line), (start + 0.1, (line + 1) % 3)];
        let ends = ends.map(|(time, line)| Vertex { time, line });
        drawables.push((6, ends.to_vec(), Vec::new()));
        drawables.push((7, vec![ends[0]], Vec::new()));
    }
    file(&categories(), 3, &mut drawables)
}

fn ask_all(file: &[u8], limits: AnswerLimits) {
    if let Ok(viewer) = Viewer::new("x", file, limits) {
        for question in QUESTIONS {
            let _ = viewer.answer(question, &|| false);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
        bytes in prop::sample::select(vec![1u64, 4000, 150 << 20]),
    ) {
        let mut file = sample();
        for (at, byte) in damage {
            let at = at.index(file.len());
            file[at] = byte;
        }
        if let Some(cut) = cut {
            file.truncate(cut.index(file.len()));
        }
        ask_all(&file, AnswerLimits { tree_bytes: bytes, ..AnswerLimits::default() });
    }

    #[test]
    fn odd_questions(question in "(picture|aggregate|timelines|at|next|ref|follow|call)\\?(timelines=[a-z0-9:;,n-]{0,30}|ref=[0-9.~!e-]{0,20}|t0=[0-9e-]{0,8}&t1=[0-9e-]{0,8}|w=[0-9]{0,12}&y0=[0-9]{0,12}&y1=[0-9]{0,12}|row=[0-9]{0,12}|%[0-9a-f]{0,3})") {
        let file = sample();
        let viewer = Viewer::new("x", &file, AnswerLimits::default()).unwrap();
        let _ = viewer.answer(&question, &|| false);
    }
}

/// A file whose drawables are of lines and categories that it does not define, with times that are no numbers among them.
#[test]
fn what_is_not_defined() {
    let mut builder =
        trace_formats::slog2::TreeBuilder::new(Cursor::new(Vec::new()), TreeOptions::default())
            .unwrap();
    let mut add = |topology, category, times: [f64; 2], lines: [i32; 2]| {
        let vertices = [0, 1].map(|nth| Vertex {
            time: times[nth],
            line: lines[nth],
        });
        let drawable = NewDrawable {
            topology,
            category,
            info: &[],
            vertices: &vertices,
        };
        builder.add(&drawable).unwrap();
    };
    add(Topology::State, 5, [0.0, 1.0], [0, 0]);
    add(Topology::State, 5, [1.0, 2.0], [i32::MAX, i32::MAX]);
    add(Topology::State, 77, [2.0, 3.0], [i32::MIN, i32::MIN]);
    let known = Category::new(5, "known".into(), Topology::State, Color::WHITE);
    let map = LineIdMap::identity(&[0]);
    let tree = builder.close().unwrap();
    let (out, _) = tree.finish(&[known], &[map]).unwrap();
    let file = out.into_inner();
    let viewer = Viewer::new("x", &file, AnswerLimits::default()).unwrap();
    let json = |question: &str| -> serde_json::Value {
        let answer = viewer.answer(question, &|| false).unwrap();
        serde_json::from_slice(&answer.body).unwrap()
    };
    let labels = json("timelines")["label"].clone();
    assert_eq!(
        labels,
        serde_json::json!(["line 0", "line -2147483648", "line 2147483647"])
    );
    let answer = viewer.answer("picture?w=3", &|| false).unwrap();
    let frame = viewer_core::picture::frame::DecodedFrame::read(&answer.body).unwrap();
    let undefined = 1 + 2;
    assert_eq!(frame.numbers(1), [1, 0, 0, 0, 0, undefined, 0, 1, 0]);
    let found = json("at?t=2.5&timeline=1");
    assert_eq!(
        (found["name"].as_str(), found["class"].as_str()),
        (Some("undefined state"), Some("other"))
    );
    assert!(
        json("meta")["lost"][0]
            .as_str()
            .unwrap()
            .starts_with("2 lines")
    );
}

/// An answer that is given up says so.
#[test]
fn cancelled() {
    let mut drawables = Vec::new();
    for nth in 0..20_000 {
        let start = f64::from(nth);
        let ends = [start, start + 0.5].map(|time| Vertex { time, line: 0 });
        drawables.push((0, ends.to_vec(), Vec::new()));
    }
    let file = file(&categories(), 1, &mut drawables);
    let viewer = Viewer::new("x", &file, AnswerLimits::default()).unwrap();
    let answer = viewer.answer("picture?w=100", &|| true).unwrap();
    assert!(!answer.exact);
    let frame = viewer_core::picture::frame::DecodedFrame::read(&answer.body).unwrap();
    assert_eq!(frame.header.flags & 3, 2, "coarse, not exact");
    assert_eq!(
        viewer
            .answer("timelines?timelines=sort:busy", &|| true)
            .unwrap_err()
            .status,
        503
    );
    // Numbers come from previews when there is no time to read all, and say so.
    for question in ["stats", "matrix", "sizes", "hits?q=dur>0.1"] {
        let answer = viewer.answer(question, &|| true).unwrap();
        assert!(!answer.exact, "{question}");
    }
    let answer = viewer.answer("stats", &|| true).unwrap();
    let stats: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(stats["categories"][0]["count"], 20_000);
    let seconds = stats["categories"][0]["incl"].as_f64().unwrap();
    assert!((9_900.0..10_100.0).contains(&seconds), "{seconds}");
    // With hardly anything that may be read, previews tell: half of the time is in states.
    let limits = AnswerLimits {
        tree_bytes: 1,
        ..AnswerLimits::default()
    };
    let viewer = Viewer::new("x", &file, limits).unwrap();
    let answer = viewer.answer("picture?w=10", &|| false).unwrap();
    let frame = viewer_core::picture::frame::DecodedFrame::read(&answer.body).unwrap();
    assert_eq!(frame.header.flags & 3, 2);
    assert_eq!(frame.header.drawables, 20_000);
    for busy in frame.numbers(2) {
        assert!((120..=136).contains(&busy), "{busy}");
    }
}
