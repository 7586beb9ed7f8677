//! Answers of the viewer: what cannot be asked is refused, and what can is there.

use crate::common::{Simple, file, of_states};
use trace_formats::slog2::Vertex;
use viewer_core::picture::frame::DecodedFrame;
use viewer_core::{Answer, AnswerBody, AnswerLimits, ApiError, Viewer};

fn ask(viewer: &Viewer<'_>, question: &str) -> Result<Answer, ApiError> {
    viewer.answer(question, &|| false)
}

fn json(viewer: &Viewer<'_>, question: &str) -> serde_json::Value {
    let answer = ask(viewer, question).unwrap();
    assert_eq!(answer.kind, AnswerBody::Json);
    serde_json::from_slice(&answer.body).unwrap()
}

fn picture(viewer: &Viewer<'_>, question: &str) -> DecodedFrame {
    let answer = ask(viewer, question).unwrap();
    assert_eq!(answer.kind, AnswerBody::Frame);
    DecodedFrame::read(&answer.body).unwrap()
}

fn sample() -> Vec<u8> {
    let states: [Simple; 3] = [(0, 0, 0.0, 8.0), (0, 1, 2.0, 4.0), (1, 2, 4.0, 8.0)];
    let state = |&(line, kind, start, end): &Simple| {
        let vertices = [start, end].map(|time| Vertex { time, line });
        (kind, vertices.to_vec(), Vec::new())
    };
    let mut drawables: Vec<_> = states.iter().map(state).collect();
    let ends = [(2.5, 0), (5.0, 1)].map(|(time, line)| Vertex { time, line });
    drawables.push((6, ends.to_vec(), Vec::new()));
    drawables.push((7, vec![Vertex { time: 7.0, line: 0 }], Vec::new()));
    file(&crate::common::categories(), 2, &mut drawables)
}

/// More arrows than can be told apart are bundles of neighbours that stand for each of them once, at their average times; a
/// pinned timeline keeps its own.
#[test]
fn many_arrows_are_bundles() {
    let mut drawables = Vec::new();
    for step in 0..100 {
        for line in 0..64 {
            let from = Vertex {
                time: f64::from(step) + f64::from(line) / 1000.0,
                line,
            };
            let to = Vertex {
                time: from.time + 0.25,
                line: (line + 8) % 64,
            };
            drawables.push((6, vec![from, to], Vec::new()));
        }
    }
    let file = file(&crate::common::categories(), 64, &mut drawables);
    let viewer = Viewer::new("a.slog2", &file, AnswerLimits::default()).unwrap();
    let worst = picture(&viewer, "picture?w=80&arrows=worst");
    assert_eq!((worst.reals(40).len(), worst.header.arrows), (200, 6400));
    for timelines in ["", "pin:5"] {
        let frame = picture(
            &viewer,
            &format!("picture?w=80&arrows=all&timelines={timelines}"),
        );
        let [from, to] = [40, 41].map(|id| frame.reals(id));
        let [row_from, row_to, counts] = [42, 43, 46].map(|id| frame.numbers(id));
        assert!((100..=400).contains(&counts.len()), "{}", counts.len());
        assert_eq!(counts.iter().sum::<u32>(), 6400);
        assert_eq!(frame.header.arrows, 6400);
        let sum = |times: &[f32]| {
            let each = times.iter().zip(&counts);
            each.map(|(time, count)| f64::from(*time) * f64::from(*count))
                .sum::<f64>()
        };
        let starts: f64 = drawables.iter().map(|(_, ends, _)| ends[0].time).sum();
        assert!((sum(&from) - starts).abs() < 1e-3 * starts);
        assert!((sum(&to) - sum(&from) - 6400.0 * 0.25).abs() < 1.0);
        for (from, to) in row_from.iter().zip(&row_to) {
            let way = (to + 64 - from) % 64;
            let is_pinned = !timelines.is_empty() && (*from == 0 || *to == 0);
            assert!(is_pinned || (7..=9).contains(&way), "{from} to {to}");
        }
        if !timelines.is_empty() {
            let own: u32 = (row_from.iter().zip(&counts))
                .filter(|(row, _)| **row == 0)
                .map(|(_, count)| count)
                .sum();
            assert_eq!(own, 100);
        }
    }
}

