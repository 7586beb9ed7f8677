//! A timeline in full: its call depths as timelines, in pictures and under the cursor.

use crate::common::of_states;
use serde_json::{Value, json};
use viewer_core::picture::frame::{DecodedFrame, section};
use viewer_core::{AnswerLimits, Viewer};

/// Line 0: state 0 calls state 1 twice, the second of which calls state 2, in which state 3 begins and ends at once with it. Line 1: state 4.
fn sample() -> Vec<u8> {
    of_states(
        2,
        &[
            (0, 0, 0.0, 10.0),
            (0, 1, 1.0, 2.0),
            (0, 1, 4.0, 8.0),
            (0, 2, 5.0, 7.0),
            (0, 3, 5.0, 7.0),
            (1, 4, 0.0, 9.0),
        ],
    )
}

fn ask(viewer: &Viewer<'_>, question: &str) -> Value {
    let answer = viewer.answer(question, &|| false);
    let answer = answer.unwrap_or_else(|error| panic!("{question}: {error}"));
    serde_json::from_slice(&answer.body).unwrap()
}

/// Timeline, depth on it, kind and start of each state of a picture.
fn states(viewer: &Viewer<'_>, question: &str) -> Vec<(u32, u16, u16, f32)> {
    let answer = viewer.answer(question, &|| false).unwrap();
    let frame = DecodedFrame::read(&answer.body).unwrap();
    let [start, _, timeline, kind, depth] = section::STATES;
    let whole = [timeline, depth, kind].map(|id| frame.numbers(id));
    let mut found: Vec<(u32, u16, u16, f32)> = (frame.reals(start).into_iter().enumerate())
        .map(|(nth, start)| {
            let [timeline, depth, kind] = [0, 1, 2].map(|of| whole[of][nth]);
            (timeline, depth as u16, kind as u16, start)
        })
        .collect();
    found.sort_by(|a, b| a.partial_cmp(b).unwrap());
    found
}

#[test]
fn a_picture_has_a_timeline_for_each_call_depth() {
    let file = sample();
    let viewer = Viewer::new("x", &file, AnswerLimits::default()).unwrap();
    let rows = ask(&viewer, "timelines?timelines=levels:0;depth:5");
    assert_eq!(rows["spec"], "levels:0;depth:5");
    assert_eq!(
        (&rows["count"], &rows["depth"]),
        (&json!(5), &json!([0, 1, 2, 3, 4]))
    );
    assert_eq!(rows["rank"][0], 0);
    let expected = [
        (0, 0, 0, 0.0),
        (1, 0, 1, 1.0),
        (1, 0, 1, 4.0),
        (2, 0, 2, 5.0),
        (3, 0, 3, 5.0),
    ];
    let of = |spec: &str, more: &str| {
        states(
            &viewer,
            &format!("picture?t0=0&t1=10&w=20&timelines={spec}{more}"),
        )
    };
    assert_eq!(of("levels:0;depth:5", ""), expected);
    // Of a part of its timelines the whole thread is given.
    assert_eq!(of("levels:0;depth:5", "&y0=2&y1=3"), expected);
    // What is deeper than the last one is nested on it.
    let nested = [
        (0, 0, 0, 0.0),
        (1, 0, 1, 1.0),
        (1, 0, 1, 4.0),
        (1, 1, 2, 5.0),
        (1, 2, 3, 5.0),
    ];
    assert_eq!(of("levels:0;depth:2", ""), nested);
    // Two threads; only one of them is asked for.
    let both = [&expected[..], &[(5, 0, 4, 0.0)]].concat();
    assert_eq!(of("levels:0-1;depth:5", ""), both);
    assert_eq!(of("levels:0-1;depth:5", "&y0=5&y1=6"), [(5, 0, 4, 0.0)]);
    // A kind that is hidden is no call depth.
    let without = [(0, 0, 0, 0.0), (1, 0, 2, 5.0), (2, 0, 3, 5.0)];
    assert_eq!(of("levels:0;depth:5", "&hide=1"), without);
}

#[test]
fn cells_are_those_of_each_call_depth() {
    let file = sample();
    let viewer = Viewer::new("x", &file, AnswerLimits::default()).unwrap();
    let answer = viewer.answer(
        "picture?t0=0&t1=10&w=10&max=0&timelines=levels:0;depth:3",
        &|| false,
    );
    let frame = answer.unwrap().body;
    let frame = DecodedFrame::read(&frame).unwrap();
    let cells = frame.numbers(section::CATEGORY);
    assert_eq!(cells[..10], [1; 10]);
    assert_eq!(cells[10..20], [0, 2, 0, 0, 2, 2, 2, 2, 0, 0]);
    assert_eq!(cells[20..], [0, 0, 0, 0, 0, 4, 4, 0, 0, 0]);
}

#[test]
fn under_the_cursor_is_the_state_of_that_call_depth() {
    let file = sample();
    let viewer = Viewer::new("x", &file, AnswerLimits::default()).unwrap();
    let at = |timeline: u32, t: f64, depth: u32| {
        let question =
            format!("at?t={t}&timeline={timeline}&dt=0.1&timelines=levels:0-1;depth:{depth}");
        ask(&viewer, &question)["name"].clone()
    };
    let names: Vec<Value> = (0..5).map(|level| at(level, 6.0, 5)).collect();
    assert_eq!(
        names,
        [
            json!("state 0"),
            json!("state 1"),
            json!("state 2"),
            json!("state 3"),
            Value::Null
        ]
    );
    assert_eq!(at(1, 6.0, 2), "state 3");
    assert_eq!(at(5, 6.0, 5), "state 4");
    // Nearly met, and not.
    assert_eq!(
        (at(1, 2.05, 5), at(1, 3.0, 5)),
        (json!("state 1"), Value::Null)
    );
}

#[test]
fn what_is_no_timeline_in_full_is_said() {
    let file = sample();
    let viewer = Viewer::new("x", &file, AnswerLimits::default()).unwrap();
    for (spec, expected) in [
        (
            "levels:7",
            "timelines=levels:7: expected some of the timelines 0 to 1",
        ),
        ("levels:x", "x is no key"),
        ("levels:0;depth:y", "expected a number"),
        (
            "levels:4294967295;depth:4294967295",
            "expected some of the timelines 0 to 1",
        ),
    ] {
        let error = viewer
            .answer(&format!("timelines?timelines={spec}"), &|| false)
            .unwrap_err();
        assert_eq!(error.status, 400, "{spec}");
        assert!(
            error.message.contains(expected),
            "{spec}: {}",
            error.message
        );
    }
    // No more than some call depths, however many are asked for.
    let rows = ask(&viewer, "timelines?timelines=levels:0;depth:4000000000");
    assert_eq!(rows["count"], 64);
}
