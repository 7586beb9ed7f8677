//! One-sided operations, and collective operations between two groups of ranks.

use trace_model::{Definitions, InfoWriter, Topology};

use super::archive;
use super::sample::without_references;
use crate::perfetto::{OwnedDrawable, category, definitions, line_of_comm};
use Topology::State;

/// Calls in the order in which they are made, each of one µs: category, line, info.
fn calls(calls: &[(i32, i32, &InfoWriter)]) -> Vec<OwnedDrawable> {
    let call = |(at, (category, line, info)): (usize, &(i32, i32, &InfoWriter))| {
        let start = 2.0 * at as f64 / 1e6;
        let ends = [(start, *line), (start + 1e-6, *line)];
        OwnedDrawable::new(State, *category, info.bytes(), &ends)
    };
    calls.iter().enumerate().map(call).collect()
}

/// The events of an archive that are of these kinds, without their times.
fn events(
    definitions: &Definitions,
    drawables: &[OwnedDrawable],
    kind: &str,
) -> Option<Vec<String>> {
    let (archive, _) = archive(definitions, drawables, true)?;
    let of_kind = archive
        .events
        .iter()
        .filter(|event| event.kind.starts_with(kind));
    let words = |text: &str| without_references(text).replace("\"window ", "\"");
    let line = |event: &super::printed::PrintedEvent| {
        format!("{} {} {}", event.location, event.kind, words(&event.text))
    };
    Some(
        of_kind
            .map(line)
            .map(|line| line.trim_end().to_owned())
            .collect(),
    )
}

