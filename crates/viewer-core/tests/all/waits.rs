//! The waits that pictures show: against runs whose waits are known from how they were made.

use crate::common::file;
use serde_json::Value;
use std::io::Cursor;
use trace_formats::slog2::{LineIdMap, NewDrawable, TreeBuilder, TreeOptions, Vertex};
use trace_model::{Category, Color, InfoWriter, Topology};
use viewer_core::picture::frame::{DecodedFrame, flag, section};
use viewer_core::{AnswerLimits, TraceWaits, Viewer};

type Simple = (i32, Vec<Vertex>, Vec<u8>);

/// The functions of the made-up runs; the place of each is the number of its category.
const NAMES: [&str; 7] = [
    "MPI_Init",
    "MPI_Send",
    "MPI_Recv",
    "MPI_Allreduce",
    "MPI_Barrier",
    "MPI_Bcast",
    "assemble",
];
const MESSAGE: i32 = 7;

/// A file of three ranks: name, rank, begin and end of states; rank and time of both ends of messages.
fn made(states: &[(&str, i32, f64, f64)], messages: &[(i32, f64, i32, f64)]) -> Vec<u8> {
    let mut categories: Vec<Category> = (0..)
        .zip(NAMES)
        .map(|(index, name)| Category::new(index, name.into(), Topology::State, Color::PINK))
        .collect();
    categories.push(Category {
        index: MESSAGE,
        ..Category::message()
    });
    let at = |time: f64, line: i32| Vertex { time, line };
    let mut all: Vec<Simple> = Vec::new();
    for &(name, rank, from, to) in states {
        let index = NAMES.iter().position(|known| *known == name).unwrap();
        all.push((index as i32, vec![at(from, rank), at(to, rank)], vec![]));
    }
    for &(from, sent, to, received) in messages {
        let mut info = InfoWriter::default();
        info.int(1).int(8);
        let ends = vec![at(sent, from), at(received, to)];
        all.push((MESSAGE, ends, info.bytes().to_vec()));
    }
    file(&categories, 3, &mut all)
}

fn json(viewer: &Viewer<'_>, question: &str) -> Value {
    let answer = viewer.answer(question, &|| false).unwrap();
    serde_json::from_slice(&answer.body).unwrap()
}

/// A text as it stands in a question.
fn escaped(query: &str) -> String {
    let query = query.replace('%', "%25").replace('"', "%22");
    query
        .replace(' ', "%20")
        .replace('>', "%3E")
        .replace('<', "%3C")
}

/// A state of a picture: its timeline, the name of its category, and begin and end in seconds.
type ShownState = (u32, String, f64, f64);

/// The waits that a picture of this window is given, each with its state.
fn shown(viewer: &Viewer<'_>, window: Option<(f64, f64)>) -> Vec<(ShownState, (f64, f64))> {
    let window = window.map_or(String::new(), |(t0, t1)| format!("&t0={t0}&t1={t1}"));
    let question = format!("picture?w=1000&max=1000000{window}");
    let answer = viewer.answer(&question, &|| false).unwrap();
    let frame = DecodedFrame::read(&answer.body).unwrap();
    assert_eq!(frame.header.flags & flag::WAITS, flag::WAITS, "{question}");
    let origin = frame.header.window[0];
    let [starts, durations, timelines, kinds, _] = section::STATES;
    let (starts, durations) = (frame.reals(starts), frame.reals(durations));
    let (timelines, kinds) = (frame.numbers(timelines), frame.numbers(kinds));
    let [states, begins, lengths] = section::WAITS;
    let (begins, lengths) = (frame.reals(begins), frame.reals(lengths));
    let waits = frame.numbers(states).into_iter().enumerate();
    let time = |seconds: f32| origin + f64::from(seconds);
    waits
        .map(|(nth, state)| {
            let state = state as usize;
            let kind = &viewer.trace().kinds()[kinds[state] as usize];
            let end = time(starts[state] + durations[state]);
            let shown = (
                timelines[state],
                kind.name.clone(),
                time(starts[state]),
                end,
            );
            (shown, (time(begins[nth]), time(begins[nth] + lengths[nth])))
        })
        .collect()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-4 * (1.0 + a.abs())
}

