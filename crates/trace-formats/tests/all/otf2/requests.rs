//! Requests and communicators of calls of which no event of an archive tells.

use std::collections::BTreeSet;

use trace_model::{Category, InfoWriter, Topology};

use super::printed::PrintedArchive;
use super::read::{read, words};
use super::written;
use crate::perfetto::{OwnedDrawable, category, definitions, line_of_comm};

/// One call on the timeline of a rank: category, time in µs, info.
type Call<'a> = (i32, u32, &'a dyn Fn(&mut InfoWriter));

/// A process makes a graph, begins neighbourhood and persistent operations, a communicator and an access to a file, and completes all of them: what
/// their calls tell of requests comes back as it was.
#[test]
fn requests_that_no_event_tells_come_back() {
    let names = [
        (
            "MPI_Dist_graph_create_adjacent",
            "makes=%d, remote=%d, sources=%s",
        ),
        ("MPI_Ineighbor_alltoall", "request=%d"),
        ("MPI_Bcast_init", "root=%d, bytes=%l, prepared=%d"),
        ("MPI_Start", "request=%d, prepared=%d"),
        ("MPI_Startall", "sends=%s, receives=%s, prepared=%s"),
        (
            "MPI_Comm_idup",
            "request=%d, makes=%d, remote=%d, sources=%s",
        ),
        ("MPI_File_iread_all", "request=%d, handle=%d"),
        ("MPI_Wait", "completes=%d"),
        ("MPI_Waitall", "completes=%s"),
        ("MPI_Ibarrier", "request=%d"),
        ("MPI_Comm_set_name", "name=%s"),
        ("MPI_Rput", "bytes=%l, request=%d, handle=%d, target=%d"),
    ];
    let categories = (1..)
        .zip(names)
        .map(|(index, (name, format))| category(index, name, Topology::State, format));
    let mut definitions = definitions(categories.collect(), &[(0, 0), (1, 0)]);
    for (id, comm, rank) in [(2, 7, 0), (3, 7, 1), (4, 9, 0)] {
        definitions.lines.push(line_of_comm(id, rank, comm, 0));
    }
    let calls: &[Call<'_>] = &[
        (1, 0, &|info| _ = info.int(7).int(9).text(b"0-1")),
        (2, 1, &|info| _ = info.int(4)),
        (8, 2, &|info| _ = info.int(4)),
        (3, 3, &|info| _ = info.int(0).long(8).int(1)),
        (4, 4, &|info| _ = info.int(5).int(1)),
        (8, 5, &|info| _ = info.int(5)),
        (5, 6, &|info| _ = info.text(b"6").text(b"7-8").text(b"9:1")),
        (6, 7, &|info| _ = info.int(10).int(7).int(-1).text(b"")),
        (7, 8, &|info| _ = info.int(11).int(0)),
        (10, 9, &|info| _ = info.int(12)),
        (12, 10, &|info| _ = info.long(8).int(13).int(0).int(1)),
        // The barrier is complete by an event, and so are the broadcast and receives, of which it is told that no message came.
        (9, 11, &|info| _ = info.text(b"6-13")),
        // Of a request of which nothing is known.
        (8, 12, &|info| _ = info.int(99)),
        (11, 13, &|info| _ = info.text(b"rows")),
    ];
    let mut info = InfoWriter::default();
    let drawables: Vec<OwnedDrawable> = (calls.iter())
        .map(|(category, time, write)| {
            info.clear();
            write(&mut info);
            let start = f64::from(*time) / 1e6;
            // The name is that of a communicator.
            let line = if *category == 11 { 2 } else { 0 };
            let ends = [(start, line), (start + 0.5e-6, line)];
            OwnedDrawable::new(Topology::State, *category, info.bytes(), &ends)
        })
        .collect();
    let Some((folder, losses)) = written(&definitions, &drawables) else {
        return;
    };
    let lost: Vec<&str> = losses.iter().map(|(what, _)| what).collect();
    assert!(
        !lost.iter().any(|what| what.contains("request")),
        "{lost:?}"
    );
    let Some((again, drawables, _)) = read(&folder.path().join("run.otf2")) else {
        return;
    };
    let mut found: Vec<String> = drawables.iter().map(|call| words(&again, call)).collect();
    found.sort_by_key(|words| {
        let (_, time) = words.split_once(" at ").expect("a time");
        time.split(' ')
            .next()
            .and_then(|time| time.parse::<u32>().ok())
    });
    let found: Vec<(&str, &str)> = (found.iter())
        .filter_map(|words| Some((words.split(' ').next()?, words.split_once(": ")?.1)))
        .collect();
    let expected = [
        (
            "MPI_Dist_graph_create_adjacent",
            "makes=7, remote=9, sources=0-1",
        ),
        ("MPI_Ineighbor_alltoall", "request=4"),
        ("MPI_Wait", "completes=4"),
        ("MPI_Bcast_init", "root=0, bytes=8, prepared=1"),
        ("MPI_Start", "request=5, prepared=1"),
        ("MPI_Wait", "completes=5"),
        ("MPI_Startall", "sends=, receives=7-8, prepared=9:1"),
        ("MPI_Comm_idup", "request=10, makes=7"),
        ("MPI_File_iread_all", "request=11, handle=0"),
        ("MPI_Ibarrier", "request=12"),
        ("MPI_Rput", "bytes=8, request=13, handle=0, target=1"),
        ("MPI_Waitall", "completes=6-13"),
        ("MPI_Wait", "completes=99"),
        ("MPI_Comm_set_name", "name=rows"),
    ];
    assert_eq!(found, expected);
    let comms: BTreeSet<i32> = again.lines.iter().map(|line| line.comm).collect();
    assert_eq!(comms, BTreeSet::from([0, 7]));
    if let Some(printed) = PrintedArchive::of(&folder.path().join("run.otf2")) {
        let comms = printed.definitions_of("COMM");
        let named = comms
            .iter()
            .any(|comm| comm.contains("Name: \"rows (communicator 7)\""));
        assert!(named, "{comms:#?}");
    }
}

