//! Rows of the page: trees of labels from line maps, and every item of the spec.

use crate::common::categories;
use serde_json::{Value, json};
use std::io::Cursor;
use trace_formats::slog2::{LineIdMap, NewDrawable, Topology, TreeBuilder, TreeOptions, Vertex};
use trace_model::{Category, Color, InfoWriter};
use viewer_core::picture::frame::DecodedFrame;
use viewer_core::{AnswerLimits, Viewer};

/// Ranks 0 to 3, rank 1 with two threads, on two nodes. Lines 10 and 11 are those of ranks 0 and 1 in another communicator. Rank
/// 2 is in state 0 nearly always, the others in state 1 now and then, rank 3 from later on.
fn sample() -> Vec<u8> {
    let lines = [
        // Line, rank, thread, node, communicator, rank in it.
        (0, 0, 0, 0, 0, 0),
        (1, 1, 0, 0, 0, 1),
        (2, 1, 1, 0, 0, 1),
        (3, 2, 0, 1, 0, 2),
        (4, 3, 0, 1, 0, 3),
        (10, 0, 0, 0, 1, 0),
        (11, 1, 0, 0, 1, 1),
    ];
    let mut processes = LineIdMap::new("Process-Thread View", &["world_rank", "thread"]);
    let mut comms = LineIdMap::new(
        "Communicator-Thread View",
        &["commID", "comm_rank", "thread"],
    );
    let mut nodes = LineIdMap::new(
        "Node View (0 alpha, 1 beta)",
        &["node", "world_rank", "thread"],
    );
    for (line, rank, thread, node, comm, comm_rank) in lines {
        processes.push(line, &[rank, thread]);
        comms.push(line, &[comm, comm_rank, thread]);
        nodes.push(line, &[node, rank, thread]);
    }
    let mut states: Vec<(i32, i32, f64, f64)> = Vec::new();
    for step in 0..20 {
        let start = f64::from(step);
        states.push((3, 0, start, start + 0.9));
        for line in [0, 1, 2, 4, 10] {
            if line != 4 || step >= 10 {
                states.push((line, 1, start, start + 0.1 + f64::from(line) / 100.0));
            }
        }
    }
    states.sort_by(|a, b| a.3.total_cmp(&b.3));
    let mut builder = TreeBuilder::new(Cursor::new(Vec::new()), TreeOptions::default()).unwrap();
    for (line, category, start, end) in states {
        let vertices = [start, end].map(|time| Vertex { time, line });
        let topology = Topology::State;
        let info = &[];
        let state = NewDrawable {
            topology,
            category,
            info,
            vertices: &vertices,
        };
        builder.add(&state).unwrap();
    }
    let tree = builder.close().unwrap();
    let (out, _) = tree
        .finish(&categories(), &[processes, comms, nodes])
        .unwrap();
    out.into_inner()
}

fn rows(viewer: &Viewer<'_>, spec: &str) -> Value {
    let answer = viewer
        .answer(&format!("timelines?timelines={spec}"), &|| false)
        .unwrap();
    serde_json::from_slice(&answer.body).unwrap()
}

#[test]
fn own_groups_are_a_timeline_each_with_all_that_is_in_it() {
    let file = sample();
    let viewer = Viewer::new("x", &file, AnswerLimits::default()).unwrap();
    // Leaves: rank 0, rank 1, its thread 1, rank 2, rank 3.
    let found = rows(&viewer, "groups:odd ones=1-/2|of two=rank 2,0");
    assert_eq!(
        found["label"],
        json!(["odd ones", "of two", "rank 1", "thread 1", "rank 3"])
    );
    let shown = |name: &str| found[name].clone();
    assert_eq!(shown("group"), json!([true, false, true, false, false]));
    assert_eq!(shown("key"), json!(["1,3", "0", "n0", "2", "4"]));
    // Leaves that a filter leaves out, or that are hidden, are in no group; one without any is none.
    let some = rows(&viewer, "only:0-2;hide:0;groups:all=0-|none=0-");
    assert_eq!(some["label"], json!(["all"]));
    assert_eq!(some["lines"], json!([3]));
    assert_eq!(some["spec"], "only:0-2;hide:0;groups:all=0-|none=0-");
    for wrong in ["groups:a", "groups:a=", "groups:a=5-3"] {
        let answer = viewer.answer(&format!("timelines?timelines={wrong}"), &|| false);
        assert_eq!(answer.unwrap_err().status, 400, "{wrong}");
    }
}

