//! A small trace with everything that an archive can hold, event by event.

use trace_model::{Category, Definitions, InfoWriter, Topology};

use super::archive;
use super::printed::PrintedEvent;
use crate::perfetto::{OwnedDrawable, category, definitions, line_of_comm};
use Topology::{Arrow, Event, State};

/// Two ranks, the first with a second thread; both have a timeline about a communicator in which their ranks are the other way round.
fn sample_definitions() -> Definitions {
    let categories = vec![
        Category::message(),
        category(1, "MPI_Isend", State, "request=%d"),
        category(2, "MPI_Irecv", State, "request=%d"),
        category(3, "MPI_Waitall", State, "completes=%s"),
        category(4, "MPI_Wait", State, "completes=%d"),
        category(5, "MPI_Ibcast", State, "root=%d, bytes=%l, request=%d"),
        category(6, "MPI_Gather", State, "root=%d, bytes=%l"),
        category(7, "MPI_File_open", State, "CallID=0x%X, handle=%d"),
        category(8, "MPI_File_close", State, "CallID=0x%X, handle=%d"),
        category(
            9,
            "MPI_File_iwrite_at",
            State,
            "CallID=0x%X, bytes=%l, offset=%l",
        ),
        category(
            10,
            "open",
            State,
            "CallID=0x%X, file=%d, fd=%d, result=%l, operation=%l",
        ),
        category(
            11,
            "pwrite",
            State,
            "CallID=0x%X, file=%d, fd=%d, size=%l, result=%l, operation=%l",
        ),
        category(12, "file", Event, "file=%d, role=%s, path=%s"),
        category(
            13,
            "I/O access",
            Event,
            "CallID=0x%X, file=%d, complete=%l ns",
        ),
        category(14, "carries pwrite", Arrow, "bytes=%l"),
        category(15, "residual", Event, "value=%E"),
        category(16, "solve", State, "page-faults=+%l"),
        category(17, "MPI_Recv", State, ""),
        category(18, "MPI_Send", State, ""),
    ];
    let mut definitions = definitions(categories, &[(0, 0), (0, 1), (1, 0)]);
    definitions.lines[0].host = Some("node7".into());
    definitions.lines[2].host = Some("node8".into());
    for (id, rank, comm_rank) in [(3, 0, 1), (4, 1, 0)] {
        definitions.lines.push(line_of_comm(id, rank, 5, comm_rank));
    }
    definitions
}

/// Times are µs; a drawable is on the timelines that its ends name.
fn sample_drawables() -> Vec<OwnedDrawable> {
    let mut info = InfoWriter::default();
    let info = &mut info;
    let mut drawables = Vec::new();
    let mut put = |topology, category, info: &InfoWriter, ends: &[(u32, i32)]| {
        let ends: Vec<(f64, i32)> = ends
            .iter()
            .map(|&(time, line)| (f64::from(time) / 1e6, line))
            .collect();
        drawables.push(OwnedDrawable::new(topology, category, info.bytes(), &ends));
    };
    // What the inner one counts is in the count of the outer one.
    put(State, 16, info.clear().long(7), &[(0, 1), (100, 1)]);
    put(State, 16, info.clear().long(4), &[(10, 1), (20, 1)]);
    // Two receives and a send with requests, completed together, on the communicator.
    put(State, 2, info.clear().int(1), &[(11, 3), (12, 3)]);
    put(State, 1, info.clear().int(2), &[(13, 3), (14, 3)]);
    put(Arrow, 0, info.clear().int(7).int(80), &[(13, 3), (18, 4)]);
    put(State, 17, info.clear(), &[(15, 4), (18, 4)]);
    put(State, 3, info.clear().text(b"1-2"), &[(16, 3), (25, 3)]);
    put(State, 18, info.clear(), &[(20, 4), (21, 4)]);
    put(Arrow, 0, info.clear().int(8).int(90), &[(20, 4), (25, 3)]);
    // Collective operations, one of which a request completes.
    put(
        State,
        5,
        info.clear().int(0).long(40).int(3),
        &[(30, 3), (31, 3)],
    );
    put(State, 4, info.clear().int(3), &[(32, 3), (33, 3)]);
    put(State, 6, info.clear().int(1).long(16), &[(34, 2), (35, 2)]);
    // A message in a call without duration.
    put(Arrow, 0, info.clear().int(9).int(1), &[(36, 0), (37, 2)]);
    put(State, 17, info.clear(), &[(37, 2), (37, 2)]);
    // A file is opened, written to in the background, and closed.
    put(
        State,
        7,
        info.clear().long(0x11).int(0),
        &[(40, 0), (44, 0)],
    );
    put(
        Event,
        12,
        info.clear().int(3).text(b"data").text(b"out.dat"),
        &[(41, 0)],
    );
    put(
        State,
        10,
        info.clear().long(0x11).int(3).int(9).long(9).long(1),
        &[(41, 0), (42, 0)],
    );
    put(
        Event,
        13,
        info.clear().long(0x12).int(3).long(5000),
        &[(45, 0)],
    );
    put(
        State,
        9,
        info.clear().long(0x12).long(64).long(128),
        &[(45, 0), (47, 0)],
    );
    put(
        State,
        11,
        info.clear()
            .long(0x12)
            .int(3)
            .int(9)
            .long(64)
            .long(60)
            .long(2),
        &[(46, 0), (48, 0)],
    );
    put(Arrow, 14, info.clear().long(64), &[(46, 0), (46, 0)]);
    put(State, 4, info.clear().int(-1), &[(49, 0), (50, 0)]);
    put(
        State,
        8,
        info.clear().long(0x13).int(0),
        &[(51, 0), (52, 0)],
    );
    put(Event, 15, info.clear().real(0.5), &[(60, 0)]);
    drawables
}

