//! Names that the drawables of a trace tell: of files, and of communicators.

use std::io::Cursor;
use trace_formats::slog2::{
    Category, Color, LineIdMap, NewDrawable, Topology, TreeBuilder, TreeOptions, Vertex,
};
use trace_model::InfoWriter;
use viewer_core::{AnswerLimits, NamedFile, TraceNames, Viewer};

fn json(viewer: &Viewer<'_>, question: &str) -> serde_json::Value {
    let answer = viewer.answer(question, &|| false).unwrap();
    serde_json::from_slice(&answer.body).unwrap()
}

const BARRIER: i32 = 0;
const SET_NAME: i32 = 1;
const OPEN: i32 = 2;
const WRITE: i32 = 3;
const PWRITE: i32 = 4;
const FILE: i32 = 5;
const ACCESS: i32 = 6;
const SYNC: i32 = 7;

fn categories() -> Vec<Category> {
    let state = Topology::State;
    let event = Topology::Event;
    let operation = "CallID=0x%X, file=%d, fd=%d, offset=%l, size=%l, result=%l, filler=%l, errno=%d, details=%s, operation=%l";
    let access = "CallID=0x%X, function=%s, file=%d, sequence=%l, bytes=%l, first=%l, behind=%l, pieces=%l, lasts=%l ns, complete=%l ns, writes=%d, number=%d";
    let file = "file=%d, role=%s, path=%s, device=0x%X, inode=%l";
    let all = [
        (BARRIER, "MPI_Barrier", state, ""),
        (SET_NAME, "MPI_Comm_set_name", state, "name=%s"),
        (OPEN, "MPI_File_open", state, "CallID=0x%X, handle=%d"),
        (WRITE, "MPI_File_write", state, "CallID=0x%X, bytes=%l"),
        (PWRITE, "pwrite", state, operation),
        (FILE, "file", event, file),
        (ACCESS, "I/O access", event, access),
        (SYNC, "MPI_File_sync", state, "CallID=0x%X, handle=%d"),
    ];
    let category = |(index, name, topology, format): (i32, &str, Topology, &str)| {
        let mut category = Category::new(index, name.into(), topology, Color::WHITE);
        category.set_info_format(format.as_bytes());
        category
    };
    all.map(category).into()
}

/// Line, category, start and end, and the info.
type Told = (i32, i32, f64, f64, Vec<u8>);

/// Lines 0 and 1 are ranks 0 and 1 in MPI_COMM_WORLD, 2 and 3 the same in communicator 4, line 4 rank 1 in communicator 6.
fn trace(drawables: &mut [Told]) -> Vec<u8> {
    drawables.sort_by(|a, b| a.3.total_cmp(&b.3));
    let categories = categories();
    let options = TreeOptions {
        leaf_byte_size: 1024,
        ..TreeOptions::default()
    };
    let mut builder = TreeBuilder::new(Cursor::new(Vec::new()), options).unwrap();
    for (line, category, start, end, info) in drawables.iter() {
        let topology = categories[*category as usize].topology;
        let vertices = [*start, *end].map(|time| Vertex { time, line: *line });
        let number = if topology == Topology::Event { 1 } else { 2 };
        let new = NewDrawable {
            topology,
            category: *category,
            info,
            vertices: &vertices[..number],
        };
        builder.add(&new).unwrap();
    }
    let mut processes = LineIdMap::new("Process View", &["world_rank"]);
    let mut comms = LineIdMap::new("Communicator View", &["commID", "comm_rank"]);
    for (line, rank, comm) in [(0, 0, 0), (1, 1, 0), (2, 0, 4), (3, 1, 4), (4, 1, 6)] {
        processes.push(line, &[rank]);
        comms.push(line, &[comm, rank]);
    }
    let tree = builder.close().unwrap();
    let (out, _) = tree.finish(&categories, &[processes, comms]).unwrap();
    out.into_inner()
}

fn text(text: &str) -> Vec<u8> {
    InfoWriter::default().text(text.as_bytes()).bytes().to_vec()
}

