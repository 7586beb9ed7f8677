//! Numbers about windows against `analysis::stats`, which `mpitrace stats` prints, and against counting by hand.

use crate::common::{categories, file};
use analysis::stats::{StatisticsOptions, collect_slog2};
use serde_json::Value;
use trace_formats::slog2::{Slog2Reader, TimeBBox, Vertex};
use trace_model::{Category, InfoWriter};
use viewer_core::index::{IndexBuilder, IndexShape};
use viewer_core::{AnswerLimits, Viewer};

fn ask(viewer: &Viewer<'_>, question: &str) -> Value {
    let answer = viewer.answer(question, &|| false);
    let answer = answer.unwrap_or_else(|error| panic!("{question}: {error}"));
    serde_json::from_slice(&answer.body).unwrap()
}

fn trace() -> Vec<u8> {
    let mut categories = categories();
    categories[6] = Category {
        index: 6,
        ..Category::message()
    };
    let at = |time: f64, line: i32| Vertex { time, line };
    let mut all = Vec::new();
    for step in 0..200 {
        let (line, start) = (step % 4, f64::from(step));
        all.push((
            step % 3,
            vec![at(start, line), at(start + 0.75, line)],
            vec![],
        ));
        all.push((
            3,
            vec![at(start + 0.25, line), at(start + 0.5, line)],
            vec![],
        ));
        let mut info = InfoWriter::default();
        info.int(step % 5).int(100 * (step % 2));
        let ends = vec![at(start + 0.3, line), at(start + 0.6, (line + 1) % 4)];
        all.push((6, ends, info.bytes().to_vec()));
        all.push((7, vec![at(start, line)], vec![]));
    }
    file(&categories, 4, &mut all)
}

/// Compares all that the two have in common, digit by digit.
fn compare(file: &[u8], name: &str) {
    let viewer = Viewer::new(name, file, AnswerLimits::default()).unwrap();
    let reader = Slog2Reader::new(file).unwrap();
    let all = reader.root().unwrap().bounds;
    let at = |part: f64| all.earliest + part * all.duration();
    for (from, to) in [
        (0.0, 1.0),
        (0.2, 0.3),
        (0.313, 0.8),
        (0.5, 0.5),
        (-1.0, 2.0),
    ] {
        let (earliest, latest) = (at(from), at(to));
        let window = TimeBBox { earliest, latest };
        let (expected, _) = collect_slog2(&reader, window, StatisticsOptions::default()).unwrap();
        let found = ask(&viewer, &format!("stats?t0={earliest}&t1={latest}"));
        assert_eq!(found["exact"], true);
        let found = found["categories"].as_array().unwrap();
        assert_eq!(found.len(), expected.categories.len(), "{name} {from}");
        for (found, expected) in found.iter().zip(&expected.categories) {
            let tally = expected.tally;
            assert_eq!(found["name"], *expected.name.to_str(), "{name}");
            assert_eq!(found["count"], tally.count);
            for (key, value) in [
                ("incl", tally.total),
                ("excl", tally.exclusive),
                ("min", tally.min),
                ("max", tally.max),
            ] {
                // The answer has all digits, but serde_json reads the last one only roughly.
                let found = found[key].as_f64().unwrap();
                let error = (found - value).abs();
                assert!(
                    error <= 3e-16 * value.abs(),
                    "{name} {from} {key}: {found} {value}"
                );
            }
        }
    }
}

#[test]
fn windows_have_the_numbers_of_the_statistics() {
    compare(&trace(), "own");
    for (name, bytes) in test_support::golden::contents("mpe", ".slog2") {
        if Slog2Reader::new(&bytes).is_ok_and(|reader| reader.root().is_some()) {
            compare(&bytes, &name);
        }
    }
}

