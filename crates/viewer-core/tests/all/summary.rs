//! The summary names the culprit of runs that were made up to have one.

use crate::common::file;
use serde_json::{Value, json};
use std::io::Cursor;
use trace_formats::slog2::{LineIdMap, NewDrawable, TreeBuilder, TreeOptions, Vertex};
use trace_model::{Category, Color, InfoWriter, Topology};
use viewer_core::{AnswerLimits, Viewer};

type Simple = (i32, Vec<Vertex>, Vec<u8>);

fn summary(file: &[u8], limits: AnswerLimits) -> Value {
    let viewer = Viewer::new("own", file, limits).unwrap();
    let answer = viewer.answer("summary", &|| false).unwrap();
    let summary: Value = serde_json::from_slice(&answer.body).unwrap();
    // Every place can be gone to: its timelines and what it selects are there.
    for finding in summary["cards"].as_array().unwrap() {
        for item in finding["items"].as_array().unwrap() {
            let target = &item["target"];
            assert!(target["t0"].as_f64() < target["t1"].as_f64(), "{item}");
            let timelines = target["timelines"].as_str().unwrap();
            viewer
                .answer(&format!("timelines?timelines={timelines}"), &|| false)
                .unwrap();
            let selected = target["sel"].as_str().unwrap();
            if !selected.is_empty() {
                viewer
                    .answer(
                        &format!("ref?ref={selected}&timelines={timelines}"),
                        &|| false,
                    )
                    .unwrap();
            }
        }
    }
    summary
}

