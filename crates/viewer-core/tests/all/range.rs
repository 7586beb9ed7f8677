//! The verdict of a range of time: against a run in which it is known who waits when.

use crate::common::file;
use serde_json::Value;
use trace_formats::slog2::Vertex;
use trace_model::{Category, Color, Topology};
use viewer_core::{AnswerLimits, Viewer};

/// Two ranks that meet in two barriers within 10 s. Rank 1 comes last to the first one, at 3 s, and rank 0 to the second one, at 8 s.
fn made(ranks: i32) -> Vec<u8> {
    let categories: Vec<Category> = (0..)
        .zip(["MPI_Barrier", "assemble"])
        .map(|(index, name)| Category::new(index, name.into(), Topology::State, Color::PINK))
        .collect();
    let states = [
        (0, 0, 1.0, 4.0),
        (0, 1, 3.0, 4.0),
        (0, 1, 5.0, 9.0),
        (0, 0, 8.0, 9.0),
        (1, 0, 0.0, 1.0),
        (1, 0, 9.0, 10.0),
    ];
    let states = states.into_iter().filter(|state| state.1 < ranks);
    let states = states.map(|(kind, line, from, to)| {
        let vertices = [from, to].map(|time| Vertex { time, line });
        (kind, vertices.to_vec(), Vec::new())
    });
    file(&categories, ranks, &mut states.collect::<Vec<_>>())
}

fn json(viewer: &Viewer<'_>, question: &str) -> Value {
    let answer = viewer.answer(question, &|| false).unwrap();
    serde_json::from_slice(&answer.body).unwrap()
}

#[track_caller]
fn assert_near(found: &Value, expected: f64) {
    let number = found.as_f64().unwrap_or_else(|| panic!("{found}"));
    assert!(
        (number - expected).abs() < 1e-9,
        "{number}, expected {expected}"
    );
}

#[test]
fn a_range_has_its_own_verdict() {
    let file = made(2);
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    // From 4 to 10 s rank 0 computes for 5 s, rank 1 for 2 s, which waits for 3 s.
    let verdict = json(&viewer, "verdict?t0=4&t1=10")["verdict"].clone();
    assert_near(&verdict["waiting"], 3.0 / 12.0);
    assert_near(&verdict["parallel"], 3.5 / 6.0);
    assert_near(&verdict["load_balance"], 3.5 / 5.0);
    assert_near(&verdict["files"], 0.0);
    let product =
        ["load_balance", "serialisation", "transfer"].map(|name| verdict[name].as_f64().unwrap());
    assert_near(&verdict["parallel"], product.iter().product());
    let losses = verdict["losses"].as_array().unwrap();
    assert_eq!((losses.len(), &losses[0]["count"]), (1, &1.into()));
    assert_eq!(losses[0]["what"], "wait at barrier in MPI_Barrier");
    assert_near(&losses[0]["seconds"], 3.0);
    // Over the time of the range, not of the run: nothing in the first sixth, and all of it from there to the fourth.
    let parts: Vec<f64> = (losses[0]["over_time"].as_array().unwrap().iter())
        .map(|part| part.as_f64().unwrap())
        .collect();
    let first_and_last =
        |of: fn(&f64) -> bool| (parts.iter().position(of), parts.iter().rposition(of));
    assert_eq!(
        (parts.len(), first_and_last(|part| *part > 0.0)),
        (48, (Some(8), Some(31)))
    );
    assert!((parts.iter().sum::<f64>() - 3.0).abs() < 1e-9);
}

#[test]
fn a_range_that_cuts_a_wait_has_the_part_in_it() {
    let file = made(2);
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    let cut = json(&viewer, "verdict?t0=4.5&t1=7")["verdict"].clone();
    assert_near(&cut["waiting"], 2.0 / 5.0);
    assert_near(&cut["parallel"], 3.0 / 5.0);
    // Where nobody is in a call.
    let none = json(&viewer, "verdict?t0=9.25&t1=9.75")["verdict"].clone();
    assert_near(&none["waiting"], 0.0);
    assert_near(&none["parallel"], 1.0);
    assert_eq!(none["losses"], serde_json::json!([]));
    assert_eq!(
        viewer
            .answer("verdict?t0=3&t1=2", &|| false)
            .unwrap_err()
            .status,
        400
    );
}

#[test]
fn a_loss_whose_wait_began_before_the_range_leads_to_its_call() {
    let file = made(2);
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    let cut = json(&viewer, "verdict?t0=6&t1=9")["verdict"].clone();
    let target = &cut["losses"][0]["target"];
    let reference = target["sel"].as_str().unwrap();
    let call = json(&viewer, &format!("ref?ref={reference}"));
    assert_eq!(
        (&call["name"], &call["timeline"], &call["t0"]),
        (&"MPI_Barrier".into(), &1.into(), &5.0.into()),
        "{target}, {call}"
    );
}

#[test]
fn what_cannot_be_told_of_a_range_is_said() {
    let file = made(2);
    let limits = AnswerLimits {
        tree_bytes: 0,
        ..AnswerLimits::default()
    };
    let large = Viewer::new("own", &file, limits).unwrap();
    let answer = json(&large, "verdict?t0=4&t1=10");
    assert_eq!(
        (&answer["is_small"], &answer["verdict"]),
        (&false.into(), &Value::Null)
    );
    let part = Viewer::part("own", &file, None, AnswerLimits::default()).unwrap();
    assert_eq!(json(&part, "verdict?t0=4&t1=10")["is_small"], false);
    let alone = made(1);
    let alone = Viewer::new("own", &alone, AnswerLimits::default()).unwrap();
    // One rank waits for nobody. It is in MPI from 8 to 9 s, and computes for the rest.
    let answer = json(&alone, "verdict?t0=4&t1=10");
    let verdict = &answer["verdict"];
    assert_eq!(verdict["ranks"].as_array().unwrap().len(), 1);
    assert_near(&verdict["parallel"], 5.0 / 6.0);
    assert_eq!(
        (&verdict["waiting"], &verdict["losses"]),
        (&0.0.into(), &Value::Array(Vec::new()))
    );
}