#[test]
fn rows_pairs_and_sizes_are_those_that_were_made() {
    let file = trace();
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    let stats = ask(&viewer, "stats?t0=0&t1=200");
    assert_eq!(stats["timelines"]["busy"], Value::from(vec![37.5; 4]));
    assert_eq!(
        stats["timelines"]["ends"],
        Value::from(vec![196.75, 197.75, 198.75, 199.75])
    );
    let top = &stats["timelines"]["top"];
    assert_eq!(top.as_array().unwrap().len(), 4);
    // Kind 3 is nested everywhere: 50 times a quarter second on each timeline.
    let nested = top
        .as_array()
        .unwrap()
        .iter()
        .find(|top| top["kind"] == 3)
        .unwrap();
    assert_eq!(nested["excl"], Value::from(vec![12.5; 4]));
    let matrix = ask(&viewer, "matrix?t0=0&t1=200");
    let row = |from: i32, to: i32, bytes: i32| Value::from(vec![from, to, 50, bytes]);
    let expected = vec![row(0, 1, 0), row(1, 2, 5000), row(2, 3, 0), row(3, 0, 5000)];
    assert_eq!(matrix["cells"], Value::from(expected));
    // Without timeline 1 neither the messages to it nor those from it.
    let matrix = ask(&viewer, "matrix?t0=0&t1=200&timelines=only:!1");
    assert_eq!(
        matrix["cells"],
        Value::from(vec![row(1, 2, 0), row(2, 0, 5000)])
    );
    let sizes = ask(&viewer, "sizes?t0=0&t1=200");
    let classes = [[0, 100, 0], [64, 100, 10_000]].map(|class| Value::from(class.to_vec()));
    assert_eq!(sizes["messages"], Value::from(classes.to_vec()));
    // Sizes and times are of the messages in the matrix: of two timelines only those from 1 to 2, not those from 2 to 3.
    for part in ["y0=1&y1=3", "timelines=only:1-2"] {
        let sizes = ask(&viewer, &format!("sizes?t0=0&t1=200&{part}"));
        let of_both = vec![Value::from(vec![64, 50, 5000])];
        assert_eq!(sizes["messages"], Value::from(of_both), "{part}");
        let times = sizes["durations"].as_array().unwrap().iter();
        let times: u64 = times.map(|class| class[1].as_u64().unwrap()).sum();
        assert_eq!((times, &sizes["all"]), (50, &50.into()), "{part}");
    }
    let sizes = ask(&viewer, "sizes?t0=0&t1=200&from=1&to=2");
    let of_pair = vec![Value::from(vec![64, 50, 5000])];
    assert_eq!(sizes["messages"], Value::from(of_pair));
    let sizes = ask(&viewer, "sizes?t0=0&t1=200&from=2&to=1");
    assert_eq!(sizes["messages"], Value::Array(vec![]));
    let lengths = ask(&viewer, "sizes?t0=0&t1=200&kind=3")["durations"].clone();
    assert_eq!(lengths[0][1], 200);
    let shown = lengths[0][0].as_f64().unwrap();
    assert!(shown <= 0.25 && 0.25 < 2.0 * shown, "{lengths}");
}

/// Each message begins in the state of kind 3 that is nested in another one, and arrives where the next line does nothing.
#[test]
fn calls_have_the_bytes_of_their_messages() {
    let file = trace();
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    let bytes = |question: &str| {
        let stats = ask(&viewer, question);
        let categories = stats["categories"].as_array().unwrap().iter();
        let bytes = categories.map(|c| (c["name"].to_string(), c["bytes"].as_u64().unwrap()));
        bytes.filter(|(_, bytes)| *bytes > 0).collect::<Vec<_>>()
    };
    let of = |name: &str, bytes: u64| (format!("{name:?}"), bytes);
    let all = bytes("stats?t0=0&t1=200");
    assert_eq!(all, [of("state 3", 10_000), of("message", 10_000)]);
    // Only timelines 0 and 1, of which 1 sends; without the kind that sends nobody does.
    let timelines = bytes("stats?t0=0&t1=200&y0=0&y1=2");
    assert_eq!(timelines, [of("state 3", 5000), of("message", 5000)]);
    let hidden = bytes("stats?t0=0&t1=200&hide=3");
    assert_eq!(hidden, [of("message", 10_000)]);
    // The message of step 1 is under way here, but sent before.
    let between = bytes("stats?t0=1.35&t1=1.45");
    assert_eq!(between, [of("message", 100)]);
}