#[track_caller]
fn assert_waits(viewer: &Viewer<'_>, expected: &[(u32, &str, f64, f64, f64)]) {
    assert_eq!(json(viewer, "waits")["state"], "known");
    let found = shown(viewer, None);
    let is_same = found.len() == expected.len()
        && found.iter().zip(expected).all(|(found, expected)| {
            let ((timeline, name, start, _), (from, to)) = found;
            (*timeline, name.as_str()) == (expected.0, expected.1)
                && near(*start, expected.2)
                && near(*from, expected.3)
                && near(*to, expected.4)
        });
    assert!(is_same, "{found:?}\nexpected {expected:?}");
}

#[test]
fn a_picture_has_the_waiting_part_of_each_call_and_none_of_others() {
    // Rank 0 computes for 9 s and then sends to rank 1, which has been in its receive since 1 s and comes last to the Allreduce of all.
    let made = made(
        &[
            ("assemble", 0, 0.0, 9.0),
            ("MPI_Send", 0, 9.0, 9.1),
            ("MPI_Allreduce", 0, 9.1, 10.0),
            ("MPI_Recv", 1, 1.0, 9.2),
            ("MPI_Allreduce", 1, 9.3, 10.0),
            ("MPI_Allreduce", 2, 1.0, 10.0),
        ],
        &[(0, 9.0, 1, 9.2)],
    );
    let viewer = Viewer::new("own", &made, AnswerLimits::default()).unwrap();
    let expected = [
        (0, "MPI_Allreduce", 9.1, 9.1, 9.3),
        (1, "MPI_Recv", 1.0, 1.0, 9.0),
        (2, "MPI_Allreduce", 1.0, 1.0, 9.3),
    ];
    assert_waits(&viewer, &expected);
    // A window in the middle of a wait has the part that is near, and one behind all waits has none.
    let part = shown(&viewer, Some((5.0, 6.0)));
    let lengths: Vec<f64> = part.iter().map(|(_, (from, to))| to - from).collect();
    assert_eq!(lengths, [3.0, 3.0], "{part:?}");
    assert_eq!(shown(&viewer, Some((9.8, 9.9))), []);
}

/// How many drawables a search finds.
fn hits(viewer: &Viewer<'_>, query: &str) -> u64 {
    let found = json(viewer, &format!("hits?q={}&bins=1", escaped(query)));
    found["count"].as_u64().unwrap()
}

#[test]
fn several_conditions_on_waits_are_about_one_wait_of_a_call() {
    // Rank 1 waits in one call for the message of rank 2, and for rank 0 to receive its own.
    let made = made(
        &[
            ("MPI_Send", 2, 4.0, 4.1),
            ("MPI_Recv", 0, 6.0, 6.5),
            ("MPI_Send", 1, 1.0, 6.4),
        ],
        &[(2, 4.0, 1, 4.1), (1, 1.0, 0, 6.5)],
    );
    let viewer = Viewer::new("own", &made, AnswerLimits::default()).unwrap();
    for (query, count) in [
        ("wait:\"late sender\"", 1),
        ("wait:\"late receiver\"", 1),
        ("wait:\"late sender\" waitsfor:2", 1),
        ("wait:\"late receiver\" waitsfor:0", 1),
        ("wait:\"late sender\" waitsfor:0", 0),
        ("wait:\"late receiver\" waitsfor:2 wait>0", 0),
        ("dur>1s wait:\"late sender\" waitsfor:0", 0),
        ("wait:\"late sender\" !waitsfor:0", 0),
    ] {
        assert_eq!(hits(&viewer, query), count, "{query}");
    }
    // Sums have the waits that are asked for, not the other one of the call, which waits from 1 s to 4 s for rank 2, then to 6 s for rank 0.
    for (query, seconds) in [
        ("waitsfor:2", 3.0),
        ("wait:\"late sender\"", 3.0),
        ("waitsfor:0", 2.0),
        ("wait:\"late receiver\" waitsfor:0", 2.0),
    ] {
        let asked = escaped(&format!("sum wait by name where {query}"));
        let sums = json(&viewer, &format!("aggregate?a={asked}"));
        let sum = sums["lines"][0]["sum"].as_f64().unwrap();
        assert!(near(sum, seconds), "{query}: {sums}");
    }
}

