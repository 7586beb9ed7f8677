//! A small trace with everything that a Perfetto trace can hold.
//!
//! `data/perfetto/sample.txt` is the text that Perfetto's own definitions give for `sample.pftrace`: the package `perfetto` 0.59.1 for
//! Python, `google.protobuf.text_format.MessageToString(Trace.FromString(bytes), as_utf8=True)`. The trace processor of Perfetto v52 reads it without
//! an error.

use std::path::Path;

use trace_model::{Category, Definitions, InfoWriter, Line, Topology};

use super::decode::{Value, packets};
use super::timeline::{Slice, timeline};
use super::{OwnedDrawable, category, definitions, line_of_comm, trace};
use Topology::{Arrow, Event, State};

/// Two ranks, the first with a second thread and a line of another communicator, and a server.
pub fn sample() -> (Definitions, Vec<OwnedDrawable>) {
    let categories = vec![
        Category::message(),
        category(1, "MPI_Send", State, "bytes=%l, page-faults=+%l"),
        category(2, "MPI_Recv", State, ""),
        category(
            3,
            "MPI_File_write_at",
            State,
            "CallID=0x%X, bytes=%l, offset=%l",
        ),
        category(4, "pwrite", State, "file=%d, lasts=%l ns, operation=%l"),
        category(5, "file", Event, "file=%d, role=%s, path=%s"),
        category(6, "I/O access", Event, "CallID=0x%X, file=%d"),
        category(
            7,
            "carries pwrite",
            Arrow,
            "bytes=%l, precision=%s, operation=%l",
        ),
        category(8, "residual", Event, "value=%E"),
        category(9, "step", Event, "value=%l"),
        category(10, "solve \"all\"", State, "%s%d"),
    ];
    let mut definitions = definitions(categories, &[(0, 0), (0, 1), (1, 0)]);
    definitions.lines[0].host = Some("node7".into());
    definitions.lines.push(line_of_comm(3, 0, 3, 0));
    definitions.lines.push(Line {
        name: Some("server 0 thread 2".into()),
        ..Line::of_thread(4, 1_000_000, 0)
    });
    let mut info = InfoWriter::default();
    let info = &mut info;
    let mut drawables = Vec::new();
    let mut put = |topology, category, info: &[u8], ends: &[(f64, i32)]| {
        drawables.push(OwnedDrawable::new(topology, category, info, ends));
    };
    put(
        State,
        10,
        info.clear().text(b"a\xff\0b").int(-1).bytes(),
        &[(-0.5, 0), (3.0, 0)],
    );
    // It begins in the first one and ends after it.
    put(
        State,
        10,
        info.clear().text("\u{e9}\n".as_bytes()).int(2).bytes(),
        &[(0.0, 0), (3.5, 0)],
    );
    put(State, 2, &[], &[(0.25, 2), (1.0, 2)]);
    put(
        State,
        1,
        info.clear().long(80).long(12).bytes(),
        &[(0.5, 3), (0.75, 3)],
    );
    put(
        Arrow,
        0,
        info.clear().int(7).int(80).bytes(),
        &[(0.5, 0), (1.0, 2)],
    );
    put(
        State,
        1,
        info.clear().long(8).long(-1).bytes(),
        &[(0.75, 3), (0.875, 3)],
    );
    // Its clock is wrong: it arrives before it is sent.
    put(
        Arrow,
        0,
        info.clear().int(8).int(8).bytes(),
        &[(1.25, 2), (1.125, 1)],
    );
    put(Event, 8, info.clear().real(0.125).bytes(), &[(1.5, 1)]);
    put(Event, 9, info.clear().long(-4).bytes(), &[(1.5, 1)]);
    let call = 0x1_0000_0007;
    put(
        State,
        3,
        info.clear().long(call).long(100).long(4096).bytes(),
        &[(2.0, 0), (2.5, 0)],
    );
    put(
        Event,
        6,
        info.clear().long(call).int(5).bytes(),
        &[(2.0, 0)],
    );
    put(
        Event,
        5,
        info.clear()
            .int(5)
            .text(b"data")
            .text(b"/scratch/out")
            .bytes(),
        &[(2.0, 0)],
    );
    put(
        Arrow,
        7,
        info.clear().long(100).text(b"exact").long(1).bytes(),
        &[(2.0, 0), (2.125, 4)],
    );
    put(
        State,
        4,
        info.clear().int(5).long(125_000_000).long(1).bytes(),
        &[(2.125, 4), (2.25, 4)],
    );
    (definitions, drawables)
}

/// A file of the test data. With `UPDATE_SAMPLE` the trace is written there, to be decoded by Perfetto's own definitions.
fn data(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/perfetto")
        .join(name)
}

#[test]
fn perfettos_definitions_give_the_expected_text() {
    let (definitions, drawables) = sample();
    let (bytes, _) = trace(&definitions, &drawables);
    if std::env::var_os("UPDATE_SAMPLE").is_some() {
        std::fs::write(data("sample.pftrace"), &bytes).expect("written");
    }
    let mut text = String::new();
    for packet in packets(&bytes) {
        text.push_str("packet {\n");
        packet.print(1, &mut text);
        text.push_str("}\n");
    }
    let expected = std::fs::read_to_string(data("sample.txt")).expect("there");
    assert_eq!(text, expected);
    let expected = std::fs::read(data("sample.pftrace")).expect("there");
    assert!(bytes == expected, "the bytes differ");
}