#[test]
fn a_table_of_hits_has_what_the_search_counts() {
    let file = trace();
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    for query in ["state%203%20rank:1", "size%3E=1", "is:event%20t%3E150"] {
        let hits = ask(&viewer, &format!("hits?t0=0&t1=200&q={query}"));
        let table = ask(&viewer, &format!("events?t0=0&t1=200&limit=1000&q={query}"));
        assert!(hits["count"].as_u64().unwrap() > 20, "{query}");
        assert_eq!(table["total"], hits["count"], "{query}");
        assert_eq!(table["ref"].as_array().unwrap().len() as u64, hits["count"]);
    }
}

#[test]
fn tables_are_sorted_and_cut() {
    let file = trace();
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    let all = ask(&viewer, "events?t0=0&t1=200&limit=5000");
    assert_eq!(
        (&all["total"], all["t0"].as_array().unwrap().len()),
        (&800.into(), 800)
    );
    let starts: Vec<f64> = all["t0"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t.as_f64().unwrap())
        .collect();
    assert!(starts.is_sorted());
    let part = ask(&viewer, "events?t0=0&t1=200&offset=100&limit=7");
    for column in ["ref", "name", "timeline", "info"] {
        let expected = &all[column].as_array().unwrap()[100..107];
        assert_eq!(part[column].as_array().unwrap(), expected, "{column}");
    }
    let longest = ask(&viewer, "events?t0=0&t1=200&sort=-dur&limit=1&hide=6");
    assert_eq!(longest["dur"][0], 0.75);
    let name = ask(&viewer, "events?t0=0&t1=200&sort=-name&limit=1");
    assert_eq!(name["name"][0], "state 3");
    // Each reference of the table leads to its drawable.
    let reference = part["ref"][0].as_str().unwrap();
    assert_eq!(
        ask(&viewer, &format!("ref?ref={reference}"))["t0"],
        part["t0"][0]
    );
    let error = viewer
        .answer("events?limit=1000000", &|| false)
        .unwrap_err();
    assert_eq!(error.status, 413);
    // For other programs all of it, unless less is wanted.
    for (question, lines) in [
        ("csv?what=events", 801),
        ("csv?what=events&offset=700", 101),
        ("csv?what=events&limit=7", 8),
        ("csv?what=events&q=state%203", 201),
        ("csv?what=timelines", 5),
        ("csv?what=timelines&y0=2&y1=4", 3),
    ] {
        let answer = viewer.answer(question, &|| false).unwrap();
        let text = String::from_utf8(answer.body).unwrap();
        assert_eq!(text.lines().count(), lines, "{question}");
    }
}

/// The trace lasts from 0 to 199.75 seconds.
#[test]
fn a_window_beyond_the_trace_has_the_time_that_the_trace_tells_of() {
    let file = trace();
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    for (window, span) in [
        ("t0=0&t1=1000", 199.75),
        ("t0=-50&t1=100", 100.0),
        ("t0=150&t1=350", 49.75),
        ("t0=20&t1=30", 10.0),
        ("t0=300&t1=400", 100.0),
    ] {
        let found = ask(&viewer, &format!("stats?{window}"));
        assert_eq!(found["span"], span, "{window}");
    }
    let outside = ask(&viewer, "stats?t0=300&t1=400");
    assert_eq!(outside["drawables"], 0);
}