#[test]
fn searches_find_the_calls_that_wait_and_those_of_each_loss() {
    let made = made(
        &[
            ("assemble", 0, 0.0, 9.0),
            ("MPI_Send", 0, 9.0, 9.1),
            ("MPI_Allreduce", 0, 9.1, 10.0),
            ("MPI_Recv", 1, 1.0, 9.2),
            ("MPI_Allreduce", 1, 9.3, 10.0),
            ("MPI_Allreduce", 2, 1.0, 10.0),
        ],
        &[(0, 9.0, 1, 9.2)],
    );
    let viewer = Viewer::new("own", &made, AnswerLimits::default()).unwrap();
    for (query, count) in [
        ("wait>0", 3),
        ("wait>1s", 2),
        ("wait<1s", 1),
        ("wait:\"late sender\"", 1),
        ("wait:\"Wait at N×N\"", 2),
        ("wait:\"wait at barrier\"", 0),
        ("waitsfor:1", 2),
        ("waitsfor:0", 1),
        ("waitsfor:2-9", 0),
        ("MPI_Allreduce waitsfor:1 wait>8s", 1),
        ("MPI_Allreduce !waitsfor:1", 1),
    ] {
        assert_eq!(hits(&viewer, query), count, "{query}");
    }
    let losses = json(&viewer, "summary")["verdict"]["losses"].clone();
    assert_eq!(losses.as_array().unwrap().len(), 2);
    for loss in losses.as_array().unwrap() {
        let query = loss["query"].as_str().unwrap();
        assert_eq!(
            hits(&viewer, query),
            loss["count"].as_u64().unwrap(),
            "{query}"
        );
        // The longest is the one that the loss leads to, and it is found.
        let found = json(
            &viewer,
            &format!("search?q={}&from=0&dir=1", escaped(query)),
        );
        let name = loss["what"].as_str().unwrap();
        assert!(
            name.ends_with(found["hit"]["name"].as_str().unwrap()),
            "{name}"
        );
    }
    // Where nobody knows who waits that is said.
    let part = Viewer::part("own", &made, None, AnswerLimits::default()).unwrap();
    let refused = part
        .answer("hits?q=waitsfor:1&bins=1", &|| false)
        .unwrap_err();
    assert_eq!(refused.status, 400);
    assert!(
        refused
            .message
            .contains("when all of the trace has been read")
    );
}

/// The hits of a loss are as many as the report counts, also in a trace of which only a part may be read for an answer.
#[test]
fn the_hits_of_a_loss_are_counted_without_reading_the_trace() {
    let mut states = Vec::new();
    for step in 0..3000 {
        let at = f64::from(step);
        // Rank 1 comes last to every third barrier, rank 0 to the others.
        let [first, last] = if step % 3 == 0 { [0, 1] } else { [1, 0] };
        states.push(("MPI_Barrier", first, at, at + 0.9));
        states.push(("MPI_Barrier", last, at + 0.5, at + 0.9));
    }
    let made = made(&states, &[]);
    let whole = Viewer::new("made", &made, AnswerLimits::default()).unwrap();
    let losses = json(&whole, "summary")["verdict"]["losses"].clone();
    let limits = AnswerLimits {
        tree_bytes: made.len() as u64 / 20,
        ..AnswerLimits::default()
    };
    let large = Viewer::new("made", &made, limits).unwrap();
    let known = whole.waits().unwrap();
    let known = known.encode(whole.trace(), f64::NEG_INFINITY, f64::INFINITY);
    large.set_waits(TraceWaits::decode(large.trace(), &known).unwrap());
    let counts: Vec<u64> = losses
        .as_array()
        .unwrap()
        .iter()
        .map(|loss| {
            let query = escaped(loss["query"].as_str().unwrap());
            let found = json(&large, &format!("hits?q={query}&bins=3"));
            assert_eq!(found, json(&whole, &format!("hits?q={query}&bins=3")));
            assert_eq!(
                (&found["exact"], &found["at_least"]),
                (&true.into(), &false.into())
            );
            found["count"].as_u64().unwrap()
        })
        .collect();
    assert_eq!(counts, [2000, 1000]);
    // What the calls themselves decide is read.
    let long = json(&large, "hits?q=waitsfor:0%20dur%3E0.1&bins=1");
    assert_eq!(long["at_least"], true);
}

