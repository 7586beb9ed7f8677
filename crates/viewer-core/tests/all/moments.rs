//! When phases and states of a name were: against runs of which it is known, because they were made so.

use crate::common::file;
use serde_json::Value;
use trace_formats::slog2::Vertex;
use trace_model::{Category, Color, Topology};
use viewer_core::{AnswerLimits, Viewer};

/// Two ranks that both go through so many steps of 2 s from `begin` on: 1 s of `solve`, then a barrier. Rank 1 loads a file first, which rank 0 never does.
fn steps(begin: f64, number: u32) -> Vec<u8> {
    let state = |index, name: &str| Category::new(index, name.into(), Topology::State, Color::PINK);
    let categories = [
        state(0, "MPI_Barrier"),
        state(1, "solve"),
        state(2, "load"),
        Category {
            index: 3,
            ..Category::message()
        },
    ];
    let mut all = Vec::new();
    let mut of = |category, rank, from: f64, to: f64| {
        let vertices = [from, to].map(|time| Vertex { time, line: rank });
        all.push((category, vertices.to_vec(), Vec::new()));
    };
    of(2, 1, 0.0, begin);
    for rank in 0..2 {
        for step in 0..number {
            let at = begin + 2.0 * f64::from(step);
            of(1, rank, at, at + 1.0);
            of(0, rank, at + 1.0 + 0.25 * f64::from(rank), at + 1.5);
        }
    }
    file(&categories, 2, &mut all)
}

fn ask(viewer: &Viewer<'_>, question: &str) -> Value {
    let answer = viewer.answer(question, &|| false).unwrap();
    serde_json::from_slice(&answer.body).unwrap()
}

fn times(answer: &Value, key: &str) -> Vec<f64> {
    let times = answer[key].as_array().unwrap().iter();
    times.map(|time| time.as_f64().unwrap()).collect()
}

#[test]
fn phases_are_the_steps_of_the_main_loop() {
    for (begin, number) in [(3.0, 12), (7.5, 8)] {
        let file = steps(begin, number);
        let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
        let answer = ask(&viewer, "moments");
        assert_eq!(
            (&answer["state"], &answer["each"]),
            (&"known".into(), &1.into())
        );
        let begins: Vec<f64> = (0..number)
            .map(|step| begin + 2.0 * f64::from(step))
            .collect();
        assert_eq!(times(&answer, "t0"), begins, "{answer}");
        assert_eq!(times(&answer, "t1")[..begins.len() - 1], begins[1..]);
        // They are not sent twice.
        assert_eq!(
            ask(&viewer, "summary")["phases"]["ranges"],
            serde_json::json!([])
        );
    }
}

#[test]
fn states_of_a_name_are_those_of_the_lowest_rank_that_has_any() {
    let file = steps(3.0, 5);
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    let barriers = ask(&viewer, "moments?name=MPI_Barrier");
    assert_eq!(
        (&barriers["state"], &barriers["rank"]),
        (&"known".into(), &0.into())
    );
    assert_eq!(times(&barriers, "t0"), [4.0, 6.0, 8.0, 10.0, 12.0]);
    assert_eq!(times(&barriers, "t1"), [4.5, 6.5, 8.5, 10.5, 12.5]);
    let load = ask(&viewer, "moments?name=load");
    assert_eq!(load["rank"], 1);
    assert_eq!(
        (times(&load, "t0"), times(&load, "t1")),
        (vec![0.0], vec![3.0])
    );
}

#[test]
fn what_there_is_not_is_said() {
    // Three steps make no loop.
    let file = steps(3.0, 3);
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    let answer = ask(&viewer, "moments");
    assert_eq!(answer["state"], "known");
    assert_eq!(times(&answer, "t0"), [0.0; 0]);
    for name in ["MPI_Send", "message", "%22"] {
        let error = viewer.answer(&format!("moments?name={name}"), &|| false);
        let error = error.unwrap_err();
        assert_eq!(error.status, 404);
        assert!(
            error
                .message
                .starts_with("name: the trace has no states called"),
            "{error}"
        );
    }
    // One that is too large to be read, which nobody reads either.
    let limits = AnswerLimits {
        tree_bytes: 1,
        ..AnswerLimits::default()
    };
    let viewer = Viewer::new("own", &file, limits).unwrap();
    assert_eq!(ask(&viewer, "moments")["state"], "unknown");
    viewer.set_summing(true);
    assert_eq!(ask(&viewer, "moments")["state"], "pending");
    let error = viewer.answer("moments?name=solve", &|| true);
    assert!(error.unwrap_err().is_cancelled());
}