/// Rank 0 waits for rank 1 in barriers on communicator 4, which both name, rank 0 twice; between them much is done.
#[test]
fn communicators_have_the_names_that_the_program_gives() {
    let mut drawables = vec![
        (2, SET_NAME, 0.0, 0.1, text("first rows")),
        (3, SET_NAME, 0.2, 0.3, text("other rows")),
        (2, SET_NAME, 1000.2, 1000.3, text("rows")),
        (
            0,
            SET_NAME,
            0.4,
            0.5,
            text("of a communicator without a line"),
        ),
    ];
    for step in 1..1000 {
        let at = f64::from(step);
        drawables.push((2, BARRIER, at, at + 0.9, vec![]));
        drawables.push((3, BARRIER, at + 0.8, at + 0.9, vec![]));
    }
    drawables.push((4, BARRIER, 1001.0, 1002.0, vec![]));
    drawables.push((0, BARRIER, 1003.0, 1004.0, vec![]));
    drawables.push((1, BARRIER, 1003.0, 1004.0, vec![]));
    let loss = |drawables: &mut [Told]| {
        let file = trace(drawables);
        let viewer = Viewer::new("a.slog2", &file, AnswerLimits::default()).unwrap();
        json(&viewer, "summary?exact=1")["verdict"]["losses"][0]["what"].clone()
    };
    assert_eq!(
        loss(&mut drawables),
        "wait at barrier in MPI_Barrier on rows"
    );
    // Waits of one loss on two communicators are on none that could be named.
    drawables.push((0, BARRIER, 1005.0, 1007.0, vec![]));
    drawables.push((1, BARRIER, 1006.0, 1007.0, vec![]));
    assert_eq!(loss(&mut drawables), "wait at barrier in MPI_Barrier");
    let file = trace(&mut drawables);
    let viewer = Viewer::new("a.slog2", &file, AnswerLimits::default()).unwrap();
    let communicator = |t: f64, timeline: u32| {
        let question = format!("at?t={t}&timeline={timeline}&dt=0.001");
        json(&viewer, &question)["communicator"].clone()
    };
    let rows = serde_json::json!({"number": 4, "name": "rows"});
    assert_eq!(communicator(500.5, 0), rows);
    assert_eq!(communicator(500.85, 1), rows);
    let unnamed = serde_json::json!({"number": 6, "name": null});
    assert_eq!(communicator(1001.5, 1), unnamed);
    // Calls on communicators without a line are on that of MPI_COMM_WORLD.
    assert_eq!(communicator(1003.5, 1), serde_json::Value::Null);
    let timelines = json(&viewer, "timelines?timelines=map:1");
    let labels = timelines["label"].as_array().unwrap();
    let paths = timelines["path"].as_array().unwrap();
    let of = |at: usize| format!("{} {}", paths[at], labels[at]);
    let all: Vec<String> = (0..labels.len()).map(of).collect();
    assert!(
        all.iter()
            .any(|label| label.contains("rows (communicator 4)"))
            && all.iter().any(|label| label.contains("communicator 6"))
            && all.iter().all(|label| !label.contains("without a line")),
        "{all:?}"
    );
}

/// What names them is before the part: it shows what it was given, in labels, details, tables and searches, and without that has numbers.
#[test]
fn a_part_has_the_names_of_the_whole() {
    let call = |id: i64| InfoWriter::default().long(id).long(4096).bytes().to_vec();
    let access = |id: i64, file: i32| {
        let mut info = InfoWriter::default();
        info.long(id).text(b"MPI_File_write").int(file);
        for _ in 0..7 {
            info.long(0);
        }
        info.int(1).int(0).bytes().to_vec()
    };
    let named = |number: i32, path: &str| {
        let mut info = InfoWriter::default();
        info.int(number).text(b"data").text(path.as_bytes());
        info.long(0).long(0).bytes().to_vec()
    };
    let late = vec![
        (2, BARRIER, 5.0, 6.0, vec![]),
        (0, WRITE, 7.0, 8.0, call(12)),
        (0, ACCESS, 7.0, 7.0, access(12, 2)),
    ];
    let mut all = late.clone();
    all.push((2, SET_NAME, 0.0, 0.1, text("rows")));
    all.push((0, FILE, 0.2, 0.2, named(2, "/data/a.dat")));
    let whole = trace(&mut all);
    let whole = Viewer::new("a.slog2", &whole, AnswerLimits::default()).unwrap();
    let names = whole.names(&|| false);
    let expected = TraceNames {
        communicators: [(4, "rows".to_owned())].into(),
        files: Some(vec![NamedFile {
            number: 2,
            path: "/data/a.dat".to_owned(),
            has_data: true,
        }]),
    };
    assert_eq!(names, expected);
    let names = TraceNames::decode(&names.encode().unwrap()).unwrap();
    assert_eq!(names, expected);
    assert_eq!(TraceNames::decode(b"{").unwrap_err().status, 400);
    let part = trace(&mut late.clone());
    for (names, rows, file, hits) in [
        (Some(names), "rows (communicator 4)", "/data/a.dat", 2),
        (None, "communicator 4", "", 0),
    ] {
        let part = Viewer::part("a.slog2", &part, names, AnswerLimits::default()).unwrap();
        let timelines = json(&part, "timelines?timelines=map:1").to_string();
        assert!(timelines.contains(&format!("\"{rows}\"")), "{timelines}");
        let detail = json(&part, "at?t=7.5&timeline=0&dt=0.01");
        assert_eq!(detail["file"].as_str().unwrap_or_default(), file);
        let found = json(&part, "events?q=file:a.dat");
        assert_eq!(found["total"], hits);
    }
}

