//! Histograms of durations, and the searches that list what is in their classes.

use crate::common::of_states;
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use viewer_core::{AnswerLimits, Viewer};

fn json(viewer: &Viewer<'_>, question: &str) -> Value {
    let answer = viewer.answer(question, &|| false).unwrap();
    serde_json::from_slice(&answer.body).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap().iter();
    list.map(|number| number.as_f64().unwrap()).collect()
}

/// Seconds that states of kind 0, the first that the trace has, last, each beginning at a second of its own on line 0; those of kind 1 are on line 1.
const LASTS: [f64; 6] = [0.0, 1.1e-6, 1.2e-6, 1.3e-6, 0.11, 0.55];

fn file() -> Vec<u8> {
    let mut states = Vec::new();
    for (nth, seconds) in LASTS.into_iter().enumerate() {
        let at = nth as f64;
        states.push((0, 1, at, at + seconds));
        states.push((1, 2, at, at + 0.25));
    }
    of_states(2, &states)
}

#[test]
fn classes_have_what_lasts_so_long() {
    let file = file();
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    let found = json(&viewer, "durations?kind=0");
    assert_eq!(
        (&found["exact"], &found["is_whole"]),
        (&true.into(), &true.into())
    );
    let (from, count) = (numbers(&found["from"]), numbers(&found["count"]));
    assert_eq!((from.len(), count.len()), (count.len() + 1, from.len() - 1));
    assert_eq!((from[0], from[from.len() - 1]), (0.0, 0.63));
    let filled: Vec<(f64, f64)> = from
        .iter()
        .copied()
        .zip(count)
        .filter(|(_, count)| *count > 0.0)
        .collect();
    // 1.1 and 1.2 µs are in the class from 1 µs, 1.3 µs is in the next one.
    let one_and_a_quarter = 1.25 / 1e6;
    assert_eq!(
        filled,
        [
            (0.0, 1.0),
            (1.0 / 1e6, 2.0),
            (one_and_a_quarter, 1.0),
            (0.1, 1.0),
            (0.5, 1.0)
        ]
    );
    assert_eq!(numbers(&json(&viewer, "durations?kind=1")["count"]), [6.0]);
    // What begins in a window, its end not; on timelines that are shown.
    assert_eq!(
        numbers(&json(&viewer, "durations?kind=0&t0=1&t1=3")["count"]),
        [2.0]
    );
    assert_eq!(
        numbers(&json(&viewer, "durations?kind=0&t0=4.05&t1=4.5")["count"]),
        Vec::<f64>::new()
    );
    assert_eq!(
        numbers(&json(&viewer, "durations?kind=0&timelines=hide:0")["count"]),
        Vec::<f64>::new()
    );
    // On some of the timelines: kind 0 is on the first, kind 1 on the second.
    for (question, count) in [
        ("kind=0&y0=0&y1=1", 6.0),
        ("kind=0&y0=1&y1=2", 0.0),
        ("kind=1&y0=1", 6.0),
        ("kind=1&y0=0&y1=1", 0.0),
    ] {
        let found = numbers(&json(&viewer, &format!("durations?{question}"))["count"]);
        assert_eq!(found.iter().sum::<f64>(), count, "{question}");
    }
    assert_eq!(
        viewer
            .answer("durations?kind=99", &|| false)
            .unwrap_err()
            .status,
        404
    );
}

#[test]
fn a_search_for_a_class_finds_what_it_counts() {
    let file = file();
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    let hits = |query: &str| {
        let query = query
            .replace(' ', "%20")
            .replace('>', "%3E")
            .replace('<', "%3C")
            .replace('"', "%22");
        json(&viewer, &format!("hits?q={query}&bins=1"))["count"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(hits("category:\"state 1\" dur>=1us dur<1.25us"), 2);
    assert_eq!(hits("category:\"state 1\" dur>=1.25us dur<1.6us"), 1);
    assert_eq!(hits("category:\"state 1\" dur>=0 dur<1ns"), 1);
    assert_eq!(hits("category:\"state 1\" dur>=100ms dur<630ms t>=5"), 1);
    assert_eq!(hits("category:\"state 1\""), 6);
    // Nothing less than the whole name.
    assert_eq!(hits("category:state"), 0);
    assert_eq!(hits("!category:\"state 1\""), 6);
}

/// When time is up, what has been counted is all that begins before a moment that the answer names.
#[test]
fn what_time_was_left_for_is_told_with_how_far_it_goes() {
    let count = 60_000;
    let states: Vec<_> = (0..count)
        .map(|nth| (nth % 4, 1, f64::from(nth), f64::from(nth) + 3.0))
        .collect();
    let file = of_states(4, &states);
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    let mut counted = Vec::new();
    for checks in [0, 3, 6, 9, usize::MAX] {
        let asked = AtomicUsize::new(0);
        let is_late = || asked.fetch_add(1, Ordering::Relaxed) >= checks;
        let answer = viewer.answer("durations?kind=0", &is_late).unwrap();
        let found: Value = serde_json::from_slice(&answer.body).unwrap();
        let [until, t1] = ["until", "t1"].map(|name| found[name].as_f64().unwrap());
        let expected = states.iter().filter(|state| state.2 < until).count();
        let sum: f64 = numbers(&found["count"]).iter().sum();
        assert_eq!(sum as usize, expected, "{checks}");
        assert_eq!((answer.exact, until < t1), (until >= t1, !answer.exact));
        counted.push(expected);
    }
    assert_eq!((counted[0], counted[4]), (0, 60_000));
    assert!(
        counted.is_sorted() && counted[3] > 0 && counted[1] < 60_000,
        "{counted:?}"
    );
}

#[test]
fn where_a_window_is_too_long_the_whole_trace_is_told_or_nothing() {
    let file = file();
    let limits = AnswerLimits {
        tree_bytes: 0,
        ..AnswerLimits::default()
    };
    let viewer = Viewer::new("own", &file, limits).unwrap();
    let found = json(&viewer, "durations?kind=0&t0=1&t1=3");
    assert_eq!(
        (&found["is_known"], &found["exact"]),
        (&false.into(), &false.into())
    );
    let shape = viewer_core::index::IndexShape::of(viewer.trace());
    let mut builder = viewer_core::index::IndexBuilder::new(viewer.trace(), shape).unwrap();
    while builder.step(1 << 16).unwrap() {}
    viewer.set_index(builder.finish());
    let found = json(&viewer, "durations?kind=0&t0=1&t1=3");
    assert_eq!(
        (&found["is_known"], &found["is_whole"]),
        (&true.into(), &true.into())
    );
    let (from, count) = (numbers(&found["from"]), numbers(&found["count"]));
    assert_eq!(count.iter().sum::<f64>(), 6.0);
    // By powers of two: 1.1, 1.2 and 1.3 µs together.
    let [class] = (0..count.len())
        .filter(|&nth| count[nth] == 3.0)
        .collect::<Vec<_>>()[..]
    else {
        panic!("{count:?}");
    };
    assert!(from[class] <= 1.1e-6 && from[class + 1] > 1.3e-6);
}