const THREAD_1: u64 = 1 << 32;
const OVERLAP: u64 = 1 << 59;

/// Event, location, time in µs, what is printed of it, and its attributes.
type Expected = (&'static str, u64, u64, &'static str, &'static str);

#[rustfmt::skip]
const EXPECTED: &[Expected] = &[
    ("METRIC", THREAD_1, 0, "Metric: 1, 1 Value: (\"page-faults\"; UINT64; 0)", ""),
    ("ENTER", THREAD_1, 0, "Region: \"solve\"", ""),
    ("ENTER", THREAD_1, 10, "Region: \"solve\"", ""),
    ("ENTER", 0, 11, "Region: \"MPI_Irecv\"", "(\"timeline communicator\"; COMM; \"communicator 5\")"),
    ("MPI_IRECV_REQUEST", 0, 11, "Request: 3", ""),
    ("LEAVE", 0, 12, "Region: \"MPI_Irecv\"", ""),
    ("ENTER", 0, 13, "Region: \"MPI_Isend\"", "(\"timeline communicator\"; COMM; \"communicator 5\")"),
    ("MPI_ISEND", 0, 13, "Receiver: 0 (\"thread 0\"), Communicator: \"communicator 5\", Tag: 7, Length: 80, Request: 4", ""),
    ("LEAVE", 0, 14, "Region: \"MPI_Isend\"", ""),
    ("ENTER", 1, 15, "Region: \"MPI_Recv\"", "(\"timeline communicator\"; COMM; \"communicator 5\")"),
    ("ENTER", 0, 16, "Region: \"MPI_Waitall\"", "(\"timeline communicator\"; COMM; \"communicator 5\")"),
    ("MPI_RECV", 1, 18, "Sender: 1 (\"thread 0\"), Communicator: \"communicator 5\", Tag: 7, Length: 80", ""),
    ("LEAVE", 1, 18, "Region: \"MPI_Recv\"", ""),
    ("METRIC", THREAD_1, 20, "Metric: 1, 1 Value: (\"page-faults\"; UINT64; 4)", ""),
    ("LEAVE", THREAD_1, 20, "Region: \"solve\"", ""),
    ("ENTER", 1, 20, "Region: \"MPI_Send\"", "(\"timeline communicator\"; COMM; \"communicator 5\")"),
    ("MPI_SEND", 1, 20, "Receiver: 1 (\"thread 0\"), Communicator: \"communicator 5\", Tag: 8, Length: 90", ""),
    ("LEAVE", 1, 21, "Region: \"MPI_Send\"", ""),
    ("MPI_IRECV", 0, 25, "Sender: 0 (\"thread 0\"), Communicator: \"communicator 5\", Tag: 8, Length: 90, Request: 3", ""),
    ("MPI_ISEND_COMPLETE", 0, 25, "Request: 4", ""),
    ("LEAVE", 0, 25, "Region: \"MPI_Waitall\"", ""),
    ("ENTER", 0, 30, "Region: \"MPI_Ibcast\"", "(\"root\"; INT64; 0), (\"bytes\"; INT64; 40), (\"timeline communicator\"; COMM; \"communicator 5\")"),
    ("NON_BLOCKING_COLLECTIVE_REQUEST", 0, 30, "Request: 6", ""),
    ("LEAVE", 0, 31, "Region: \"MPI_Ibcast\"", ""),
    ("ENTER", 0, 32, "Region: \"MPI_Wait\"", "(\"timeline communicator\"; COMM; \"communicator 5\")"),
    ("NON_BLOCKING_COLLECTIVE_COMPLETE", 0, 33, "Operation: BCAST, Communicator: \"communicator 5\", Root: 0 (\"thread 0\"), Sent: 0, Received: 40, Request: 6", ""),
    ("LEAVE", 0, 33, "Region: \"MPI_Wait\"", ""),
    ("ENTER", 1, 34, "Region: \"MPI_Gather\"", "(\"root\"; INT64; 1), (\"bytes\"; INT64; 16)"),
    ("MPI_COLLECTIVE_BEGIN", 1, 34, "", ""),
    ("MPI_COLLECTIVE_END", 1, 35, "Operation: GATHER, Communicator: \"MPI_COMM_WORLD\", Root: 1 (\"thread 0\"), Sent: 16, Received: 32", ""),
    ("LEAVE", 1, 35, "Region: \"MPI_Gather\"", ""),
    ("MPI_SEND", 0, 36, "Receiver: 1 (\"thread 0\"), Communicator: \"MPI_COMM_WORLD\", Tag: 9, Length: 1", ""),
    ("ENTER", 1, 37, "Region: \"MPI_Recv\"", ""),
    ("MPI_RECV", 1, 37, "Sender: 0 (\"thread 0\"), Communicator: \"MPI_COMM_WORLD\", Tag: 9, Length: 1", ""),
    ("LEAVE", 1, 37, "Region: \"MPI_Recv\"", ""),
    ("ENTER", 0, 40, "Region: \"MPI_File_open\"", "(\"CallID\"; UINT64; 17), (\"handle\"; INT64; 0)"),
    ("ENTER", 0, 41, "Region: \"open\"", "(\"CallID\"; UINT64; 17), (\"file\"; INT64; 3), (\"fd\"; INT64; 9), (\"result\"; INT64; 9), (\"operation\"; INT64; 1)"),
    ("ENTER", 0, 41, "Region: \"file\"", "(\"file\"; INT64; 3), (\"role\"; STRING; \"data\"), (\"path\"; STRING; \"out.dat\")"),
    ("LEAVE", 0, 41, "Region: \"file\"", ""),
    ("IO_CREATE_HANDLE", 0, 42, "Handle: \"out.dat\", Access Mode: READ_WRITE, Creation Flags: NONE, Status Flags: NONE", ""),
    ("LEAVE", 0, 42, "Region: \"open\"", ""),
    ("IO_CREATE_HANDLE", 0, 44, "Handle: \"out.dat\", Access Mode: READ_WRITE, Creation Flags: NONE, Status Flags: NONE", ""),
    ("LEAVE", 0, 44, "Region: \"MPI_File_open\"", ""),
    ("ENTER", 0, 45, "Region: \"MPI_File_iwrite_at\"", "(\"CallID\"; UINT64; 18), (\"bytes\"; INT64; 64), (\"offset\"; INT64; 128)"),
    ("IO_OPERATION_BEGIN", 0, 45, "Handle: \"out.dat\", Mode: WRITE, Operation Flags: {NON_BLOCKING}, Bytes Request: 64, Matching Id: 0", ""),
    ("ENTER", OVERLAP, 46, "Region: \"pwrite\"", "(\"CallID\"; UINT64; 18), (\"file\"; INT64; 3), (\"fd\"; INT64; 9), (\"size\"; INT64; 64), (\"result\"; INT64; 60), (\"operation\"; INT64; 2)"),
    ("IO_OPERATION_BEGIN", OVERLAP, 46, "Handle: \"out.dat\", Mode: WRITE, Operation Flags: NONE, Bytes Request: 64, Matching Id: 1", ""),
    ("IO_OPERATION_ISSUED", 0, 47, "Handle: \"out.dat\", Matching Id: 0", ""),
    ("LEAVE", 0, 47, "Region: \"MPI_File_iwrite_at\"", ""),
    ("IO_OPERATION_COMPLETE", OVERLAP, 48, "Handle: \"out.dat\", Bytes Result: 60, Matching Id: 1", ""),
    ("LEAVE", OVERLAP, 48, "Region: \"pwrite\"", ""),
    ("ENTER", 0, 49, "Region: \"MPI_Wait\"", ""),
    ("IO_OPERATION_COMPLETE", 0, 50, "Handle: \"out.dat\", Bytes Result: 64, Matching Id: 0", ""),
    ("LEAVE", 0, 50, "Region: \"MPI_Wait\"", ""),
    ("ENTER", 0, 51, "Region: \"MPI_File_close\"", "(\"CallID\"; UINT64; 19), (\"handle\"; INT64; 0)"),
    ("IO_DESTROY_HANDLE", 0, 52, "Handle: \"out.dat\"", ""),
    ("LEAVE", 0, 52, "Region: \"MPI_File_close\"", ""),
    ("ENTER", 0, 60, "Region: \"residual\"", "(\"value\"; DOUBLE; 0.5)"),
    ("METRIC", 0, 60, "Metric: 0, 1 Value: (\"residual\"; DOUBLE; 0.5)", ""),
    ("LEAVE", 0, 60, "Region: \"residual\"", ""),
    ("METRIC", THREAD_1, 100, "Metric: 1, 1 Value: (\"page-faults\"; UINT64; 7)", ""),
    ("LEAVE", THREAD_1, 100, "Region: \"solve\"", ""),
];

/// The sample.
pub fn sample() -> (Definitions, Vec<OwnedDrawable>) {
    (sample_definitions(), sample_drawables())
}

/// A printed text without the references ` <12>`.
pub fn without_references(text: &str) -> String {
    let mut parts = text.split(" <");
    let mut bare = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        bare.push_str(part.split_once('>').map_or("", |(_, rest)| rest));
    }
    bare
}