fn find<'s>(slices: &'s [Slice], name: &str) -> &'s Slice {
    let mut found = slices.iter().filter(|slice| slice.name == name);
    found.next().unwrap_or_else(|| panic!("no slice {name}"))
}

#[test]
fn everything_is_where_it_belongs() {
    let (definitions, drawables) = sample();
    let (bytes, losses) = trace(&definitions, &drawables);
    let timeline = timeline(&bytes);
    let find = |name: &str| find(&timeline.slices, name);
    assert_eq!(timeline.labels["rank 0"], "node7");

    // Times begin at 0.
    let first = find("solve \"all\"");
    assert_eq!((first.start, first.end), (0, 3_500_000_000));
    assert_eq!((&*first.process, &*first.track), ("rank 0", "thread 0"));
    assert_eq!(first.arguments["value"], "a\u{fffd}");
    assert_eq!(first.arguments["value 2"], "-1");
    assert!(
        timeline
            .slices
            .iter()
            .any(|s| s.track == "thread 0 overlap 1")
    );

    let send = find("MPI_Send");
    assert_eq!(send.parent.as_deref(), Some("solve \"all\""));
    assert_eq!((&*send.track, &*send.category), ("thread 0", "mpi"));
    assert_eq!(send.arguments["communicator"], "3");
    assert_eq!(send.arguments["bytes"], "80");

    let ends: Vec<(&str, &str)> = timeline
        .flows
        .iter()
        .map(|&(start, end)| {
            let parent = |at: usize| timeline.slices[at].parent.as_deref().unwrap_or("");
            (parent(start), parent(end))
        })
        .collect();
    assert_eq!(
        ends,
        [("MPI_Send", "MPI_Recv"), ("MPI_File_write_at", "pwrite")]
    );
    let sent = find("send message");
    assert_eq!(sent.arguments["peer"], "rank 1");
    assert_eq!(
        (&*sent.arguments["msg_tag"], sent.start),
        ("7", 1_000_000_000)
    );

    let write = find("MPI_File_write_at");
    assert_eq!(write.arguments["CallID"], "0x100000007");
    assert_eq!(write.arguments["file"], "5");
    assert_eq!(write.arguments["path"], "/scratch/out");
    let pwrite = find("pwrite");
    assert_eq!((&*pwrite.process, &*pwrite.track), ("server 0", "thread 2"));
    assert_eq!(pwrite.arguments["lasts (ns)"], "125000000");
    assert_eq!(pwrite.arguments["path"], "/scratch/out");

    let counts: Vec<(&str, &str, f64)> = timeline
        .counts
        .iter()
        .map(|count| (&*count.process, &*count.track, count.value))
        .collect();
    assert_eq!(
        counts,
        [
            ("rank 0", "bytes in flight", 80.0),
            ("rank 0", "page-faults in calls of thread 0", 12.0),
            ("rank 0", "bytes in flight", 0.0),
            ("rank 0", "residual", 0.125),
            ("rank 0", "step", -4.0),
        ]
    );
    assert_eq!(
        losses.count("arrow that ends before it starts, without a flow"),
        1
    );
    assert_eq!(losses.count("colour of a category"), 11);
    let overlap = "state that overlaps another one, on a track beside its thread's";
    assert_eq!(losses.count(overlap), 1);
}

/// Each field of the writer's table is in the sample, so that a wrong number shows.
#[test]
fn the_sample_has_every_field() {
    let (definitions, drawables) = sample();
    let (bytes, _) = trace(&definitions, &drawables);
    let mut text = String::from("packet {");
    for packet in packets(&bytes) {
        assert!(
            packet
                .all("timestamp")
                .all(|time| matches!(time, Value::Number(_)))
        );
        packet.print(0, &mut text);
    }
    let source = include_str!("../../../src/perfetto/fields.rs");
    let declared = source.lines().filter_map(|line| {
        let (_, declaration) = line.trim().strip_prefix("/// `")?.split_once(' ')?;
        let (field, _) = declaration.split_once(" = ")?;
        field.rsplit(' ').next()
    });
    let fields: Vec<&str> = declared.collect();
    assert!(fields.len() > 30, "{fields:?}");
    for field in fields {
        assert!(
            text.contains(&format!("{field}: ")) || text.contains(&format!("{field} {{")),
            "{field}"
        );
    }
}

/// A counter of a thread has counted what the outer region says, in which that of the inner one is.
#[test]
fn counts_of_nested_regions_count_once() {
    let categories = vec![category(1, "solve", State, "acc=+%l")];
    let definitions = definitions(categories, &[(0, 0)]);
    let mut info = InfoWriter::default();
    let regions = [
        (490, [0.0, 100.0]),
        (75, [10.0, 50.0]),
        (30, [20.0, 30.0]),
        (-1, [60.0, 70.0]),
        (2, [110.0, 120.0]),
    ];
    let drawables = regions.map(|(count, ends)| {
        let ends = ends.map(|time| (time, 0));
        OwnedDrawable::new(State, 1, info.clear().long(count).bytes(), &ends)
    });
    let (bytes, _) = trace(&definitions, &drawables);
    let counts = timeline(&bytes).counts.into_iter();
    let counts: Vec<f64> = counts.map(|count| count.value).collect();
    assert_eq!(counts, [30.0, 75.0, 490.0, 492.0]);
}
