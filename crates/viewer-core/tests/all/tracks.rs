//! Tracks over time: against runs in which what happens when is known from how they were made.

use crate::common::file;
use serde_json::Value;
use trace_formats::slog2::Vertex;
use trace_model::{Category, Color, InfoWriter, Topology};
use viewer_core::{AnswerLimits, Viewer};

type Simple = (i32, Vec<Vertex>, Vec<u8>);

/// Numbers of the categories.
const BARRIER: i32 = 0;
const SEND: i32 = 1;
const RECV: i32 = 2;
const WRITE_AT: i32 = 3;
const ASSEMBLE: i32 = 4;
const PWRITE: i32 = 5;
const READ: i32 = 6;
const MESSAGE: i32 = 7;
const ACCESS: i32 = 8;
/// An MPI call with two counters.
const COUNTED: i32 = 9;
const INIT: i32 = 10;

/// The layout of a file operation, as the drawer of these has it.
const OPERATION: &str =
    "file=%d, fd=%d, offset=%l, size=%l, result=%l, filler=%l, errno=%d, details=%s, operation=%l";
const ACCESS_FORMAT: &str = "CallID=0x%X, function=%s, file=%d, sequence=%l, bytes=%l, first=%l, behind=%l, pieces=%l, lasts=%l ns, complete=%l ns, writes=%d, number=%d";

fn categories(has_operations: bool) -> Vec<Category> {
    let of = |index, name: &str, topology, format: &str| {
        let mut category = Category::new(index, name.into(), topology, Color::PINK);
        category.set_info_format(format.as_bytes());
        category
    };
    let state = |index, name| of(index, name, Topology::State, "");
    let mut all = vec![
        state(BARRIER, "MPI_Barrier"),
        state(SEND, "MPI_Send"),
        state(RECV, "MPI_Recv"),
        state(WRITE_AT, "MPI_File_write_at"),
        state(ASSEMBLE, "assemble"),
        state(INIT, "MPI_Init"),
        Category {
            index: MESSAGE,
            ..Category::message()
        },
        of(ACCESS, "I/O access", Topology::Event, ACCESS_FORMAT),
        of(
            COUNTED,
            "MPI_Bcast",
            Topology::State,
            "page-faults=+%l, cycles=+%l",
        ),
    ];
    if has_operations {
        let format = format!("CallID=0x%X, {OPERATION}");
        all.push(of(PWRITE, "pwrite", Topology::State, &format));
        all.push(of(READ, "read (no call)", Topology::State, OPERATION));
    }
    all.sort_by_key(|category| category.index);
    all
}

fn state(kind: i32, rank: i32, from: f64, to: f64) -> Simple {
    let at = |time| Vertex { time, line: rank };
    (kind, vec![at(from), at(to)], vec![])
}

fn message(from: (i32, f64), to: (i32, f64), bytes: i32) -> Simple {
    let at = |(line, time)| Vertex { time, line };
    let mut info = InfoWriter::default();
    info.int(1).int(bytes);
    (MESSAGE, vec![at(from), at(to)], info.bytes().to_vec())
}

/// A write of a call, or a read outside of any, that moves so many bytes of those asked for.
fn operation(kind: i32, rank: i32, from: f64, to: f64, asked: i64, moved: i64) -> Simple {
    let mut info = InfoWriter::default();
    if kind == PWRITE {
        info.long(7);
    }
    info.int(1).int(5).long(0).long(asked).long(moved).long(0);
    info.int(0).text(b"").long(1);
    let (kind, vertices, _) = state(kind, rank, from, to);
    (kind, vertices, info.bytes().to_vec())
}

fn viewer_of(file: &[u8]) -> Viewer<'_> {
    Viewer::new("own", file, AnswerLimits::default()).unwrap()
}

fn json(viewer: &Viewer<'_>, question: &str) -> Value {
    let answer = viewer.answer(question, &|| false).unwrap();
    serde_json::from_slice(&answer.body).unwrap()
}