#[test]
fn every_item() {
    let file = sample();
    let viewer = Viewer::new("x", &file, AnswerLimits::default()).unwrap();
    let labels = |spec: &str| rows(&viewer, spec)["label"].clone();
    let plain = json!([
        "rank 0", "rank 1", "thread 0", "thread 1", "rank 2", "rank 3"
    ]);
    assert_eq!(labels(""), plain);
    let all = rows(&viewer, "");
    assert_eq!(all["key"], json!(["0", "n0", "1", "2", "3", "4"]));
    assert_eq!(all["depth"], json!([0, 0, 1, 1, 0, 0]));
    assert_eq!(
        all["open"],
        json!([false, true, false, false, false, false])
    );
    assert_eq!(all["path"][3], json!(["rank 1"]));
    // Two communicators of a rank are one timeline, and a thread's.
    assert_eq!(all["lines"], json!([2, 3, 2, 1, 1, 1]));
    assert_eq!(
        labels("only:rank 1*,4"),
        json!(["rank 1", "thread 0", "thread 1", "rank 3"])
    );
    assert_eq!(labels("hide:n0,3"), json!(["rank 0", "rank 3"]));
    assert_eq!(
        labels("fold:0"),
        json!(["rank 0", "rank 1", "rank 2", "rank 3"])
    );
    assert_eq!(labels("fold:0;open:n0"), plain);
    assert_eq!(labels("shut:n0"), labels("fold:0"));
    let pinned = rows(&viewer, "pin:2,n0");
    assert_eq!(pinned["pinned"], 2);
    assert_eq!(
        pinned["label"],
        json!(["rank 1 thread 1", "rank 1", "rank 0", "rank 2", "rank 3"])
    );
    assert_eq!(
        labels("order:4,3"),
        json!([
            "rank 3",
            "rank 2",
            "rank 0",
            "rank 1 thread 0",
            "rank 1 thread 1"
        ])
    );
    assert_eq!(labels("sort:-label")[0], "rank 3");
    assert_eq!(
        labels("fold:0;block:3"),
        json!(["rank 0 – rank 2", "rank 3"])
    );
    // A block is named after its ends only where all between them is in it.
    assert_eq!(
        labels("fold:0;pin:n0;block:2"),
        json!(["rank 1", "rank 0, rank 2", "rank 3"])
    );
    assert_eq!(
        labels("fold:0;pin:n0;block:3;sort:-label"),
        json!(["rank 1", "rank 3 and 2 others"])
    );
    assert_eq!(
        labels("hide:n0;block:2;sort:-label"),
        json!(["rank 3 – rank 2", "rank 0"])
    );
    assert_eq!(rows(&viewer, "block:2")["key"], json!(["0-1", "2-3", "4"]));
    // By what they do.
    assert_eq!(labels("sort:-busy")[0], "rank 2");
    assert_eq!(labels("sort:-first")[0], "rank 3");
    assert_eq!(labels("sort:-kind:0")[0], "rank 2");
    assert_eq!(labels("sort:end")[0], "rank 1 thread 0");
    let clusters = labels("cluster:2");
    assert_eq!(clusters.as_array().unwrap().len(), 2);
    assert_eq!(clusters[1], "rank 2");
    assert!(clusters[0].as_str().unwrap().starts_with("4 like "));
    let clusters = labels("cluster:3");
    assert!(
        clusters.as_array().unwrap().contains(&json!("rank 2")),
        "{clusters}"
    );
    // The other maps.
    assert_eq!(labels("map:2;fold:0"), json!(["alpha", "beta"]));
    let by_node = rows(&viewer, "map:2");
    assert_eq!(by_node["path"][3], json!(["alpha", "rank 1"]));
    assert_eq!(
        labels("map:1;fold:0"),
        json!(["communicator 0", "communicator 1"])
    );
    assert_eq!(labels("map:1")[8], "rank 0");
    // Texts that mean the same have one canonical form.
    let spec = |text: &str| rows(&viewer, text)["spec"].clone();
    assert_eq!(spec("pin:1;;map:0;block:1;sort:label"), "pin:1");
    assert_eq!(
        spec(
            spec("sort:-kind:3;only:0-2,!1;pin:n0,2;fold:1")
                .as_str()
                .unwrap()
        ),
        "only:0-2,!1;pin:n0,2;fold:1;sort:-kind:3"
    );
    assert_eq!(labels("hide:0-4"), json!([]));
    assert_eq!(labels("pin:99,n99;hide:77"), plain);
}