#[test]
fn tables_for_other_programs() {
    let mut categories = categories();
    categories[0].name = "=cmd|'\"/C calc\"".into();
    let at = |time: f64| Vertex { time, line: 0 };
    let file = file(&categories, 1, &mut [(0, vec![at(0.5), at(1.5)], vec![])]);
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    let csv = |what: &str| {
        let answer = viewer
            .answer(&format!("csv?what={what}&q=cmd"), &|| false)
            .unwrap();
        String::from_utf8(answer.body).unwrap()
    };
    let stats = csv("stats");
    let line = stats.lines().nth(1).unwrap();
    assert_eq!(
        line,
        "\"'=cmd|'\"\"/C calc\"\"\",state,1,1,1,1,1,1,rank 0,0,true"
    );
    for (what, lines) in [
        ("timelines", 2),
        ("matrix", 1),
        ("events", 2),
        ("hits", 201),
    ] {
        assert_eq!(csv(what).lines().count(), lines, "{what}");
    }
    assert_eq!(
        viewer.answer("csv?what=x", &|| false).unwrap_err().status,
        400
    );
}

#[test]
fn what_is_too_much_is_estimated_and_says_so() {
    let file = trace();
    let limits = AnswerLimits {
        tree_bytes: 6000,
        ..AnswerLimits::default()
    };
    let viewer = Viewer::new("own", &file, limits).unwrap();
    let found = ask(&viewer, "stats");
    assert_eq!(
        (&found["exact"], &found["exact_times"]),
        (&false.into(), &false.into())
    );
    let exact = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    let exact = ask(&exact, "stats");
    let (found, exact) = (&found["categories"], &exact["categories"]);
    for (found, exact) in found
        .as_array()
        .unwrap()
        .iter()
        .zip(exact.as_array().unwrap())
    {
        assert_eq!(
            (&found["name"], &found["count"]),
            (&exact["name"], &exact["count"])
        );
        assert_eq!(found["max"], Value::Null);
        let seconds = |value: &Value| value["incl"].as_f64().unwrap();
        let error = (seconds(found) - seconds(exact)).abs();
        assert!(error <= 1e-3 * seconds(exact), "{found} {exact}");
        // States that were read have states in them that were not.
        let seconds = |value: &Value| value["excl"].as_f64().unwrap();
        let error = (seconds(found) - seconds(exact)).abs();
        assert!(error <= 0.1 * seconds(exact), "{found} {exact}");
    }
}

/// Messages that are too many to read: all of them from the index, of a part of the trace those that are read and how many there are.
#[test]
fn messages_are_all_there_or_said_to_be_a_part() {
    let file = trace();
    let limits = AnswerLimits {
        tree_bytes: 6000,
        ..AnswerLimits::default()
    };
    let viewer = Viewer::new("own", &file, limits).unwrap();
    let exact = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    let count = |cells: &Value| {
        let cells = cells.as_array().unwrap().iter();
        cells.map(|cell| cell[2].as_u64().unwrap()).sum::<u64>()
    };
    for question in ["matrix", "matrix?t0=20&t1=180"] {
        let [part, all] = [&viewer, &exact].map(|viewer| ask(viewer, question));
        assert_eq!(
            (&part["exact"], &all["exact"]),
            (&false.into(), &true.into())
        );
        assert_eq!(all["messages"], count(&all["cells"]), "{question}");
        assert!(count(&part["cells"]) < count(&all["cells"]), "{part}");
        let [about, are] = [&part, &all].map(|answer| answer["messages"].as_f64().unwrap());
        assert!(
            (about - are).abs() <= 0.1 * are,
            "{question}: {about} of {are}"
        );
    }
    let part = ask(&viewer, "sizes");
    assert_eq!((&part["exact"], &part["all"]), (&false.into(), &200.into()));
    let mut builder = IndexBuilder::new(viewer.trace(), IndexShape::of(viewer.trace())).unwrap();
    while builder.step(1 << 20).unwrap() {}
    viewer.set_index(builder.finish());
    for question in [
        "matrix",
        "matrix?t0=-5&t1=1000",
        "matrix?timelines=block:2",
        "matrix?timelines=only:!1",
        "matrix?y0=1&y1=3",
        "matrix?hide=0,7",
        "csv?what=matrix",
    ] {
        let [found, exact] = [&viewer, &exact].map(|viewer| {
            let answer = viewer.answer(question, &|| false).unwrap();
            String::from_utf8(answer.body).unwrap()
        });
        assert_eq!(found, exact, "{question}");
    }
    let [found, exact] = [&viewer, &exact].map(|viewer| ask(viewer, "sizes"));
    assert_eq!(found["exact"], true);
    for key in ["messages", "all"] {
        assert_eq!(found[key], exact[key], "{key}");
    }
    assert_eq!(found["durations"][0][1], 200);
    // The index has sizes of all timelines together only: not those of some.
    let some = ask(&viewer, "sizes?timelines=only:1-2");
    let counted = some["messages"].as_array().unwrap().iter();
    let counted: u64 = counted.map(|class| class[1].as_u64().unwrap()).sum();
    assert!(some["exact"] == false && counted <= 50, "{some}");
    // Without messages there are none, and that is exact.
    let stats = ask(&viewer, "stats");
    let mut kinds = stats["categories"].as_array().unwrap().iter();
    let messages = kinds.find(|kind| kind["name"] == "message");
    let kind = &messages.unwrap()["kind"];
    let none = ask(&viewer, &format!("matrix?hide={kind}"));
    assert_eq!(
        (&none["messages"], none["cells"].as_array().unwrap().len()),
        (&0.into(), 0)
    );
}