/// A send to MPI_PROC_NULL has no message, so no event tells its request. Beside it a send that has one.
#[test]
fn a_send_without_a_message_keeps_its_request() {
    let mut categories = vec![Category::message()];
    for (index, name, format) in [
        (1, "MPI_Isend", "request=%d"),
        (2, "MPI_Waitall", "completes=%s"),
        (3, "MPI_Recv", ""),
    ] {
        categories.push(category(index, name, Topology::State, format));
    }
    let definitions = definitions(categories, &[(0, 0), (1, 0)]);
    let call = |index, line, from: u32, info: &InfoWriter| {
        let start = f64::from(from) / 1e6;
        let ends = [(start, line), (start + 1e-6, line)];
        OwnedDrawable::new(Topology::State, index, info.bytes(), &ends)
    };
    let mut info = InfoWriter::default();
    let message = [0, 0, 0, 1, 0, 0, 0, 8];
    let ends = [(10.2e-6, 0), (40.5e-6, 1)];
    let drawables = [
        call(1, 0, 10, info.clear().int(3)),
        OwnedDrawable::new(Topology::Arrow, 0, &message, &ends),
        call(1, 0, 20, info.clear().int(4)),
        call(2, 0, 30, info.clear().text(b"3-4")),
        call(3, 1, 40, info.clear()),
    ];
    let Some((folder, _)) = written(&definitions, &drawables) else {
        return;
    };
    let Some((again, drawables, _)) = read(&folder.path().join("run.otf2")) else {
        return;
    };
    let mut found: Vec<String> = drawables.iter().map(|call| words(&again, call)).collect();
    found.sort_unstable();
    let expected = [
        "MPI_Isend 0.0 at 10000 to 0.0 at 11000: request=3",
        "MPI_Isend 0.0 at 20000 to 0.0 at 21000: request=4",
        "MPI_Recv 1.0 at 40000 to 1.0 at 41000: ",
        "MPI_Waitall 0.0 at 30000 to 0.0 at 31000: completes=3-4",
        "message 0.0 at 10200 to 1.0 at 40500: msg_tag=1, msg_size=8",
    ];
    assert_eq!(found, expected);
}

/// When an access to a file that does not block is complete the trace tells beside the call, and an archive by an event, in that of an archive, too.
#[test]
fn accesses_that_do_not_block_are_complete_at_their_time() {
    let mut categories = Vec::new();
    for (index, name, topology, format) in [
        (
            1,
            "file",
            Topology::Event,
            "file=%d, role=%s, path=%s, device=0x%X, inode=%l",
        ),
        (
            2,
            "I/O access",
            Topology::Event,
            "CallID=0x%X, file=%d, complete=%l ns",
        ),
        (
            3,
            "MPI_File_iwrite_at",
            Topology::State,
            "CallID=0x%X, bytes=%l, request=%d",
        ),
        (4, "MPI_Wait", Topology::State, "completes=%d"),
    ] {
        categories.push(category(index, name, topology, format));
    }
    let definitions = definitions(categories, &[(0, 0)]);
    let at = |index, topology, from: u32, to: u32, info: &InfoWriter| {
        let ends = [from, to].map(|time| (f64::from(time) / 1e6, 0));
        let ends = &ends[..if topology == Topology::Event { 1 } else { 2 }];
        OwnedDrawable::new(topology, index, info.bytes(), ends)
    };
    let (event, state) = (Topology::Event, Topology::State);
    let mut info = InfoWriter::default();
    let named = info.clear().int(8).text(b"data").text(b"a").long(1).long(1);
    let mut drawables = vec![at(1, event, 5, 5, named)];
    for (call, start, after) in [(0x11, 10, 25_000), (0x12, 20, 3_500)] {
        let access = info.clear().long(call).int(8).long(after);
        drawables.push(at(2, event, start, start, access));
        let begun = info.clear().long(call).long(64).int(call as i32);
        drawables.push(at(3, state, start, start + 2, begun));
    }
    drawables.push(at(4, state, 33, 40, info.clear().int(0x11)));
    let completions = |folder: &std::path::Path| -> Option<Vec<u64>> {
        let printed = PrintedArchive::of(&folder.join("run.otf2"))?;
        let complete = printed.of_kind("IO_OPERATION_COMPLETE");
        Some(complete.map(|event| event.time).collect())
    };
    let Some((folder, _)) = written(&definitions, &drawables) else {
        return;
    };
    let Some(complete) = completions(folder.path()) else {
        return;
    };
    assert_eq!(complete, [23_500, 35_000]);
    let Some((again, mut drawables, _)) = read(&folder.path().join("run.otf2")) else {
        return;
    };
    let start = |drawable: &OwnedDrawable| drawable.vertices[0].time;
    drawables.sort_by(|a, b| start(a).total_cmp(&start(b)));
    let (folder, losses) = written(&again, &drawables).expect("the library is there");
    let untold = |(what, _): &(&str, u64)| what.contains("does not tell");
    assert_eq!(losses.iter().find(untold), None);
    assert_eq!(completions(folder.path()).expect("it is there"), complete);
}