fn finding<'s>(summary: &'s Value, id: &str) -> &'s Value {
    let mut findings = summary["cards"].as_array().unwrap().iter();
    findings
        .find(|finding| finding["id"] == id)
        .unwrap_or_else(|| panic!("{id} in {summary}"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Eight ranks; each of 20 steps is computing, a message to the right, and a barrier. Rank 5 computes longer.
fn late_rank() -> Vec<u8> {
    let state = |index, name: &str, format: &str| {
        let mut category = Category::new(index, name.into(), Topology::State, Color::PINK);
        category.set_info_format(format.as_bytes());
        category
    };
    let categories = [
        state(0, "MPI_Send", ""),
        state(1, "MPI_Recv", ""),
        state(2, "MPI_Barrier", ""),
        state(3, "MPI_File_write_at", "CallID=0x%X, bytes=%l, offset=%l"),
        Category {
            index: 4,
            ..Category::message()
        },
    ];
    let at = |time: f64, line: i32| Vertex { time, line };
    let mut all: Vec<Simple> = Vec::new();
    for step in 0..20 {
        let begin = f64::from(step) * 10.0;
        for rank in 0..8 {
            let mut of = |category, from: f64, to: f64, info: Vec<u8>| {
                all.push((
                    category,
                    vec![at(begin + from, rank), at(begin + to, rank)],
                    info,
                ));
            };
            let computed = if rank == 5 { 4.0 } else { 2.0 };
            of(0, computed, computed + 0.1, vec![]);
            // The right neighbour of the late one waits for it.
            let received = if rank == 6 || rank == 5 { 4.5 } else { 2.5 };
            of(1, computed + 0.1, received, vec![]);
            of(2, received, 5.0, vec![]);
            if rank == 2 {
                let mut info = InfoWriter::default();
                info.long(77).long(1000).long(100);
                of(3, 5.5, 6.5, info.bytes().to_vec());
            }
            let mut info = InfoWriter::default();
            info.int(1).int(8);
            let to = (rank + 1) % 8;
            let received = if to == 6 { 4.4 } else { computed + 0.3 };
            let ends = vec![at(begin + computed + 0.05, rank), at(begin + received, to)];
            all.push((4, ends, info.bytes().to_vec()));
        }
    }
    file(&categories, 8, &mut all)
}

/// What stands above the picture of [`late_rank`]: the waits at the barrier first, evenly over the run; the late rank waits for nobody.
fn verdict_names_the_late_rank(verdict: &Value) {
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value}"));
    let factors = ["load_balance", "serialisation", "transfer"].map(|name| number(&verdict[name]));
    let product: f64 = factors.iter().product();
    assert!(
        (number(&verdict["parallel"]) - product).abs() < 1e-9,
        "{verdict}"
    );
    let first = &verdict["losses"][0];
    assert_eq!(first["what"], "wait at barrier in MPI_Barrier");
    let who = "6 ranks wait for rank 6; the cause is rank 5, which was computing";
    assert_eq!((&first["who"], &first["count"]), (&who.into(), &120.into()));
    assert!((number(&first["seconds"]) - 240.0).abs() < 1e-6, "{first}");
    let parts: Vec<f64> = first["over_time"]
        .as_array()
        .unwrap()
        .iter()
        .map(number)
        .collect();
    assert!(
        (parts.iter().sum::<f64>() - 240.0).abs() < 1e-6,
        "{parts:?}"
    );
    let halves = parts.split_at(parts.len() / 2);
    let [begin, end]: [f64; 2] = [halves.0, halves.1].map(|half| half.iter().sum());
    assert!((begin - end).abs() <= 12.0, "{begin} {end}");
    // A rank waits 2 s of each of 20 steps; from the first call to the last there are some 193 s.
    let shares = |rank: usize| &verdict["ranks"][rank];
    assert_eq!(
        (&shares(5)["rank"], &shares(5)["waiting"]),
        (&5.into(), &0.0.into())
    );
    let waiting = number(&shares(0)["waiting"]);
    assert!((40.0 / 196.0..40.0 / 190.0).contains(&waiting), "{waiting}");
}

#[test]
fn the_late_rank_is_named() {
    let found = summary(&late_rank(), AnswerLimits::default());
    assert_eq!(
        (&found["ranks"], &found["exact"]),
        (&8.into(), &true.into())
    );
    let shares = found["bar"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["share"].as_f64().unwrap());
    assert!((shares.sum::<f64>() - 1.0).abs() < 1e-9);
    let imbalance = finding(&found, "imbalance");
    assert!(
        text(&imbalance["sentence"]).starts_with("rank 5 computes "),
        "{imbalance}"
    );
    let first = &imbalance["items"][0];
    assert!(text(&first["text"]).starts_with("rank 5 "), "{first}");
    assert_eq!(first["target"]["timelines"], "pin:5;sort:busy");
    // The longest time that rank 5 computes lies in the window.
    let window = [&first["target"]["t0"], &first["target"]["t1"]].map(|t| t.as_f64().unwrap());
    assert!(
        window[0] % 10.0 < 5.1 + 4.0 && window[1] - window[0] < 20.0,
        "{first}"
    );
    let waits = finding(&found, "waits");
    // In each step six ranks come to the barrier at 2.5 s and wait until 4.5 s; the rest of the call is no wait. Rank 6, which comes
    // with rank 5, has waited for its message.
    let top = &waits["items"][0];
    assert_eq!(
        text(&top["text"]),
        "wait at barrier in MPI_Barrier: 6 ranks wait for rank 6, 120 times; the cause is rank 5, which was computing"
    );
    assert!(text(&top["value"]).starts_with("240 s ("), "{waits}");
    verdict_names_the_late_rank(&found["verdict"]);
    let phases = finding(&found, "phases");
    assert!(
        text(&phases["sentence"]).contains("20 iterations, of 10.0 s each"),
        "{phases}"
    );
    let io = finding(&found, "io");
    assert!(
        text(&io["sentence"]).contains("20 MPI-IO calls take 20.0 s and move 19.5 KiB"),
        "{io}"
    );
    assert!(
        text(&io["sentence"]).contains("20 move less than 64 KiB and 20 do not begin"),
        "{io}"
    );
    assert!(text(&io["items"][0]["text"]).starts_with("rank 2 "), "{io}");
    let communication = finding(&found, "communication");
    assert!(text(&communication["sentence"]).starts_with("160 messages with 1.25 KiB; 100 %"));
}

#[test]
fn a_late_sender_is_named() {
    let names = ["MPI_Send", "MPI_Recv"];
    let mut categories: Vec<Category> = (0..)
        .zip(names)
        .map(|(index, name)| Category::new(index, name.into(), Topology::State, Color::PINK))
        .collect();
    categories.push(Category {
        index: 2,
        ..Category::message()
    });
    let at = |time: f64, line: i32| Vertex { time, line };
    let mut info = InfoWriter::default();
    info.int(1).int(8);
    let mut all: Vec<Simple> = vec![
        (1, vec![at(0.0, 0), at(5.0, 0)], vec![]),
        (0, vec![at(4.5, 2), at(4.6, 2)], vec![]),
        (2, vec![at(4.5, 2), at(4.9, 0)], info.bytes().to_vec()),
        // One that was sent backwards in time.
        (2, vec![at(3.0, 1), at(2.0, 2)], info.bytes().to_vec()),
    ];
    let found = summary(&file(&categories, 3, &mut all), AnswerLimits::default());
    let waits = finding(&found, "waits");
    let text = "late sender in MPI_Recv: rank 0 waits for rank 2, 1 time";
    assert_eq!(waits["items"][0]["text"], text);
    assert_eq!(waits["items"][0]["target"]["timelines"], "pin:0,2");
    let who = &found["verdict"]["losses"][0]["who"];
    assert_eq!(who, "rank 0 waits for rank 2, which was computing");
    let trouble = finding(&found, "trouble");
    assert_eq!(
        (
            &trouble["value"],
            trouble["items"].as_array().unwrap().len()
        ),
        (&"1".into(), 1)
    );
}

/// A file of three ranks: category, line, from and to of states; line and time of both ends of messages.
fn small(states: &[(i32, i32, f64, f64)], messages: &[(i32, f64, i32, f64)]) -> Vec<u8> {
    with_collective("MPI_Allreduce", states, messages)
}

/// As [`small`], with this name for the collective call, category 2.
fn with_collective(
    name: &str,
    states: &[(i32, i32, f64, f64)],
    messages: &[(i32, f64, i32, f64)],
) -> Vec<u8> {
    let names = ["MPI_Send", "MPI_Recv", name];
    let mut categories: Vec<Category> = (0..)
        .zip(names)
        .map(|(index, name)| Category::new(index, name.into(), Topology::State, Color::PINK))
        .collect();
    categories.push(Category {
        index: 3,
        ..Category::message()
    });
    let at = |time: f64, line: i32| Vertex { time, line };
    let mut all: Vec<Simple> = (states.iter())
        .map(|&(kind, line, from, to)| (kind, vec![at(from, line), at(to, line)], vec![]))
        .collect();
    for &(from, sent, to, received) in messages {
        let mut info = InfoWriter::default();
        info.int(1).int(8);
        let ends = vec![at(sent, from), at(received, to)];
        all.push((3, ends, info.bytes().to_vec()));
    }
    file(&categories, 3, &mut all)
}

#[test]
fn a_rank_that_waits_itself_is_not_blamed() {
    // Rank 0 computes for 9 s and then sends to rank 1, which comes last to the collective call of all.
    let file = small(
        &[
            (0, 0, 9.0, 9.1),
            (2, 0, 9.1, 10.0),
            (1, 1, 1.0, 9.2),
            (2, 1, 9.3, 10.0),
            (2, 2, 1.0, 10.0),
        ],
        &[(0, 9.0, 1, 9.2)],
    );
    let found = summary(&file, AnswerLimits::default());
    let waits = finding(&found, "waits");
    assert_eq!(
        waits["items"][0]["text"],
        "wait at N×N in MPI_Allreduce: 2 ranks wait for rank 1, 2 times; the cause is rank 0, which was computing"
    );
    assert_eq!(waits["items"][0]["target"]["timelines"], "pin:2,1,0");
    assert_eq!(
        waits["items"][1]["text"],
        "late sender in MPI_Recv: rank 1 waits for rank 0, 1 time"
    );
    let sentence = text(&finding(&found, "imbalance")["sentence"]);
    assert!(
        sentence.ends_with(" of the waiting is due to rank 0, which was computing."),
        "{sentence}"
    );
    // Back from a collective call leads to the call that it waited for, and from there nowhere.
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    let back = |reference: &str| -> Value {
        let question = format!("follow?ref={reference}&dir=-1");
        let answer = viewer.answer(&question, &|| false).unwrap();
        serde_json::from_slice(&answer.body).unwrap()
    };
    let last = back(text(&waits["items"][0]["target"]["sel"]))["partner"].clone();
    assert_eq!(
        (&last["label"], &last["t0"]),
        (&"rank 1".into(), &9.3.into())
    );
    assert_eq!(back(text(&last["ref"]))["partner"], Value::Null);
}

#[test]
fn a_rank_that_waits_in_a_reduction_is_not_blamed() {
    // Rank 0, the root, waits until rank 2 comes. So it comes last to the next call, in which rank 1 waits.
    let at = |time: f64, line: i32| Vertex { time, line };
    let names = ["MPI_Reduce", "MPI_Barrier"];
    let categories: Vec<Category> = (0..)
        .zip(names)
        .map(|(index, name)| Category::new(index, name.into(), Topology::State, Color::PINK))
        .collect();
    let calls = [
        (0, 0, 0.0, 5.0),
        (0, 1, 0.0, 0.0002),
        (0, 2, 4.5, 4.5001),
        (1, 0, 5.1, 5.2),
        (1, 1, 0.1, 5.2),
        (1, 2, 4.6, 5.2),
    ];
    let mut all: Vec<Simple> = (calls.iter())
        .map(|&(kind, line, from, to)| (kind, vec![at(from, line), at(to, line)], vec![]))
        .collect();
    let found = summary(&file(&categories, 3, &mut all), AnswerLimits::default());
    let waits = finding(&found, "waits");
    let items = waits["items"].as_array().unwrap().iter();
    let told: Vec<&str> = items.map(|item| text(&item["text"])).collect();
    assert_eq!(
        told,
        [
            "wait at barrier in MPI_Barrier: 2 ranks wait for rank 0, 2 times; the cause is rank 2, which was computing",
            "early reduce in MPI_Reduce: rank 0 waits for rank 2, 1 time",
        ]
    );
}

/// The waits that the summary tells of one collective call: words, and seconds with their share. Each rank's call is told by its rank, start and end.
fn told_of(name: &str, calls: &[(i32, f64, f64)]) -> Vec<(String, String)> {
    // Later each rank sends to nobody, so that there is computing in between.
    let states: Vec<_> = (calls.iter())
        .flat_map(|&(rank, from, to)| [(2, rank, from, to), (0, rank, 20.0, 20.001)])
        .collect();
    let found = summary(
        &with_collective(name, &states, &[]),
        AnswerLimits::default(),
    );
    let mut findings = found["cards"].as_array().unwrap().iter();
    let waits = findings.find(|finding| finding["id"] == "waits");
    waits.map_or(Vec::new(), |finding| {
        let items = finding["items"].as_array().unwrap().iter();
        let told = items.map(|item| {
            let (seconds, _) = text(&item["value"]).split_once(" (").unwrap();
            (text(&item["text"]).to_owned(), seconds.to_owned())
        });
        told.collect()
    })
}

#[test]
fn who_has_left_a_call_does_not_wait_in_it() {
    // The leaf that is late to a broadcast: the others have what they wanted.
    let calls = [(0, 0.0, 0.0004), (1, 0.0, 0.0004), (2, 5.0, 5.0002)];
    assert_eq!(told_of("MPI_Bcast", &calls), []);
    // The root that is late to a reduction: what the leaves gave lies there.
    let calls = [(0, 5.0, 5.0002), (1, 0.0, 0.0003), (2, 0.0, 0.0003)];
    assert_eq!(told_of("MPI_Reduce", &calls), []);
}

#[test]
fn a_wait_ends_when_the_one_that_is_waited_for_comes() {
    let told = |text: &str, seconds: &str| [(text.to_owned(), seconds.to_owned())];
    // The leaf that is late to a reduction: the root waits, the other leaf does not.
    let calls = [(0, 0.0, 5.0), (1, 0.0, 0.0002), (2, 4.5, 4.5001)];
    assert_eq!(
        told_of("MPI_Reduce", &calls),
        told(
            "early reduce in MPI_Reduce: rank 0 waits for rank 2, 1 time",
            "4.50 s"
        )
    );
    // The root that is late to a broadcast, and a leaf that comes later still: nobody waits for the leaf.
    let calls = [(0, 4.5, 4.505), (1, 0.5, 4.51), (2, 6.0, 6.001)];
    assert_eq!(
        told_of("MPI_Bcast", &calls),
        told(
            "late broadcast in MPI_Bcast: rank 1 waits for rank 0, 1 time",
            "4.00 s"
        )
    );
    // Time in a call after the last rank has come is no wait.
    let calls = [(0, 0.0, 9.0), (1, 0.0, 9.0), (2, 1.0, 9.0)];
    assert_eq!(
        told_of("MPI_Allreduce", &calls),
        told(
            "wait at N×N in MPI_Allreduce: 2 ranks wait for rank 2, 2 times",
            "2.00 s"
        )
    );
}

#[test]
fn many_waits_before_a_call_are_waits_as_well() {
    // Rank 1 waits six times and 300 times for rank 0, and comes last to the call of all: it is not to blame.
    for n in [6, 300] {
        let step = 9.0 / f64::from(n);
        let (mut states, mut messages) = (vec![], vec![]);
        for i in 0..n {
            let from = f64::from(i) * step;
            let sent = from + 0.9 * step;
            states.push((0, 0, sent, sent + 0.01 * step));
            states.push((1, 1, from, from + 0.95 * step));
            messages.push((0, sent, 1, from + 0.95 * step));
        }
        states.extend([(2, 0, 9.0, 10.0), (2, 1, 9.1, 10.0), (2, 2, 0.5, 10.0)]);
        let found = summary(&small(&states, &messages), AnswerLimits::default());
        let sentence = text(&finding(&found, "imbalance")["sentence"]);
        assert!(
            sentence.ends_with(" of the waiting is due to rank 0, which was computing."),
            "{n}: {sentence}"
        );
    }
}

#[test]
fn start_and_end_stand_apart() {
    let names = ["MPI_Init", "MPI_Send", "MPI_Finalize"];
    let categories: Vec<Category> = (0..)
        .zip(names)
        .map(|(index, name)| Category::new(index, name.into(), Topology::State, Color::PINK))
        .collect();
    let at = |time: f64, line: i32| Vertex { time, line };
    let mut all: Vec<Simple> = vec![
        (0, vec![at(0.0, 0), at(5.0, 0)], vec![]),
        (1, vec![at(6.0, 0), at(7.0, 0)], vec![]),
        (2, vec![at(8.0, 0), at(11.0, 0)], vec![]),
    ];
    let found = summary(&file(&categories, 1, &mut all), AnswerLimits::default());
    let top = finding(&found, "top");
    assert!(
        text(&top["sentence"]).starts_with("MPI_Send takes the most time"),
        "{top}"
    );
    let items = top["items"].as_array().unwrap();
    let last = items.last().unwrap();
    assert_eq!(last["text"], "start-up and end: MPI_Init, MPI_Finalize");
    assert!(text(&last["value"]).starts_with("8.00 s"), "{last}");
}

#[test]
fn a_late_receiver_is_named() {
    let file = small(
        &[(0, 0, 1.0, 6.0), (1, 2, 5.0, 6.1), (2, 1, 0.0, 0.5)],
        &[(0, 1.0, 2, 6.1)],
    );
    let found = summary(&file, AnswerLimits::default());
    let waits = finding(&found, "waits");
    assert_eq!(
        waits["items"][0]["text"],
        "late receiver in MPI_Send: rank 0 waits for rank 2, 1 time"
    );
}

#[test]
fn what_is_too_large_is_summed_up_from_previews() {
    let file = late_rank();
    let limits = AnswerLimits {
        tree_bytes: 1500,
        ..AnswerLimits::default()
    };
    let found = summary(&file, limits);
    let exact = summary(&file, AnswerLimits::default());
    assert_eq!(found["exact"], false);
    assert!(text(&found["lost"][0]).contains('≈'));
    assert!(text(&finding(&found, "top")["sentence"]).contains('≈'));
    for (found, exact) in found["bar"]
        .as_array()
        .unwrap()
        .iter()
        .zip(exact["bar"].as_array().unwrap())
    {
        assert_eq!(found["class"], exact["class"]);
        let error = found["share"].as_f64().unwrap() - exact["share"].as_f64().unwrap();
        assert!(error.abs() < 0.01, "{found} {exact}");
    }
    for id in ["imbalance", "io", "communication"] {
        let sentence = text(&finding(&found, id)["sentence"]);
        assert!(sentence.contains('≈'), "{sentence}");
    }
    assert_eq!(
        finding(&found, "imbalance")["items"][0]["target"]["timelines"],
        finding(&exact, "imbalance")["items"][0]["target"]["timelines"]
    );
}

#[test]
fn what_is_too_large_is_summed_up_exactly_once_somebody_has_read_it() {
    let file = late_rank();
    let limits = AnswerLimits {
        tree_bytes: 1500,
        ..AnswerLimits::default()
    };
    let viewer = Viewer::new("own", &file, limits).unwrap();
    let ask = || -> Value {
        let answer = viewer.answer("summary", &|| false).unwrap();
        serde_json::from_slice(&answer.body).unwrap()
    };
    viewer.set_summing(true);
    let first = ask();
    assert_eq!(
        (&first["exact"], &first["pending"]),
        (&false.into(), &true.into())
    );
    viewer.summary(&|| false).unwrap();
    viewer.set_summing(false);
    let then = ask();
    assert_eq!(
        (&then["exact"], &then["pending"]),
        (&true.into(), &false.into())
    );
    assert_eq!(
        then["cards"],
        summary(&file, AnswerLimits::default())["cards"]
    );
}

/// What each call of the late rank's run waits for, by its details: 2 s in each barrier for the last two, and 1.9 s of rank 6 for the send of
/// rank 5, which was computing.
#[test]
fn details_say_how_long_a_call_waited_and_for_whom() {
    let file = late_rank();
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    // As far as can be seen around the call: rank 6 waits in its receive from 2.1 s until the call begins that sends, at 4 s.
    assert_waits_of_details(&viewer, [Value::Null, Value::Null], 1.9);
    // Once the whole trace has been looked at, as the report has it: until the message begins, at 4.05 s.
    viewer.answer("waits", &|| false).unwrap();
    assert_waits_of_details(
        &viewer,
        ["wait at barrier".into(), "late sender".into()],
        1.95,
    );
}

/// Checks the waits that the details of [`late_rank`] tell, with these patterns of barriers and receives, and so many seconds of each receive.
#[track_caller]
fn assert_waits_of_details(viewer: &Viewer<'_>, patterns: [Value; 2], receiving: f64) {
    let ask = |question: &str| -> Value {
        let answer = viewer.answer(question, &|| false).unwrap();
        serde_json::from_slice(&answer.body).unwrap()
    };
    let all = ask("events?limit=5000&q=is:state");
    let (mut in_barriers, mut in_receives) = (Vec::new(), Vec::new());
    for reference in all["ref"].as_array().unwrap() {
        let call = ask(&format!("ref?ref={}", reference.as_str().unwrap()));
        let waits = call["waits"].as_array().unwrap();
        assert!(waits.len() < 2, "{call}");
        let wait = &call["waits"][0];
        let step = (call["t0"].as_f64().unwrap() / 10.0).floor() * 10.0;
        match (text(&call["name"]), wait.is_null()) {
            (_, true) => continue,
            ("MPI_Barrier", _) => {
                in_barriers.push(wait["seconds"].as_f64().unwrap());
                assert_eq!(wait["pattern"], patterns[0]);
                assert!(
                    ["rank 5", "rank 6"].contains(&text(&wait["label"])),
                    "{call}"
                );
            }
            ("MPI_Recv", _) => {
                in_receives.push(wait["seconds"].as_f64().unwrap());
                assert_eq!(wait["pattern"], patterns[1]);
                assert_eq!(
                    (text(&call["label"]), text(&wait["label"])),
                    ("rank 6", "rank 5")
                );
                assert_eq!(wait["doing"], Value::Null, "{call}");
                let send = ask(&format!("ref?ref={}", text(&wait["call"])));
                assert_eq!(
                    (text(&send["name"]), &send["t0"]),
                    ("MPI_Send", &(step + 4.0).into())
                );
            }
            _ => panic!("{call}"),
        }
    }
    assert_eq!((in_barriers.len(), in_receives.len()), (120, 20));
    assert!(in_barriers.iter().all(|wait| (wait - 2.0).abs() < 1e-9));
    assert!(
        in_receives
            .iter()
            .all(|wait| (wait - receiving).abs() < 1e-9),
        "{in_receives:?}"
    );
    // A list has none.
    let follow = ask(&format!(
        "follow?ref={}&dir=1",
        all["ref"][0].as_str().unwrap()
    ));
    assert!(
        follow["arrows"]
            .as_array()
            .unwrap()
            .iter()
            .all(|arrow| arrow["wait"].is_null())
    );
}

/// Ranks 0 and 1, rank 1 with a second thread. Both are in MPI_Init until 1 s. Rank 0 calls MPI_Send from 3 to 4 s and MPI_Finalize from 24 s
/// on, rank 1 MPI_Recv from 2 to 4 s and MPI_Finalize from 5 s on; its other thread is in MPI_Recv from 1 to 3 s, for a message that rank 0
/// sends in its only call.
fn early_end() -> Vec<u8> {
    let names = ["MPI_Init", "MPI_Send", "MPI_Recv", "MPI_Finalize"];
    let mut categories: Vec<Category> = (0..)
        .zip(names)
        .map(|(index, name)| Category::new(index, name.into(), Topology::State, Color::PINK))
        .collect();
    categories.push(Category::new(
        4,
        "message".into(),
        Topology::Arrow,
        Color::WHITE,
    ));
    let mut all: [(i32, [(f64, i32); 2]); 9] = [
        (0, [(0.0, 0), (1.0, 0)]),
        (0, [(0.0, 1), (1.0, 1)]),
        (2, [(1.0, 2), (3.5, 2)]),
        (4, [(3.0, 0), (3.5, 2)]),
        (1, [(3.0, 0), (4.0, 0)]),
        (2, [(2.0, 1), (4.0, 1)]),
        (4, [(3.0, 0), (4.0, 1)]),
        (3, [(5.0, 1), (6.0, 1)]),
        (3, [(24.0, 0), (25.0, 0)]),
    ];
    all.sort_by(|a, b| a.1[1].0.total_cmp(&b.1[1].0));
    let mut builder = TreeBuilder::new(Cursor::new(Vec::new()), TreeOptions::default()).unwrap();
    for (category, ends) in all {
        let vertices = ends.map(|(time, line)| Vertex { time, line });
        let topology = categories[category as usize].topology;
        let info = &[];
        let drawable = NewDrawable {
            topology,
            category,
            info,
            vertices: &vertices,
        };
        builder.add(&drawable).unwrap();
    }
    let mut map = LineIdMap::new("Process-Thread View", &["world_rank", "thread"]);
    for (line, of) in [[0, 0], [1, 0], [1, 1]].iter().enumerate() {
        map.push(line as i32, of);
    }
    let tree = builder.close().unwrap();
    let (out, _) = tree.finish(&categories, &[map]).unwrap();
    out.into_inner()
}

#[test]
fn the_verdict_says_what_it_is_not_about() {
    let found = summary(&early_end(), AnswerLimits::default());
    // From 1 to 5 s. Rank 1 waits for 1 s on its main thread, for 2 s on the other one.
    let verdict = &found["verdict"];
    assert_eq!(verdict["waiting"], 0.125);
    assert_eq!(
        verdict["reservations"],
        json!([
            "This is about 4.00 s only: a rank came to MPI_Finalize 20.0 s before the end of the run.",
            "This is about the main threads of the ranks: their other threads wait for 2.00 s in all, which is no part of it."
        ])
    );
    // A run of which nothing is left out.
    let whole = summary(&late_rank(), AnswerLimits::default());
    assert_eq!(whole["verdict"]["reservations"], json!([]));
}

#[test]
fn imbalance_is_that_of_the_report() {
    let found = summary(&early_end(), AnswerLimits::default());
    // Between 1 and 5 s rank 0 computes for 2 + 1 s, rank 1 for 1 + 1 s; what rank 0 does afterwards is no part of it.
    let imbalance = finding(&found, "imbalance");
    let sentence = text(&imbalance["sentence"]);
    assert!(
        sentence.starts_with(
            "rank 0 computes 20.0 % longer than the mean of all ranks (3.00 s against 2.50 s). Parallel efficiency 62.5 %: load balance 83.3 %"
        ),
        "{sentence}"
    );
    assert_eq!(
        imbalance["items"][0]["text"],
        "rank 0 computes 20.0 % longer than the mean"
    );
    assert_eq!(
        imbalance["from"],
        "time outside of MPI calls on the main threads of ranks, between MPI_Init and MPI_Finalize"
    );
}