/// A group that is not open shows its lines, one that is open none: they have timelines of their own. In a timeline, states of different
/// threads are not nested in each other.
#[test]
fn groups() {
    let file = sample();
    let viewer = Viewer::new("x", &file, AnswerLimits::default()).unwrap();
    let picture = |spec: &str| {
        let question = format!("picture?w=4&t0=0&t1=0.2&timelines={spec}");
        let answer = viewer.answer(&question, &|| false).unwrap();
        viewer_core::picture::frame::DecodedFrame::read(&answer.body).unwrap()
    };
    let open = picture("");
    assert_eq!(open.numbers(1)[4..8], [0, 0, 0, 0]);
    let shut = picture("fold:0");
    assert_eq!(shut.numbers(1)[4..8], [2, 2, 2, 0]);
    // Thread 0 is busy for 0.11 s, thread 1 for 0.12 s of the cells of 0.05 s.
    assert_eq!(shut.numbers(2)[4..8], [255, 255, 76, 0]);
    assert_eq!(shut.numbers(3)[4..8], [0, 0, 51, 0]);
    assert!(
        shut.numbers(24)
            .iter()
            .zip(shut.numbers(22))
            .all(|(&depth, row)| depth == 0 || row == 0)
    );
    // Both communicators of rank 0 are of one thread: the shorter state is on the longer one.
    let depths: Vec<u32> = shut.numbers(24).into_iter().take(2).collect();
    assert_eq!(depths, [0, 1]);
    // In the view by communicator they are on different timelines.
    assert!(picture("map:1").numbers(24).iter().all(|&depth| depth == 0));
}