/// A call's file is that of its access, or of other calls with its handle: of their files the one with data of the program.
#[test]
fn calls_of_mpi_io_have_the_name_of_their_file() {
    let call = |id: i64, handle: Option<i32>| {
        let mut info = InfoWriter::default();
        info.long(id);
        match handle {
            Some(handle) => info.int(handle),
            None => info.long(4096),
        };
        info.bytes().to_vec()
    };
    let operation = |id: i64, file: i32| {
        let mut info = InfoWriter::default();
        info.long(id).int(file).int(7);
        for _ in 0..4 {
            info.long(0);
        }
        info.int(0).text(b"").long(0).bytes().to_vec()
    };
    let access = |id: i64, file: i32| {
        let mut info = InfoWriter::default();
        info.long(id).text(b"MPI_File_write").int(file);
        for _ in 0..7 {
            info.long(0);
        }
        info.int(1).int(0).bytes().to_vec()
    };
    let named = |number: i32, role: &str, path: &str| {
        let mut info = InfoWriter::default();
        info.int(number).text(role.as_bytes()).text(path.as_bytes());
        info.long(0).long(0).bytes().to_vec()
    };
    let mut drawables = vec![
        (0, FILE, 0.0, 0.0, named(1, "hints", "/etc/romio-hints")),
        (0, FILE, 0.0, 0.0, named(2, "data", "/data/a.dat")),
        (0, FILE, 0.0, 0.0, named(3, "data", "/data/b.dat")),
        // Rank 0 opens a file, after that of hints; rank 1 another one with the same handle, and opens nothing itself.
        (0, OPEN, 1.0, 2.0, call(10, Some(5))),
        (0, PWRITE, 1.2, 1.3, operation(10, 1)),
        (0, PWRITE, 1.4, 1.5, operation(10, 2)),
        (1, OPEN, 1.0, 2.0, call(20, Some(5))),
        (1, SYNC, 3.0, 4.0, call(21, Some(5))),
        (1, PWRITE, 3.5, 3.6, operation(21, 3)),
        // At the same time as that of rank 1: each has the file of its own access.
        (0, WRITE, 5.0, 6.0, call(12, None)),
        (0, ACCESS, 5.0, 5.0, access(12, 2)),
        (1, WRITE, 5.0, 6.0, call(22, None)),
        (1, ACCESS, 5.0, 5.0, access(22, 3)),
        (0, SYNC, 7.0, 8.0, call(13, Some(5))),
        (0, SYNC, 9.0, 10.0, call(14, Some(9))),
        (0, WRITE, 11.0, 12.0, call(15, None)),
    ];
    let file = trace(&mut drawables);
    let viewer = Viewer::new("a.slog2", &file, AnswerLimits::default()).unwrap();
    let (a, b) = ("/data/a.dat", "/data/b.dat");
    let expected = [
        (1.05, 0, a),
        (1.05, 1, b),
        (3.1, 1, b),
        (5.5, 0, a),
        (5.5, 1, b),
        (7.5, 0, a),
        // Nothing tells.
        (9.5, 0, ""),
        (11.5, 0, ""),
    ];
    for (t, timeline, path) in expected {
        let found = json(&viewer, &format!("at?t={t}&timeline={timeline}&dt=0.01"));
        assert_eq!(found["file"].as_str().unwrap_or_default(), path, "{found}");
    }
    let listed = json(&viewer, "events?q=MPI_File_*&limit=99");
    let files: Vec<&str> = listed["file"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file.as_str().unwrap())
        .collect();
    let mut of_ranks = files.clone();
    of_ranks.sort_unstable();
    assert_eq!(of_ranks, ["", "", a, a, a, b, b, b], "{files:?}");
    // A long table reads them all at once; a search finds calls and operations by the file.
    let long = json(&viewer, "events?q=MPI_File_*&limit=5000");
    assert_eq!(long["file"], listed["file"]);
    for (query, count) in [
        ("file:a.dat MPI_File_*", 3),
        ("file:\"/data/*\" MPI_File_*", 6),
        ("!file:a.dat MPI_File_*", 5),
        ("file:b.dat pwrite*", 1),
        ("file:nothing", 0),
    ] {
        let found = json(&viewer, &format!("events?q={query}"));
        assert_eq!(found["total"], count, "{query}");
    }
    let csv = viewer
        .answer("csv?what=events&q=MPI_File_open", &|| false)
        .unwrap();
    let csv = String::from_utf8(csv.body).unwrap();
    assert!(
        csv.starts_with("start_s,end_s,duration_s,topology,name,timeline,to_timeline,file,info"),
        "{csv}"
    );
    assert_eq!(csv.matches(a).count(), 1, "{csv}");
}