/// Of more lines than the index tells apart, neighbours are counted together.
#[test]
fn messages_of_many_lines_are_counted_in_groups() {
    let mut categories = categories();
    categories[6] = Category {
        index: 6,
        ..Category::message()
    };
    let lines = 600;
    let mut all = Vec::new();
    for line in 0..lines {
        let at = |time: f64, line: i32| Vertex { time, line };
        let mut info = InfoWriter::default();
        info.int(1).int(100);
        let start = f64::from(line);
        let ends = vec![at(start, line), at(start + 0.5, (line + 1) % lines)];
        all.push((6, ends, info.bytes().to_vec()));
    }
    let file = file(&categories, lines, &mut all);
    let limits = AnswerLimits {
        tree_bytes: 2000,
        ..AnswerLimits::default()
    };
    let viewer = Viewer::new("own", &file, limits).unwrap();
    let mut builder = IndexBuilder::new(viewer.trace(), IndexShape::of(viewer.trace())).unwrap();
    while builder.step(1 << 20).unwrap() {}
    viewer.set_index(builder.finish());
    let found = ask(&viewer, "matrix");
    assert_eq!(
        (&found["exact"], &found["group"], &found["messages"]),
        (&true.into(), &3.into(), &600.into())
    );
    let cells = found["cells"].as_array().unwrap();
    // Two of three messages stay in their group, one goes to the next.
    assert_eq!(cells.len(), 400);
    assert_eq!(cells[0], Value::from(vec![0, 0, 2, 200]));
    assert_eq!(cells[1], Value::from(vec![0, 3, 1, 100]));
    let csv = viewer.answer("csv?what=matrix", &|| false).unwrap();
    let csv = String::from_utf8(csv.body).unwrap();
    assert_eq!(
        csv.lines().nth(2),
        Some("rank 0 – rank 2,rank 3 – rank 5,1,100"),
        "{csv}"
    );
    // In another order the groups are none of the timelines: a part is counted.
    let other = ask(&viewer, "matrix?timelines=sort:-label");
    assert_eq!(
        (&other["exact"], &other["group"]),
        (&false.into(), &1.into())
    );
}