#[track_caller]
fn assert_list(found: &Value, expected: &[f64]) {
    let list = found.as_array().unwrap_or_else(|| panic!("{found}")).iter();
    let list: Vec<f64> = list.map(|number| number.as_f64().unwrap()).collect();
    // Zeros must be just that.
    let is_near = |(a, b): (&f64, &f64)| {
        if *b == 0.0 {
            *a == 0.0
        } else {
            (a - b).abs() < 1e-6 * b.abs()
        }
    };
    let is_same = list.len() == expected.len() && list.iter().zip(expected).all(is_near);
    assert!(is_same, "{list:?}\nexpected {expected:?}");
}

/// Three ranks for 8 s. Rank 2 assembles until 4 s and comes last to the barrier of all, which ends at 5 s; then all compute until rank 0 sends.
fn barrier_and_message() -> Vec<u8> {
    let mut all = vec![
        state(BARRIER, 0, 1.0, 5.0),
        state(BARRIER, 1, 2.5, 5.0),
        state(ASSEMBLE, 2, 0.0, 4.0),
        state(BARRIER, 2, 4.0, 5.0),
        state(SEND, 0, 6.0, 6.5),
        state(RECV, 1, 6.0, 7.5),
        message((0, 6.0), (1, 7.0), 3000),
        state(ASSEMBLE, 0, 6.5, 8.0),
    ];
    file(&categories(false), 3, &mut all)
}

#[test]
fn ranks_by_use_are_those_of_the_run() {
    let file = barrier_and_message();
    let viewer = viewer_of(&file);
    let question = "tracks?show=ranks&w=8";
    // Nobody has looked for waits so far.
    let before = json(&viewer, question);
    assert_eq!(
        (&before["state"], &before["exact"], &before["ranks"]),
        (&"known".into(), &true.into(), &3.into())
    );
    assert_eq!(before["use"]["waiting"], Value::Null);
    assert_list(
        &before["use"]["mpi"],
        &[0.0, 1.0, 1.5, 2.0, 3.0, 0.0, 1.5, 0.5],
    );
    viewer.answer("summary", &|| false).unwrap();
    // Once from what one look at the whole trace has found, once from a window that is no part of its columns.
    for (asked, is_all) in [
        (question, true),
        ("tracks?show=ranks&w=7&t0=0.5&t1=7.5", false),
    ] {
        let found = json(&viewer, asked);
        assert_eq!(found["exact"], true, "{found}");
        let used = &found["use"];
        if is_all {
            assert_list(&used["waiting"], &[0.0, 1.0, 1.5, 2.0, 0.0, 0.0, 0.0, 0.0]);
            assert_list(&used["mpi"], &[0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 1.5, 0.5]);
            assert_list(&used["files"], &[0.0; 8]);
        } else {
            assert_list(&used["waiting"], &[0.5, 1.0, 2.0, 1.0, 0.0, 0.0, 0.0]);
            assert_list(&used["mpi"], &[0.0, 0.0, 0.0, 1.5, 1.5, 1.0, 1.0]);
        }
    }
    // A window in which nobody is in a call.
    let found = json(&viewer, "tracks?show=ranks&w=4&t0=5&t1=6");
    assert_list(&found["use"]["mpi"], &[0.0; 4]);
    assert_list(&found["use"]["waiting"], &[0.0; 4]);
}

#[test]
fn starting_mpi_is_told_apart_and_a_call_within_another_counts_there() {
    let mut all = vec![
        state(INIT, 0, 0.0, 2.0),
        state(INIT, 1, 0.0, 1.0),
        state(BARRIER, 0, 0.5, 1.0),
        state(BARRIER, 0, 2.0, 4.0),
        state(BARRIER, 0, 3.0, 3.5),
        state(BARRIER, 1, 2.0, 4.0),
    ];
    let made = file(&categories(false), 2, &mut all);
    let found = json(&viewer_of(&made), "tracks?show=ranks&w=4");
    assert_list(&found["use"]["starting"], &[2.0, 1.0, 0.0, 0.0]);
    assert_list(&found["use"]["mpi"], &[0.0, 0.0, 2.0, 2.0]);
}