#[test]
fn every_kind_of_event_is_written() {
    let Some((archive, losses)) = archive(&sample_definitions(), &sample_drawables(), true) else {
        return;
    };
    // Events of one time on different locations may be printed in any order.
    let by_place = |event: &PrintedEvent| (event.time, event.location);
    let mut events = archive.events.clone();
    events.sort_by_key(by_place);
    let mut expected: Vec<PrintedEvent> = EXPECTED
        .iter()
        .map(|&(kind, location, time, text, attributes)| PrintedEvent {
            kind: kind.to_owned(),
            location,
            time: time * 1000,
            text: text.to_owned(),
            attributes: attributes.to_owned(),
        })
        .collect();
    expected.sort_by_key(by_place);
    for (event, expected) in events.iter().zip(&expected) {
        let found = PrintedEvent {
            text: without_references(&event.text),
            attributes: without_references(&event.attributes),
            ..event.clone()
        };
        assert_eq!(&found, expected);
    }
    assert_eq!(events.len(), expected.len());
    let lost: Vec<(&str, u64)> = losses.iter().collect();
    let overlap = "state that overlaps another one, on a location beside its thread's";
    let expected = [
        ("arrow that is no message", 1),
        ("colour of a category", 19),
        (overlap, 1),
    ];
    assert_eq!(lost, expected);
}