/// Questions about everything that are too much to read have the numbers that reading gives, but for bytes of calls.
#[test]
fn everything_is_known_to_the_index() {
    let file = trace();
    let limits = AnswerLimits {
        tree_bytes: 6000,
        ..AnswerLimits::default()
    };
    let viewer = Viewer::new("own", &file, limits).unwrap();
    let shape = IndexShape::of(viewer.trace());
    let mut builder = IndexBuilder::new(viewer.trace(), shape).unwrap();
    while builder.step(1 << 20).unwrap() {}
    viewer.set_index(builder.finish());
    let index = |viewer: &Viewer<'_>| ask(viewer, "meta")["index"].clone();
    assert_eq!(index(&viewer)["counted"], true);
    let exact = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    for question in [
        "stats",
        "stats?t0=-5&t1=1000",
        "stats?timelines=block:2",
        "stats?timelines=only:0-2",
        "stats?y0=1&y1=3",
        "stats?y0=9",
    ] {
        let [found, exact] = [&viewer, &exact].map(|viewer| ask(viewer, question));
        // Bytes of calls are missing, numbers and times are not.
        assert_eq!(
            (&found["exact"], &found["exact_times"]),
            (&false.into(), &true.into())
        );
        for key in ["t0", "t1", "span", "threads", "drawables"] {
            assert_eq!(found[key], exact[key], "{question} {key}");
        }
        let near = |a: &Value, b: &Value| {
            let [a, b] = [a, b].map(|value| value.as_f64().unwrap());
            assert!(
                (a - b).abs() <= 1e-9 * (1.0 + b.abs()),
                "{question} {a} {b}"
            );
        };
        let list = |value: &Value| value.as_array().unwrap().clone();
        let (of_rows, exact_rows) = (&found["timelines"], &exact["timelines"]);
        for key in ["threads", "ends"] {
            assert_eq!(of_rows[key], exact_rows[key], "{question} {key}");
        }
        for (a, b) in list(&of_rows["busy"])
            .iter()
            .zip(&list(&exact_rows["busy"]))
        {
            near(a, b);
        }
        assert_eq!(list(&of_rows["top"]).len(), list(&exact_rows["top"]).len());
        for (a, b) in list(&of_rows["top"]).iter().zip(&list(&exact_rows["top"])) {
            assert_eq!(a["kind"], b["kind"]);
            for (a, b) in list(&a["excl"]).iter().zip(&list(&b["excl"])) {
                near(a, b);
            }
        }
        let [found, exact] = [&found, &exact].map(|of| list(&of["categories"]));
        assert_eq!(found.len(), exact.len());
        for (found, exact) in found.iter().zip(&exact) {
            for key in [
                "kind",
                "name",
                "topology",
                "count",
                "min",
                "max",
                "timeline_of_max",
            ] {
                assert_eq!(
                    found[key], exact[key],
                    "{question} {key} of {}",
                    exact["name"]
                );
            }
            if found["topology"] == "arrow" {
                assert_eq!(found["bytes"], exact["bytes"]);
            }
            for key in ["incl", "excl", "mean"] {
                near(&found[key], &exact[key]);
            }
        }
    }
    // Questions about a part are still estimated.
    for question in ["stats?t0=20", "stats?hide=1", "stats?nesting=thread"] {
        let found = ask(&viewer, question);
        assert_eq!(found["categories"][0]["max"], Value::Null, "{question}");
    }
}

/// Pictures do not wait for the totals: the page asks again until these are there.
#[test]
fn an_index_for_pictures_says_that_nothing_is_counted_yet() {
    let file = trace();
    let limits = AnswerLimits {
        tree_bytes: 6000,
        ..AnswerLimits::default()
    };
    let viewer = Viewer::new("own", &file, limits).unwrap();
    let told = |viewer: &Viewer<'_>| {
        let index = &ask(viewer, "meta")["index"];
        (index["state"].clone(), index["counted"].clone())
    };
    assert_eq!(told(&viewer), ("none".into(), false.into()));
    let shape = IndexShape {
        totals: false,
        ..IndexShape::of(viewer.trace())
    };
    let mut builder = IndexBuilder::new(viewer.trace(), shape).unwrap();
    while builder.step(1 << 20).unwrap() {}
    viewer.set_index(builder.finish());
    assert_eq!(told(&viewer), ("ready".into(), false.into()));
    assert_eq!(ask(&viewer, "stats")["exact_times"], false);
}