#[test]
fn a_small_trace() {
    let file = sample();
    let viewer = Viewer::new("a.slog2", &file, AnswerLimits::default()).unwrap();
    let meta = json(&viewer, "meta");
    assert_eq!(meta["t0"], 0.0);
    assert_eq!(meta["t1"], 8.0);
    assert_eq!(meta["drawables"], 5);
    assert_eq!(meta["categories"][1]["color"], "#00ff00");
    // Categories without drawables are not in the file.
    assert_eq!(meta["categories"][3]["class"], "message");
    let timelines = json(&viewer, "timelines");
    assert_eq!(timelines["label"], serde_json::json!(["rank 0", "rank 1"]));
    let frame = picture(&viewer, "picture?w=8&arrows=all&seq=9");
    assert_eq!(frame.header.seq, 9);
    assert_eq!(frame.header.drawables, 5);
    let cells = [1, 1, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0, 3, 3, 3, 3];
    assert_eq!(frame.numbers(1), cells);
    assert_eq!(frame.numbers(24), [0, 1, 0]);
    assert_eq!(frame.reals(20), [0.0, 2.0, 4.0]);
    assert_eq!(frame.reals(40), [2.5]);
    assert_eq!(frame.numbers(43), [1]);
    assert_eq!(frame.reals(30), [7.0]);
    assert_eq!(frame.numbers(4)[7], 1);
    // Hits of a search are marked where they begin: two on rank 0, the message among them, one on rank 1.
    let frame = picture(&viewer, "picture?w=8&q=t%3E1%20t%3C5");
    let hits = [0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0];
    assert_eq!(frame.numbers(5), hits);
    let status = |question: &str| ask(&viewer, question).map_err(|error| error.status);
    assert_eq!(status("picture?w=8&q=dur%3Efast"), Err(400));
    // An event is found where it stands, though a state runs there; beside it the state is.
    let at = |t: &str| json(&viewer, &format!("at?t={t}&timeline=0&dt=0.25"))["name"].clone();
    assert_eq!(
        [at("7.2"), at("6.7"), at("3")],
        ["event", "state 0", "state 1"]
    );
    // One timeline of both ranks, half of it taken while one of them does nothing.
    let frame = picture(&viewer, "picture?w=8&timelines=block:2");
    assert_eq!(frame.numbers(2), [128, 128, 128, 128, 255, 255, 255, 255]);
    assert_eq!(frame.numbers(3), [255, 255, 255, 255, 0, 0, 0, 0]);
}

#[test]
fn errors_say_what_was_expected() {
    let file = of_states(2, &[(0, 0, 0.0, 1.0)]);
    let viewer = Viewer::new("a.slog2", &file, AnswerLimits::default()).unwrap();
    let status = |question: &str| ask(&viewer, question).map_err(|error| error.status);
    for (question, expected) in [
        ("", 404),
        ("nothing", 404),
        ("picture?w=0", 400),
        ("picture?w=1000000000", 413),
        ("picture?w=18446744073709551615", 413),
        ("picture?t0=1&t1=0", 400),
        ("picture?t0=1&t1=1", 400),
        ("picture?t0=NaN", 400),
        ("picture?t0=-1e308&t1=1e308", 400),
        ("picture?mode=heat:x", 400),
        ("picture?hide=5-3", 400),
        ("picture?timelines=map:7", 404),
        ("timelines?timelines=only:", 400),
        ("timelines?timelines=sort:color", 400),
        ("timelines?timelines=%zz", 400),
    ] {
        assert_eq!(status(question), Err(expected), "{question}");
    }
    assert!(status("picture?w=10&t0=5&t1=6").is_ok());
    assert!(status("picture?w=10&y0=9&y1=3").is_ok());
}