/// The stretches of the critical path in a window: begin, end and timeline.
fn path(viewer: &Viewer<'_>, question: &str) -> Vec<(f64, f64, i64)> {
    let answer = json(viewer, question);
    let list = |name: &str| answer[name].as_array().unwrap().clone();
    let (from, to, timeline) = (list("from"), list("to"), list("timeline"));
    let time = |times: &[Value], nth: usize| times[nth].as_f64().unwrap();
    (0..from.len())
        .map(|nth| {
            (
                time(&from, nth),
                time(&to, nth),
                timeline[nth].as_i64().unwrap(),
            )
        })
        .collect()
}

#[test]
fn the_critical_path_goes_where_someone_was_waited_for() {
    // Rank 0 computes, then rank 1 has its message and comes last to the Allreduce. Behind that nobody waits: it ends on the lowest rank.
    let made = made(
        &[
            ("assemble", 0, 0.0, 9.0),
            ("MPI_Send", 0, 9.0, 9.1),
            ("MPI_Allreduce", 0, 9.1, 10.0),
            ("MPI_Recv", 1, 1.0, 9.2),
            ("MPI_Allreduce", 1, 9.3, 10.0),
            ("MPI_Allreduce", 2, 1.0, 10.0),
            ("assemble", 2, 10.0, 14.0),
        ],
        &[(0, 9.0, 1, 9.2)],
    );
    let viewer = Viewer::new("own", &made, AnswerLimits::default()).unwrap();
    assert_eq!(
        (path(&viewer, "path"), &json(&viewer, "path")["exact"]),
        (vec![], &false.into())
    );
    viewer.answer("waits", &|| false).unwrap();
    let expected = [(0.0, 9.0, 0), (9.0, 9.3, 1), (9.3, 14.0, 0)];
    assert_eq!(path(&viewer, "path"), expected);
    assert_eq!(path(&viewer, "path?t0=9.1&t1=9.2"), expected[1..2]);
    // On other timelines, and where rank 1 is hidden.
    let other = [(0.0, 9.0, 1), (9.0, 9.3, 2), (9.3, 14.0, 1)];
    assert_eq!(path(&viewer, "path?timelines=pin:2"), other);
    let hidden = [(0.0, 9.0, 0), (9.0, 9.3, -1), (9.3, 14.0, 0)];
    assert_eq!(path(&viewer, "path?timelines=hide:1"), hidden);
}

#[test]
fn who_waits_for_nobody_has_no_wait() {
    let calls = [0, 1, 2].map(|rank| ("MPI_Barrier", rank, 1.0, 2.0));
    let made = made(&calls, &[]);
    let viewer = Viewer::new("own", &made, AnswerLimits::default()).unwrap();
    assert_waits(&viewer, &[]);
    // The path stays on one rank.
    let path = path(&viewer, "path");
    assert_eq!(
        path.iter().map(|part| (part.0, part.1)).collect::<Vec<_>>(),
        [(1.0, 2.0)]
    );
    let answer = json(&viewer, "waits");
    assert_eq!(
        (&answer["count"], &answer["shortest"]),
        (&0.into(), &0.0.into())
    );
}

#[test]
fn what_is_before_the_end_of_mpi_init_is_no_wait() {
    // Rank 1 waits in its receive since 1 s, but rank 0 leaves MPI_Init only at 3 s.
    let made = made(
        &[
            ("MPI_Init", 0, 0.0, 3.0),
            ("MPI_Init", 1, 0.0, 0.5),
            ("MPI_Init", 2, 0.0, 0.5),
            ("MPI_Recv", 1, 1.0, 5.0),
            ("MPI_Send", 0, 4.5, 4.6),
        ],
        &[(0, 4.5, 1, 5.0)],
    );
    let viewer = Viewer::new("own", &made, AnswerLimits::default()).unwrap();
    assert_waits(&viewer, &[(1, "MPI_Recv", 1.0, 3.0, 4.5)]);
}