#[test]
fn one_sided_operations_tell_window_target_and_bytes() {
    let categories = vec![
        category(1, "MPI_Win_create", State, "handle=%d"),
        category(2, "MPI_Win_fence", State, "handle=%d"),
        category(3, "MPI_Put", State, "bytes=%l, handle=%d, target=%d"),
        category(
            4,
            "MPI_Rget_c",
            State,
            "bytes=%l, request=%d, handle=%d, target=%d",
        ),
        category(
            5,
            "MPI_Fetch_and_op",
            State,
            "bytes=%l, handle=%d, target=%d",
        ),
        category(
            6,
            "MPI_Win_lock",
            State,
            "handle=%d, target=%d, exclusive=%d",
        ),
        category(7, "MPI_Win_unlock", State, "handle=%d, target=%d"),
        category(8, "MPI_Win_start", State, "handle=%d, ranks=%s"),
        category(9, "MPI_Win_complete", State, "handle=%d"),
        category(10, "MPI_Win_free", State, "handle=%d"),
        category(11, "MPI_Wait", State, "completes=%d"),
        category(12, "MPI_Win_lock_all", State, "handle=%d"),
        category(13, "MPI_Win_flush_local", State, "handle=%d, target=%d"),
        category(14, "MPI_Win_flush_all", State, "handle=%d"),
        category(15, "MPI_Win_unlock_all", State, "handle=%d"),
    ];
    let mut definitions = definitions(categories, &[(0, 0), (1, 0), (2, 0)]);
    // Ranks 2 and 1 have a communicator of their own, in this order.
    for (id, rank, comm_rank) in [(3, 2, 0), (4, 1, 1)] {
        definitions.lines.push(line_of_comm(id, rank, 7, comm_rank));
    }
    let new = InfoWriter::default;
    let handle = |number| new().int(number).clone();
    let moved = |bytes, handle, target| new().long(bytes).int(handle).int(target).clone();
    let lock = |target, exclusive| new().int(1).int(target).int(exclusive).clone();
    let drawables = calls(&[
        // All make a window, ranks 1 and 2 another one.
        (1, 0, &handle(0)),
        (1, 1, &handle(0)),
        (1, 2, &handle(0)),
        (1, 3, &handle(1)),
        (1, 4, &handle(1)),
        (3, 0, &moved(40, 0, 2)),
        (3, 0, &moved(0, 0, 0)),
        // To MPI_PROC_NULL, and on a window that nobody has made.
        (3, 0, &moved(8, 0, -1)),
        (3, 0, &moved(8, 9, 1)),
        (4, 2, &new().long(24).int(5).int(1).int(1).clone()),
        (5, 1, &moved(4, 1, 0)),
        (6, 1, &lock(0, 1)),
        (7, 1, &new().int(1).int(0).clone()),
        (6, 2, &lock(1, 0)),
        (8, 0, &new().int(0).text(b"1-2").clone()),
        (9, 0, &handle(0)),
        (2, 0, &handle(0)),
        (11, 2, &handle(5)),
        (12, 1, &handle(1)),
        (3, 1, &moved(1, 1, 0)),
        (3, 1, &moved(2, 1, 1)),
        (13, 1, &new().int(1).int(1).clone()),
        (14, 1, &handle(1)),
        (3, 1, &moved(3, 1, 0)),
        (15, 1, &handle(1)),
        (10, 1, &handle(1)),
    ]);
    let Some(found) = events(&definitions, &drawables, "RMA_") else {
        return;
    };
    let at_origin = |rank, window, id: u64| {
        format!("{rank} RMA_OP_COMPLETE_NON_BLOCKING Window: \"{window}\", Matching: {id}")
    };
    let at_target = |rank, window, id: u64| {
        format!("{rank} RMA_OP_COMPLETE_REMOTE Window: \"{window}\", Matching: {id}")
    };
    let [process, both] = ["{PROCESS}", "{PROCESS, MEMORY}"];
    let mut expected = Vec::new();
    for (rank, window) in [(0, 0), (1, 0), (2, 0), (2, 1), (1, 1)] {
        expected.push(format!("{rank} RMA_COLLECTIVE_BEGIN"));
        expected.push(format!("{rank} RMA_WIN_CREATE Window: \"{window}\""));
        expected.push(format!(
            "{rank} RMA_COLLECTIVE_END Operation: CREATE_HANDLE, Window: \"{window}\", Level of Synchronicity: {process}, Root: NONE, Sent: 0, Received: 0"
        ));
    }
    expected.extend([
        "0 RMA_PUT Window: \"0\", Remote: 2 (\"thread 0\"), Bytes: 40, Matching: 0".to_owned(),
        "0 RMA_PUT Window: \"0\", Remote: 0 (\"thread 0\"), Bytes: 0, Matching: 1".to_owned(),
        "2 RMA_GET Window: \"1\", Remote: 1 (\"thread 0\"), Bytes: 24, Matching: 2199023255552".to_owned(),
        "1 RMA_ATOMIC Window: \"1\", Remote: 0 (\"thread 0\"), Type: FETCH_AND_ACCUMULATE, Sent: 4, Received: 4, Matching: 1099511627776".to_owned(),
        "1 RMA_ACQUIRE_LOCK Window: \"1\", Remote: 0 (\"thread 0\"), Lock: 0, Type: EXCLUSIVE".to_owned(),
        at_origin(1, 1, 1099511627776),
        at_target(1, 1, 1099511627776),
        "1 RMA_RELEASE_LOCK Window: \"1\", Remote: 0 (\"thread 0\"), Lock: 0".to_owned(),
        "2 RMA_ACQUIRE_LOCK Window: \"1\", Remote: 1 (\"thread 0\"), Lock: 0, Type: SHARED".to_owned(),
        format!("0 RMA_GROUP_SYNC Level of Synchronicity: {process}, Window: \"0\", Group: \"\""),
        at_origin(0, 0, 0),
        at_origin(0, 0, 1),
        format!("0 RMA_GROUP_SYNC Level of Synchronicity: {both}, Window: \"0\", Group: \"\""),
        "0 RMA_COLLECTIVE_BEGIN".to_owned(),
        format!("0 RMA_COLLECTIVE_END Operation: BARRIER, Window: \"0\", Level of Synchronicity: {both}, Root: NONE, Sent: 0, Received: 0"),
        at_origin(2, 1, 2199023255552),
        "1 RMA_ACQUIRE_LOCK Window: \"1\", Remote: UNDEFINED, Lock: 0, Type: SHARED".to_owned(),
        "1 RMA_PUT Window: \"1\", Remote: 0 (\"thread 0\"), Bytes: 1, Matching: 1099511627777".to_owned(),
        "1 RMA_PUT Window: \"1\", Remote: 1 (\"thread 0\"), Bytes: 2, Matching: 1099511627778".to_owned(),
        at_origin(1, 1, 1099511627778),
        at_origin(1, 1, 1099511627777),
        at_target(1, 1, 1099511627777),
        at_target(1, 1, 1099511627778),
        "1 RMA_PUT Window: \"1\", Remote: 0 (\"thread 0\"), Bytes: 3, Matching: 1099511627779".to_owned(),
        at_origin(1, 1, 1099511627779),
        at_target(1, 1, 1099511627779),
        "1 RMA_RELEASE_LOCK Window: \"1\", Remote: UNDEFINED, Lock: 0".to_owned(),
        "1 RMA_COLLECTIVE_BEGIN".to_owned(),
        format!("1 RMA_COLLECTIVE_END Operation: DESTROY_HANDLE, Window: \"1\", Level of Synchronicity: {both}, Root: NONE, Sent: 0, Received: 0"),
        "1 RMA_WIN_DESTROY Window: \"1\"".to_owned(),
    ]);
    assert_eq!(found, expected);
}