#[test]
fn what_a_state_takes_alone_is_right_or_not_told() {
    // Of those at even seconds a part is nested, of the others nothing.
    let of_second = |nth: u32| {
        let start = f64::from(nth);
        let inner = (0, 1, start + 0.25, start + 0.5);
        let inner = (nth.is_multiple_of(2)).then_some(inner);
        std::iter::once((0, 0, start, start + 0.75)).chain(inner)
    };
    let states: Vec<_> = (0..200).flat_map(of_second).collect();
    let file = of_states(1, &states);
    let (mut known, mut unknown) = (0, 0);
    for tree_bytes in (0..file.len() as u64).step_by(16) {
        let limits = AnswerLimits {
            tree_bytes,
            ..AnswerLimits::default()
        };
        let viewer = Viewer::new("a", &file, limits).unwrap();
        for second in [100, 101] {
            let question = format!("at?t={second}.1&timeline=0&dt=0.01");
            // So little may be read that nothing is found, or it is refused.
            let Ok(answer) = ask(&viewer, &question) else {
                continue;
            };
            let found: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
            match found["excl"].as_f64() {
                Some(seconds) => {
                    assert_eq!(seconds, [0.5, 0.75][second % 2], "{tree_bytes} {found}");
                    assert_eq!(found["excl_is_estimate"], false);
                    known += 1;
                }
                None => unknown += u32::from(!found.is_null()),
            }
        }
    }
    assert!(known > 0 && unknown > 0, "{known} {unknown}");
}

/// Two ranks: calls nested in steps, a message between them, a call with an operation below it.
fn with_details() -> Vec<u8> {
    use trace_formats::slog2::{Category, Color, Topology};
    use trace_model::InfoWriter;
    let mut categories = crate::common::categories();
    let mut call = Category::new(8, "MPI_File_write".into(), Topology::State, Color::WHITE);
    call.set_info_format(b"CallID=0x%X, bytes=%l");
    categories.push(call);
    let mut operation = Category::new(9, "pwrite".into(), Topology::State, Color::WHITE);
    operation.set_info_format(b"CallID=0x%X, file=%d, fd=%d, offset=%l, size=%l, result=%l, filler=%l, errno=%d, details=%s, operation=%l");
    categories.push(operation);
    let mut named = Category::new(10, "file".into(), Topology::Event, Color::WHITE);
    named.set_info_format(b"file=%d, role=%s, path=%s");
    categories.push(named);
    let state = |line, kind, start, end, info: Vec<u8>| {
        let vertices = [start, end].map(|time| Vertex { time, line });
        (kind, vertices.to_vec(), info)
    };
    let mut info = InfoWriter::default();
    let call = info.long(0x1_0000_0005).long(4096).bytes().to_vec();
    let operation = [&call[..8], &[0; 100]].concat();
    let mut path = InfoWriter::default();
    let path = path.int(0).text(b"data").text(b"out, put.dat");
    let mut drawables = vec![
        state(0, 0, 0.0, 10.0, vec![]),
        state(0, 1, 2.0, 4.0, vec![]),
        state(0, 2, 2.0, 3.0, vec![]),
        state(0, 2, 2.0, 3.0, vec![]),
        state(1, 0, 0.0, 10.0, vec![]),
        state(1, 3, 4.5, 5.5, vec![]),
        state(1, 8, 6.0, 9.0, call),
        state(1, 9, 7.0, 8.0, operation),
        state(1, 4, 20.0, 20.0, vec![]),
    ];
    let ends = [(2.5, 0), (5.0, 1)].map(|(time, line)| Vertex { time, line });
    drawables.push((6, ends.to_vec(), Vec::new()));
    drawables.push((
        7,
        vec![Vertex {
            time: 15.0,
            line: 0,
        }],
        Vec::new(),
    ));
    let at = Vertex {
        time: 18.0,
        line: 0,
    };
    drawables.push((10, vec![at], path.bytes().to_vec()));
    file(&categories, 2, &mut drawables)
}