#[test]
fn without_a_look_at_the_trace_nothing_is_said_of_waits() {
    let made = made(
        &[("MPI_Barrier", 0, 0.0, 5.0), ("MPI_Barrier", 1, 4.0, 5.0)],
        &[],
    );
    let flags = |viewer: &Viewer<'_>| {
        let answer = viewer.answer("picture?w=100", &|| false).unwrap();
        DecodedFrame::read(&answer.body).unwrap().header.flags & flag::WAITS
    };
    let viewer = Viewer::new("own", &made, AnswerLimits::default()).unwrap();
    assert_eq!(flags(&viewer), 0);
    viewer.answer("waits", &|| false).unwrap();
    assert_eq!(flags(&viewer), flag::WAITS);
    // A part of a trace does not tell, even when it is looked at.
    let part = Viewer::part("own", &made, None, AnswerLimits::default()).unwrap();
    part.answer("summary", &|| false).unwrap();
    assert_eq!(
        (json(&part, "waits")["state"].as_str(), flags(&part)),
        (Some("unknown"), 0)
    );
    // Unless the waits of the whole are taken over.
    let bytes = viewer.waits().unwrap().encode(viewer.trace(), 0.0, 5.0);
    part.set_waits(TraceWaits::decode(part.trace(), &bytes).unwrap());
    assert_eq!(json(&part, "waits")["state"], "known");
    assert_eq!(shown(&part, None), shown(&viewer, None));
    assert_eq!(shown(&part, None).len(), 1);
    for wrong in [&bytes[1..], &bytes[..bytes.len() - 1], &[]] {
        assert_eq!(TraceWaits::decode(part.trace(), wrong), None);
    }
}

/// What the details of the call that begins then on this rank say of its waits: seconds, pattern, for whom, and what that one did.
fn told(viewer: &Viewer<'_>, rank: i32, start: f64) -> Vec<(f64, String, String, Option<String>)> {
    let end = start + 1e-3;
    let at = json(viewer, &format!("at?timeline={rank}&t={end}&dt=0"));
    let waits = at["waits"].as_array().unwrap().iter();
    waits
        .map(|wait| {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let doing = wait["doing"]["name"].as_str().map(str::to_owned);
            let seconds = (wait["seconds"].as_f64().unwrap() * 1e6).round() / 1e6;
            (seconds, text(&wait["pattern"]), text(&wait["label"]), doing)
        })
        .collect()
}

#[test]
fn details_know_each_pattern() {
    let none: &[(i32, f64, i32, f64)] = &[];
    let late = [(0, 1.0, 6.0), (1, 2.0, 6.0), (2, 5.0, 6.0)];
    let of = |name: &'static str, calls: [(i32, f64, f64); 3]| {
        let mut states = calls
            .map(|(rank, from, to)| (name, rank, from, to))
            .to_vec();
        states.push(("assemble", 2, 0.5, 4.5));
        made(&states, none)
    };
    let doing = Some("assemble".to_owned());
    let rank = |number: i32| format!("rank {number}");
    for (name, pattern) in [
        ("MPI_Barrier", "wait at barrier"),
        ("MPI_Allreduce", "wait at N×N"),
    ] {
        let made = of(name, late);
        let viewer = Viewer::new("own", &made, AnswerLimits::default()).unwrap();
        viewer.answer("waits", &|| false).unwrap();
        let expected = |seconds| vec![(seconds, pattern.to_owned(), rank(2), doing.clone())];
        assert_eq!(told(&viewer, 0, 1.0), expected(4.0));
        assert_eq!(told(&viewer, 1, 2.0), expected(3.0));
        assert_eq!(told(&viewer, 2, 5.0), []);
    }
    // The root of a broadcast, rank 0, comes last; who comes after it waits for nobody.
    let made_bcast = of(
        "MPI_Bcast",
        [(0, 4.5, 4.505), (1, 0.5, 4.51), (2, 6.0, 6.01)],
    );
    let viewer = Viewer::new("own", &made_bcast, AnswerLimits::default()).unwrap();
    viewer.answer("waits", &|| false).unwrap();
    assert_eq!(
        told(&viewer, 1, 0.5),
        [(4.0, "late broadcast".to_owned(), rank(0), None)]
    );
    assert_eq!(
        (told(&viewer, 0, 4.5), told(&viewer, 2, 6.0)),
        (vec![], vec![])
    );
    // A send that does not end before its receive has begun.
    let late_receive = made(
        &[
            ("MPI_Send", 0, 1.0, 5.0),
            ("assemble", 1, 0.0, 4.0),
            ("MPI_Recv", 1, 4.0, 5.5),
        ],
        &[(0, 1.0, 1, 5.5)],
    );
    let viewer = Viewer::new("own", &late_receive, AnswerLimits::default()).unwrap();
    viewer.answer("waits", &|| false).unwrap();
    assert_eq!(
        told(&viewer, 0, 1.0),
        [(3.0, "late receiver".to_owned(), rank(1), doing)]
    );
    assert_eq!(told(&viewer, 1, 4.0), []);
    // Back along the wait is the receive that it waited for.
    let send = json(&viewer, "at?timeline=0&t=2&dt=0");
    let call = send["waits"][0]["call"].as_str().unwrap();
    let receive = json(&viewer, &format!("ref?ref={call}"));
    assert_eq!(
        (&receive["name"], &receive["t0"]),
        (&"MPI_Recv".into(), &4.0.into())
    );
}