#[test]
fn operations_between_two_groups_are_on_their_intercommunicator() {
    let categories = vec![
        category(
            1,
            "MPI_Intercomm_create",
            State,
            "makes=%d, remote=%d, sources=%s",
        ),
        category(2, "MPI_Bcast", State, "root=%d, bytes=%l"),
        category(3, "MPI_Reduce", State, "root=%d, bytes=%l"),
        category(4, "MPI_Allreduce", State, "bytes=%l"),
        category(5, "MPI_Alltoallv", State, "bytes=%l, received=%l"),
        category(6, "MPI_Scatterv", State, "root=%d, bytes=%l, sent=%l"),
        category(7, "MPI_Gatherv", State, "root=%d, bytes=%l, received=%l"),
    ];
    let mut definitions = definitions(categories, &[(0, 0), (1, 0), (2, 0)]);
    // Ranks 0 and 2 on one side, rank 1 on the other one.
    for (id, rank, comm, comm_rank) in [(3, 0, 5, 0), (4, 2, 5, 1), (5, 1, 6, 0)] {
        definitions
            .lines
            .push(line_of_comm(id, rank, comm, comm_rank));
    }
    let new = InfoWriter::default;
    let sides = |makes, remote| new().int(makes).int(remote).text(b"").clone();
    let rooted = |root, bytes| new().int(root).long(bytes).clone();
    // MPI_ROOT and MPI_PROC_NULL are -3 and -1 in MPICH, -4 and -2 in Open MPI.
    let drawables = calls(&[
        (1, 0, &sides(5, 6)),
        (1, 2, &sides(5, 6)),
        (1, 1, &sides(6, 5)),
        (2, 3, &rooted(-3, 132)),
        (2, 4, &rooted(-1, 132)),
        (2, 5, &rooted(0, 132)),
        (3, 3, &rooted(-2, 16)),
        (3, 4, &rooted(-4, 16)),
        (3, 5, &rooted(1, 16)),
        (4, 5, &new().long(140).clone()),
        (4, 0, &new().long(11).clone()),
        // With a count for each rank; what only the root's counts tell is not known elsewhere.
        (5, 0, &new().long(12).long(24).clone()),
        (6, 0, &new().int(0).long(4).long(25).clone()),
        (6, 1, &new().int(0).long(8).long(-1).clone()),
        (7, 1, &new().int(1).long(9).long(26).clone()),
        (7, 3, &new().int(-3).long(-1).long(27).clone()),
    ]);
    let Some(found) = events(&definitions, &drawables, "MPI_COLLECTIVE_END") else {
        return;
    };
    let found: Vec<String> = found
        .iter()
        .map(|line| line.replace(" MPI_COLLECTIVE_END", ""))
        .collect();
    let inter = "Communicator: \"communicators 5 and 6\"";
    let expected = [
        format!("0 Operation: BCAST, {inter}, Root: SELF, Sent: 132, Received: 0"),
        format!("2 Operation: BCAST, {inter}, Root: THIS_GROUP, Sent: 0, Received: 0"),
        format!("1 Operation: BCAST, {inter}, Root: 0 (\"thread 0\"), Sent: 0, Received: 132"),
        format!("0 Operation: REDUCE, {inter}, Root: THIS_GROUP, Sent: 0, Received: 0"),
        format!("2 Operation: REDUCE, {inter}, Root: SELF, Sent: 0, Received: 16"),
        format!("1 Operation: REDUCE, {inter}, Root: 1 (\"thread 0\"), Sent: 16, Received: 0"),
        format!("1 Operation: ALLREDUCE, {inter}, Root: NONE, Sent: 140, Received: 140"),
        "0 Operation: ALLREDUCE, Communicator: \"MPI_COMM_WORLD\", Root: NONE, Sent: 11, Received: 11".to_owned(),
        "0 Operation: ALLTOALLV, Communicator: \"MPI_COMM_WORLD\", Root: NONE, Sent: 12, Received: 24".to_owned(),
        "0 Operation: SCATTERV, Communicator: \"MPI_COMM_WORLD\", Root: 0 (\"thread 0\"), Sent: 25, Received: 4".to_owned(),
        "1 Operation: SCATTERV, Communicator: \"MPI_COMM_WORLD\", Root: 0 (\"thread 0\"), Sent: 0, Received: 8".to_owned(),
        "1 Operation: GATHERV, Communicator: \"MPI_COMM_WORLD\", Root: 1 (\"thread 0\"), Sent: 9, Received: 26".to_owned(),
        format!("0 Operation: GATHERV, {inter}, Root: SELF, Sent: 0, Received: 27"),
    ];
    assert_eq!(found, expected);
}