#[test]
fn definitions_tell_places_communicators_and_files() {
    let Some((archive, _)) = archive(&sample_definitions(), &sample_drawables(), true) else {
        return;
    };
    let is_there = |kind: &str, text: &str| {
        let lines = archive.definitions_of(kind);
        let found = lines
            .iter()
            .any(|line| without_references(line).contains(text));
        assert!(found, "{kind} {text}: {lines:#?}");
    };
    is_there(
        "CLOCK_PROPERTIES",
        "Ticks per Seconds: 1000000000, Global Offset: 0, Length: 100001",
    );
    is_there("PARADIGM", "MPI, Name: \"MPI\", Class: PROCESS");
    for (name, role, paradigm) in [
        ("MPI_Send", "POINT2POINT", "\"MPI\""),
        ("MPI_Ibcast", "COLL_ONE2ALL", "\"MPI\""),
        ("MPI_Gather", "COLL_ALL2ONE", "\"MPI\""),
        ("MPI_File_open", "FILE_IO_METADATA", "\"MPI\""),
        ("MPI_File_iwrite_at", "FILE_IO", "\"MPI\""),
        ("pwrite", "FILE_IO", "NONE"),
        ("solve", "FUNCTION", "USER"),
    ] {
        let name = format!("Name: \"{name}\" (Aka. \"{name}\")");
        is_there(
            "REGION",
            &format!("{name}, Descr.: \"state\", Role: {role}, Paradigm: {paradigm}"),
        );
    }
    is_there(
        "SYSTEM_TREE_NODE",
        "Name: \"node8\", Class: \"node\", Parent: \"machine::machine\"",
    );
    is_there(
        "LOCATION_GROUP",
        "Name: \"rank 1\", Type: PROCESS, Parent: \"node::node8\"",
    );
    is_there(
        "LOCATION",
        "Name: \"thread 1\", Type: CPU_THREAD, # Events: 7, Group: \"rank 0\"",
    );
    let group = "2 Members: 1 (\"thread 0\"), 0 (\"thread 0\")";
    is_there(
        "GROUP",
        &format!("Type: COMM_GROUP, Paradigm: \"MPI\", Flags: NONE, {group}"),
    );
    is_there("COMM", "Name: \"communicator 5\"");
    is_there(
        "METRIC_MEMBER",
        "Mode: ACCUMULATED_POINT, Value Type: UINT64",
    );
    is_there(
        "IO_HANDLE",
        "I/O Paradigm: \"MPI-IO\", Flags: NONE, Communicator: \"MPI_COMM_WORLD\", Parent: UNDEFINED",
    );
    is_there(
        "IO_HANDLE",
        "I/O Paradigm: \"POSIX\", Flags: NONE, Communicator: UNDEFINED, Parent: \"out.dat\"",
    );
    is_there("IO_REGULAR_FILE", "Name: \"out.dat\"");
}