/// States of one kind that begin at one time on one line: each row of the table leads to its own.
#[test]
fn rows_of_the_table_are_told_apart() {
    let state = |end, line| {
        let vertices = [1.0, end].map(|time| Vertex { time, line });
        (0, vertices.to_vec(), Vec::new())
    };
    let mut drawables = [3.0, 2.5, 2.25, 2.5].map(|end| state(end, 0)).to_vec();
    drawables.push(state(3.0, 1));
    let file = file(&crate::common::categories(), 2, &mut drawables);
    let viewer = Viewer::new("a.slog2", &file, AnswerLimits::default()).unwrap();
    for sort in ["t0", "-dur"] {
        let events = json(&viewer, &format!("events?sort={sort}"));
        let references = events["ref"].as_array().unwrap();
        assert_eq!(references.len(), 5);
        for (row, reference) in references.iter().enumerate() {
            let found = json(&viewer, &format!("ref?ref={}", reference.as_str().unwrap()));
            assert_eq!(
                found["t1"], events["t1"][row],
                "{sort}, row {row}: {reference}"
            );
            assert_eq!(found["timeline"], events["timeline"][row]);
        }
    }
}

#[test]
fn details() {
    let file = with_details();
    let viewer = Viewer::new("a.slog2", &file, AnswerLimits::default()).unwrap();
    let names = json(&viewer, "meta");
    let kind = |name: &str| {
        let all = names["categories"].as_array().unwrap();
        all.iter().position(|kind| kind["name"] == name).unwrap()
    };
    // Under the cursor.
    let at = |t: f64, row: u32, dt: f64| json(&viewer, &format!("at?t={t}&timeline={row}&dt={dt}"));
    let found = at(3.5, 0, 0.01);
    assert_eq!(found["name"], "state 1");
    assert_eq!(found["depth"], 1);
    assert_eq!(found["excl"], 1.0);
    assert_eq!(found["parents"][0]["name"], "state 0");
    assert_eq!(found["label"], "rank 0");
    assert_eq!(at(1.0, 0, 0.01)["excl"], 8.0);
    assert_eq!(at(12.0, 0, 0.01), serde_json::Value::Null);
    assert_eq!(at(15.1, 0, 0.2)["topology"], "event");
    assert_eq!(at(20.1, 1, 0.2)["name"], "state 4");
    let hidden = format!("at?t=3.5&timeline=0&dt=0.01&hide={}", kind("state 1"));
    assert_eq!(json(&viewer, &hidden)["name"], "state 0");
    // Along the timeline, through two states that are the same, and back.
    let mut seen = Vec::new();
    let mut reference = json(&viewer, "next?timeline=0&t=-1&dir=1")["ref"].clone();
    while let Some(text) = reference.as_str() {
        assert_eq!(json(&viewer, &format!("ref?ref={text}"))["ref"], reference);
        seen.push(text.to_owned());
        reference = json(&viewer, &format!("next?ref={text}&dir=1"))["ref"].clone();
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert!(seen[3].ends_with("!1"), "{seen:?}");
    for pair in seen.windows(2) {
        let before = json(&viewer, &format!("next?ref={}&dir=-1", pair[1]));
        assert_eq!(before["ref"], pair[0].as_str());
    }
    assert!(json(&viewer, &format!("next?ref={}&dir=-1", seen[0])).is_null());
    assert_eq!(
        json(&viewer, "next?timeline=1&t=9.5&dir=1")["name"],
        "state 4"
    );
    assert_eq!(
        json(&viewer, "next?timeline=1&t=9.5&dir=-1")["name"],
        "pwrite"
    );
    // Along the message.
    let receive = at(5.2, 1, 0.01)["ref"].as_str().unwrap().to_owned();
    let found = json(&viewer, &format!("follow?ref={receive}&dir=-1"));
    assert_eq!(found["arrows"].as_array().unwrap().len(), 1);
    assert_eq!(found["arrows"][0]["to"]["timeline"], 1);
    assert_eq!(found["partner"]["name"], "state 2");
    let arrow = found["arrows"][0]["ref"].as_str().unwrap();
    assert!(arrow.contains('~'));
    let back = json(&viewer, &format!("follow?ref={arrow}&dir=1"));
    assert_eq!(back["partner"]["ref"], receive.as_str());
    let frame = picture(&viewer, &format!("picture?w=9&arrows=sel:{receive}"));
    assert_eq!(frame.reals(40), [2.5]);
    let frame = picture(&viewer, &format!("picture?w=9&arrows=sel:{}", seen[0]));
    assert_eq!(frame.reals(40), [2.5]);
    // From a call to its operations.
    let found = at(6.5, 1, 0.01);
    assert_eq!(found["callid"], "0x100000005");
    assert_eq!(found["bytes"], 4096);
    assert_eq!(found["class"], "io");
    assert_eq!(found["info"][1], serde_json::json!(["bytes", "4096"]));
    let called = json(&viewer, "call?id=0x100000005");
    assert_eq!(called["call"]["ref"], found["ref"]);
    assert_eq!(called["operations"][0]["name"], "pwrite");
    assert_eq!(called["exact"], true);
    // Which file, by name: the operation has its number.
    assert_eq!(called["operations"][0]["file"], "out, put.dat");
    assert_eq!(called["call"]["file"], "out, put.dat");
    let listed = json(&viewer, "events?t0=6&t1=9&y0=1&y1=2&sort=t0&limit=9");
    assert_eq!(
        (&listed["name"], &listed["bytes"], &listed["file"]),
        (
            &serde_json::json!(["state 0", "MPI_File_write", "pwrite"]),
            &serde_json::json!([-1, 4096, 0]),
            &serde_json::json!(["", "out, put.dat", "out, put.dat"]),
        )
    );
    assert!(json(&viewer, "call?id=77")["call"].is_null());
    for wrong in ["ref?ref=0.0.99", "ref?ref=7.0.1"] {
        assert_eq!(ask(&viewer, wrong).unwrap_err().status, 404, "{wrong}");
    }
}

/// Of a trace that is too large to be read for an answer, a call is found from one of its operations and they from it, along
/// the arrows: elsewhere is not looked.
#[test]
fn a_call_of_a_large_trace_is_found_by_its_arrows() {
    use trace_formats::slog2::{Category, Color, Topology};
    use trace_model::InfoWriter;
    let mut categories = crate::common::categories();
    let named = |index, name: &str, topology| {
        let mut category = Category::new(index, name.into(), topology, Color::WHITE);
        category.set_info_format(b"CallID=0x%X");
        category
    };
    categories.push(named(8, "MPI_File_iwrite", Topology::State));
    categories.push(named(9, "pwrite", Topology::State));
    categories.push(named(10, "triggers pwrite", Topology::Arrow));
    let at = |time: f64, line| Vertex { time, line };
    let mut drawables = Vec::new();
    for step in 0..2000 {
        let start = f64::from(step);
        drawables.push((0, vec![at(start, 0), at(start + 0.5, 0)], vec![]));
    }
    let id = |number| InfoWriter::default().long(number).bytes().to_vec();
    // Put off: its operations are long after the call, on another line.
    drawables.push((8, vec![at(100.6, 0), at(100.7, 0)], id(5)));
    for start in [900.1, 950.1] {
        drawables.push((9, vec![at(start, 1), at(start + 0.2, 1)], id(5)));
        drawables.push((10, vec![at(100.65, 0), at(start, 1)], id(5)));
    }
    drawables.push((9, vec![at(930.0, 1), at(930.1, 1)], id(6)));
    let file = file(&categories, 2, &mut drawables);
    let whole = Viewer::new("a.slog2", &file, AnswerLimits::default()).unwrap();
    let limits = AnswerLimits {
        tree_bytes: file.len() as u64 * 3 / 4,
        ..AnswerLimits::default()
    };
    let large = Viewer::new("a.slog2", &file, limits).unwrap();
    assert!(whole.is_small() && !large.is_small());
    let mut expected = json(&whole, "call?id=5");
    assert_eq!(expected["exact"], true);
    assert_eq!(expected["operations"].as_array().unwrap().len(), 2);
    expected["exact"] = false.into();
    for near in [
        "t0=100.6&t1=100.7",
        "t0=900.1&t1=900.3",
        "t0=950.1&t1=950.3",
    ] {
        assert_eq!(
            json(&large, &format!("call?id=5&{near}")),
            expected,
            "{near}"
        );
    }
}