/// Two ranks, a server with two lanes and a data server; a message, and an arrow from a call to an operation.
fn with_servers() -> Vec<u8> {
    let lines = [
        // Line, layer, number, thread, lane.
        (0, 0, 0, 0, 0),
        (1, 0, 1, 0, 0),
        (2, 1, 0, 1, 0),
        (3, 1, 0, 1, 1),
        (4, 2, 0, 1, 0),
    ];
    let mut processes = LineIdMap::new("Process-Thread View", &["world_rank", "thread"]);
    let mut layers = LineIdMap::new(
        "I/O View (layers: 0 ranks, 1 servers, 2 data servers, 3 devices)",
        &["layer", "number", "layer_thread", "lane"],
    );
    for (line, layer, number, thread, lane) in lines {
        processes.push(line, &[line, thread]);
        layers.push(line, &[layer, number, thread, lane]);
    }
    let mut categories = categories();
    categories[6] = Category {
        index: 6,
        ..Category::message()
    };
    let name = "triggers pwrite".into();
    let mut triggers = Category::new(8, name, Topology::Arrow, Color::PINK);
    triggers.set_info_format(b"CallID=%d");
    categories.push(triggers);
    let at = |time: f64, line: i32| Vertex { time, line };
    let mut info = InfoWriter::default();
    info.int(1).int(100);
    let drawables = [
        (Topology::State, 0, [at(0.0, 0), at(4.0, 0)], &[][..]),
        (Topology::State, 0, [at(0.0, 1), at(2.0, 1)], &[]),
        (Topology::State, 1, [at(1.0, 2), at(3.0, 2)], &[]),
        (Topology::Arrow, 6, [at(0.5, 0), at(1.0, 1)], info.bytes()),
        (Topology::Arrow, 8, [at(0.5, 0), at(1.0, 2)], &[0, 0, 0, 1]),
        (Topology::Arrow, 8, [at(0.5, 0), at(1.5, 3)], &[0, 0, 0, 1]),
        (Topology::Arrow, 8, [at(0.5, 0), at(1.5, 4)], &[0, 0, 0, 1]),
    ];
    let mut drawables = Vec::from(drawables);
    drawables.sort_by(|a, b| a.2[1].time.total_cmp(&b.2[1].time));
    let mut builder = TreeBuilder::new(Cursor::new(Vec::new()), TreeOptions::default()).unwrap();
    for (topology, category, vertices, info) in &drawables {
        let drawable = NewDrawable {
            topology: *topology,
            category: *category,
            info,
            vertices,
        };
        builder.add(&drawable).unwrap();
    }
    let tree = builder.close().unwrap();
    let (out, _) = tree.finish(&categories, &[processes, layers]).unwrap();
    out.into_inner()
}

#[test]
fn lanes_of_a_server_are_one_timeline_until_it_is_opened() {
    let file = with_servers();
    let viewer = Viewer::new("x", &file, AnswerLimits::default()).unwrap();
    let labels = |spec: &str| rows(&viewer, spec)["label"].clone();
    let opened = json!([
        "rank 0",
        "rank 1",
        "server 0",
        "thread 1",
        "thread 1 lane 1",
        "data server 0 thread 1"
    ]);
    let shut = json!(["rank 0", "rank 1", "server 0", "data server 0 thread 1"]);
    assert_eq!(labels(""), shut);
    assert_eq!(labels("open:n0"), opened);
    assert_eq!(labels("fold:9"), opened);
    // Who names lanes gets them.
    assert_eq!(
        labels("only:*lane*"),
        json!(["server 0", "thread 1 lane 1"])
    );
    assert_eq!(
        labels("sort:-label"),
        json!(["data server 0 thread 1", "server 0", "rank 1", "rank 0"])
    );
    let refused = viewer.answer("timelines?timelines=only:rank 9", &|| false);
    assert_eq!(refused.unwrap_err().status, 400);
}

/// The server is busy for 2 of 4 s: shares are of the time of the two ranks, not of five lanes.
#[test]
fn shares_are_of_the_ranks_time() {
    let file = with_servers();
    let viewer = Viewer::new("x", &file, AnswerLimits::default()).unwrap();
    let ask = |question: &str| -> Value {
        serde_json::from_slice(&viewer.answer(question, &|| false).unwrap().body).unwrap()
    };
    assert_eq!(ask("meta")["threads"], 2);
    assert_eq!(ask("stats")["threads"], 2);
    assert_eq!(ask("stats?y0=0&y1=1")["threads"], 1);
    // Of servers alone it is their own.
    assert_eq!(ask("stats?timelines=only:server*")["threads"], 1);
}