#[test]
fn the_track_adds_up_to_the_shares_of_the_verdict() {
    let file = barrier_and_message();
    let viewer = viewer_of(&file);
    let verdict = json(&viewer, "summary")["verdict"].clone();
    let used = json(&viewer, "tracks?show=ranks&w=64")["use"].clone();
    let share = |name: &str| {
        let all = used[name].as_array().unwrap().iter();
        all.map(|ranks| ranks.as_f64().unwrap()).sum::<f64>() / 64.0 / 3.0
    };
    let (waiting, computing) = (share("waiting"), 1.0 - share("waiting") - share("mpi"));
    assert!((waiting - verdict["waiting"].as_f64().unwrap()).abs() < 1e-6);
    assert!((waiting - 4.5 / 24.0).abs() < 1e-6, "{waiting}");
    assert!((computing - verdict["parallel"].as_f64().unwrap()).abs() < 1e-6);
}

#[test]
fn messages_count_when_they_are_sent_and_bytes_while_they_are_on_their_way() {
    let mut all = vec![
        state(ASSEMBLE, 0, 0.0, 10.0),
        message((0, 1.0), (1, 3.0), 4000),
        message((1, 1.5), (0, 1.5), 100),
        // Backward: on its way when it was sent.
        message((2, 6.5), (0, 5.5), 300),
        message((2, 10.0), (0, 10.0), 700),
        message((0, 9.0), (2, 10.0), 0),
    ];
    let made = file(&categories(false), 3, &mut all);
    let viewer = viewer_of(&made);
    let found = json(&viewer, "tracks?show=messages,bytes&w=5");
    assert_eq!(found["exact"], true);
    assert_list(&found["messages"], &[1.0, 0.0, 0.0, 0.5, 1.0]);
    assert_list(&found["bytes"], &[1050.0, 1000.0, 0.0, 150.0, 350.0]);
    assert_eq!(found["use"], Value::Null);
    // A window that cuts a message in the middle; what is at its end belongs to the next one.
    let cut = json(&viewer, "tracks?show=messages,bytes&w=1&t0=2&t1=6.5");
    assert_list(&cut["messages"], &[0.0]);
    assert_list(&cut["bytes"], &[2000.0 / 4.5]);
    // The same out of the look at all of it.
    viewer.answer("summary", &|| false).unwrap();
    assert_list(
        &json(&viewer, "tracks?show=bytes&w=2")["bytes"],
        &[820.0, 200.0],
    );
    let many = json(&viewer, "tracks?show=messages&w=4096")["messages"].clone();
    let many = many
        .as_array()
        .unwrap()
        .iter()
        .filter(|rate| rate.as_f64() != Some(0.0));
    assert_eq!(many.count(), 5);
}

#[test]
fn bytes_of_files_are_those_that_operations_moved() {
    let mut all = vec![
        state(ASSEMBLE, 1, 0.0, 8.0),
        state(WRITE_AT, 0, 1.0, 5.0),
        operation(PWRITE, 0, 2.0, 4.0, 5000, 4000),
        operation(PWRITE, 0, 4.0, 4.5, 5000, -1),
        operation(READ, 1, 6.0, 7.0, 1000, 600),
    ];
    let made = file(&categories(true), 2, &mut all);
    let viewer = viewer_of(&made);
    assert_eq!(
        json(&viewer, "meta")["tracks"],
        serde_json::json!(["ranks", "io"])
    );
    let found = json(&viewer, "tracks?show=io,ranks&w=8");
    assert_list(
        &found["io"]["written"],
        &[0.0, 0.0, 2000.0, 2000.0, 0.0, 0.0, 0.0, 0.0],
    );
    assert_list(
        &found["io"]["read"],
        &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 600.0, 0.0],
    );
    // The call with its operations once, and the operation outside of any.
    assert_list(
        &found["use"]["files"],
        &[0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0],
    );
    assert_list(&found["use"]["mpi"], &[0.0; 8]);
}