/// Ranks 0 and 1 with two threads each. Either thread of rank 1 is sent for by the same thread of rank 0, which comes later: by 1 s, and by 4 s.
fn of_threads() -> Vec<u8> {
    let names = ["MPI_Send", "MPI_Recv"];
    let mut categories: Vec<Category> = (0..)
        .zip(names)
        .map(|(index, name)| Category::new(index, name.into(), Topology::State, Color::PINK))
        .collect();
    categories.push(Category {
        index: 2,
        ..Category::message()
    });
    let info = InfoWriter::default().int(1).int(8).bytes().to_vec();
    let mut all: Vec<Simple> = Vec::new();
    let mut add = |category, ends: [(f64, i32); 2]| {
        let vertices = ends.map(|(time, line)| Vertex { time, line });
        let info = if category == 2 { info.clone() } else { vec![] };
        all.push((category, vertices.to_vec(), info));
    };
    // Lines 0 and 1 are the threads of rank 0, 2 and 3 those of rank 1.
    for (thread, sent) in [(0, 2.0), (1, 5.0)] {
        add(0, [(sent, thread), (sent + 0.5, thread)]);
        add(1, [(1.0, 2 + thread), (sent + 0.6, 2 + thread)]);
        add(2, [(sent, thread), (sent + 0.6, 2 + thread)]);
    }
    let mut map = LineIdMap::new("Process-Thread View", &["world_rank", "thread"]);
    for (line, of) in [[0, 0], [0, 1], [1, 0], [1, 1]].iter().enumerate() {
        map.push(line as i32, of);
    }
    all.sort_by(|a, b| a.1[1].time.total_cmp(&b.1[1].time));
    let mut builder = TreeBuilder::new(Cursor::new(Vec::new()), TreeOptions::default()).unwrap();
    for (category, vertices, info) in &all {
        let drawable = NewDrawable {
            topology: categories[*category as usize].topology,
            category: *category,
            info,
            vertices,
        };
        builder.add(&drawable).unwrap();
    }
    let tree = builder.close().unwrap();
    let (out, _) = tree.finish(&categories, &[map]).unwrap();
    out.into_inner()
}

/// The search of a loss finds the waits that the loss counts, and its place has the thread on top that was waited for.
#[test]
fn a_loss_is_about_the_thread_that_was_waited_for() {
    let made = of_threads();
    let viewer = Viewer::new("own", &made, AnswerLimits::default()).unwrap();
    let losses = json(&viewer, "summary")["verdict"]["losses"].clone();
    let losses = losses.as_array().unwrap();
    assert_eq!(losses.len(), 2, "{losses:?}");
    for (loss, thread) in losses.iter().zip([1, 0]) {
        let query = loss["query"].as_str().unwrap();
        assert!(query.ends_with(&format!("waitsfor:0.{thread}")), "{query}");
        let hits = json(&viewer, &format!("hits?q={}&bins=1", escaped(query)));
        assert_eq!(hits["count"], loss["count"], "{query}");
        let spec = loss["target"]["timelines"].as_str().unwrap();
        let on_top = json(&viewer, &format!("timelines?timelines={spec}"));
        // Rank 1 waits in it for rank 0, each in the same thread; nobody else is on top.
        let of = |name: &str| [0, 1].map(|nth: usize| on_top[name][nth].as_i64().unwrap());
        assert_eq!(on_top["pinned"], 2, "{spec}");
        assert_eq!((of("rank"), of("thread")), ([1, 0], [thread; 2]), "{spec}");
    }
}