/// Asynchronous I/O goes on beside rank 0 for 3 of 4 s, in which it computes for 2 s: shares are of the time of the two ranks, in the legend and in the
/// summary.
#[test]
fn asynchronous_io_is_no_thread() {
    let mut processes = LineIdMap::new("Process-Thread View", &["world_rank", "thread"]);
    let mut layers = LineIdMap::new(
        "I/O View (layers: 0 ranks, 1 servers, 2 data servers, 3 devices)",
        &["layer", "number", "layer_thread", "lane"],
    );
    for (line, [rank, thread, lane]) in (0..).zip([[0, 0, 0], [1, 0, 0], [0, 1, 1]]) {
        processes.push(line, &[rank, thread]);
        layers.push(line, &[0, rank, 0, lane]);
    }
    let mut builder = TreeBuilder::new(Cursor::new(Vec::new()), TreeOptions::default()).unwrap();
    for (category, line, from, to) in [(0, 0, 0.0, 2.0), (1, 2, 0.5, 3.5), (0, 1, 0.0, 4.0)] {
        let drawable = NewDrawable {
            topology: Topology::State,
            category,
            info: &[],
            vertices: &[from, to].map(|time| Vertex { time, line }),
        };
        builder.add(&drawable).unwrap();
    }
    let tree = builder.close().unwrap();
    let (out, _) = tree.finish(&categories(), &[processes, layers]).unwrap();
    let file = out.into_inner();
    let viewer = Viewer::new("x", &file, AnswerLimits::default()).unwrap();
    let ask = |question: &str| -> Value {
        serde_json::from_slice(&viewer.answer(question, &|| false).unwrap().body).unwrap()
    };
    assert_eq!(ask("meta")["threads"], 2);
    assert_eq!(ask("stats")["threads"], 2);
    // Of the window in which rank 0 has nothing but its I/O, too.
    assert_eq!(ask("stats?t0=2.5&t1=3")["threads"], 2);
    let summary = ask("summary");
    assert_eq!(summary["threads"], 2);
    let share = |class: &str| {
        let mut parts = summary["bar"].as_array().unwrap().iter();
        let part = parts.find(|part| part["class"] == class);
        part.map_or(0.0, |part| part["share"].as_f64().unwrap())
    };
    assert_eq!(share("compute"), 0.25, "{summary}");
    let top = &summary["cards"][0];
    assert_eq!(top["id"], "top");
    assert_eq!(top["value"], "75.0 %", "{top}");
}

/// Arrows to operations are drawn for a selected call, and with all.
#[test]
fn arrows_to_operations_come_on_demand() {
    let file = with_servers();
    let viewer = Viewer::new("x", &file, AnswerLimits::default()).unwrap();
    let arrows = |which: &str| {
        let question = format!("picture?w=80&arrows={which}");
        let answer = viewer.answer(&question, &|| false).unwrap();
        DecodedFrame::read(&answer.body).unwrap().reals(40).len()
    };
    let at = viewer
        .answer("at?timeline=0&t=2&dt=0.1", &|| false)
        .unwrap();
    let call: Value = serde_json::from_slice(&at.body).unwrap();
    let call = format!("sel:{}", call["ref"].as_str().unwrap());
    assert_eq!(["none", "worst", &call, "all"].map(arrows), [0, 1, 4, 4]);
}

#[test]
fn a_timeline_tells_its_thread_where_its_rank_has_several() {
    let file = sample();
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    // Ranks 0 and 1, threads 0 and 1 of rank 1, ranks 2 and 3; then rank 1 with both threads in one timeline.
    let told = |spec: &str| {
        let found = rows(&viewer, spec);
        (found["rank"].clone(), found["thread"].clone())
    };
    assert_eq!(
        told(""),
        (json!([0, -1, 1, 1, 2, 3]), json!([-1, -1, 0, 1, -1, -1]))
    );
    assert_eq!(told("shut:n0").1, json!([-1, -1, -1, -1]));
}

#[test]
fn tables_name_threads_with_their_rank() {
    let file = sample();
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    let table = |question: &str| -> Vec<String> {
        let answer = viewer.answer(question, &|| false).unwrap();
        let text = String::from_utf8(answer.body).unwrap();
        text.lines()
            .skip(1)
            .map(|line| line.split(',').next().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        table("csv?what=timelines"),
        [
            "rank 0",
            "rank 1",
            "rank 1 thread 0",
            "rank 1 thread 1",
            "rank 2",
            "rank 3"
        ]
    );
}