#[test]
fn without_operations_accesses_tell_the_bytes_of_files() {
    let mut info = InfoWriter::default();
    info.long(7)
        .text(b"MPI_File_write_at")
        .int(1)
        .long(0)
        .long(8000)
        .long(0)
        .long(8000);
    info.long(1)
        .long(4_000_000_000)
        .long(4_000_000_000)
        .int(1)
        .int(1);
    let access = (
        ACCESS,
        vec![Vertex { time: 1.0, line: 0 }],
        info.bytes().to_vec(),
    );
    let mut all = vec![
        state(WRITE_AT, 0, 1.0, 5.0),
        access,
        state(ASSEMBLE, 1, 0.0, 8.0),
    ];
    let made = file(&categories(false), 2, &mut all);
    let found = json(&viewer_of(&made), "tracks?show=io&w=4");
    assert_list(&found["io"]["written"], &[1000.0, 2000.0, 1000.0, 0.0]);
    assert_list(&found["io"]["read"], &[0.0; 4]);
}

#[test]
fn counters_are_rates_of_the_outermost_calls() {
    let counted = |rank, from, to, faults, cycles| {
        let mut info = InfoWriter::default();
        info.long(faults).long(cycles);
        let (kind, vertices, _) = state(COUNTED, rank, from, to);
        (kind, vertices, info.bytes().to_vec())
    };
    let mut all = vec![
        state(ASSEMBLE, 1, 0.0, 8.0),
        counted(0, 0.0, 4.0, 80, 4000),
        // Within the one before, which has counted it, too.
        counted(0, 1.0, 2.0, 40, 1000),
        // This machine has no such counter.
        counted(1, 4.0, 6.0, -1, 2000),
    ];
    let made = file(&categories(false), 2, &mut all);
    let viewer = viewer_of(&made);
    let found = json(
        &viewer,
        "tracks?show=counter:cycles,counter:page-faults,counter:none&w=4",
    );
    let counters = found["counters"].as_array().unwrap();
    assert_eq!(counters.len(), 2);
    let named =
        |name: &str| counters.iter().find(|one| one["name"] == name).unwrap()["rate"].clone();
    assert_list(&named("page-faults"), &[20.0, 20.0, 0.0, 0.0]);
    assert_list(&named("cycles"), &[1000.0, 1000.0, 1000.0, 0.0]);
}

#[test]
fn a_window_that_is_too_long_to_be_read_is_told_when_all_has_been_read() {
    let file = barrier_and_message();
    let limits = AnswerLimits {
        tree_bytes: 0,
        ..AnswerLimits::default()
    };
    let viewer = Viewer::new("own", &file, limits).unwrap();
    let state = |viewer: &Viewer<'_>| json(viewer, "tracks?show=ranks&w=8")["state"].clone();
    assert_eq!(state(&viewer), "unknown");
    viewer.set_summing(true);
    assert_eq!(state(&viewer), "pending");
    viewer.summary(&|| false).unwrap();
    viewer.set_summing(false);
    let found = json(&viewer, "tracks?show=ranks&w=8");
    assert_eq!(found["exact"], true);
    assert_list(
        &found["use"]["waiting"],
        &[0.0, 1.0, 1.5, 2.0, 0.0, 0.0, 0.0, 0.0],
    );
    // Between its columns it is an estimate, and says so.
    let part = json(&viewer, "tracks?show=ranks&w=3&t0=0.0001&t1=3.0001");
    assert_eq!(part["exact"], false);
    let waiting = part["use"]["waiting"][2].as_f64().unwrap();
    assert!((waiting - 1.5).abs() < 0.01, "{waiting}");
    // What was kept says the same.
    let text = serde_json::to_vec(viewer.tracks().unwrap()).unwrap();
    let again = Viewer::new("own", &file, limits).unwrap();
    again.set_tracks(serde_json::from_slice(&text).unwrap());
    let found = json(&again, "tracks?show=ranks&w=8");
    assert_list(
        &found["use"]["mpi"],
        &[0.0, 1.0, 1.5, 2.0, 3.0, 0.0, 1.5, 0.5],
    );
    again.set_tracks(viewer_core::TraceTracks::default());
    assert!(again.tracks().is_some());
}
