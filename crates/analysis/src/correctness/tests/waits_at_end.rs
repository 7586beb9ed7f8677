//! What ranks are said to wait for at the end, where nobody is stuck.

use super::*;

#[test]
fn ranks_that_are_not_stuck_are_told_with_what_they_wait_for() {
    let table = wrappers::table().expect("the table");
    let mut run = Run::new(table, 6);
    let in_barrier = |run: &Run<'_>| UnfinishedCall {
        comm: Some(run.world),
        ..UnfinishedCall::default()
    };
    // Rank 0 was killed while it computed.
    run.pass.end_outside(0, OutsideCalls::Computes);
    for rank in [1, 2] {
        let unfinished = in_barrier(&run);
        run.hang(rank, "MPI_Barrier", unfinished);
    }
    let asked = run.asked(0, 7, 4);
    run.hang(3, "MPI_Recv", receive(asked));
    // Its message is under way.
    let sent = run.asked(4, 5, 4);
    run.call(5, "MPI_Send", |call| call.send = sent);
    let asked = run.asked(5, 5, 4);
    run.hang(4, "MPI_Recv", receive(asked));
    run.pass.end_outside(5, OutsideCalls::Computes);
    let report = run.pass.finish();
    assert_eq!(kinds(&report), []);
    assert_eq!(
        report.waits,
        [
            "ranks 1-2: in MPI_Barrier, for ranks 0,3-5 in collective call 1 on MPI_COMM_WORLD",
            "rank 3: in MPI_Recv, for a message from rank 0 with tag 7 on MPI_COMM_WORLD",
            "rank 4: in MPI_Recv, for a message from rank 5 with tag 5 on MPI_COMM_WORLD, which needs no other rank any more"
        ]
    );
}

#[test]
fn a_collective_call_to_which_all_have_come_waits_for_nobody() {
    let table = wrappers::table().expect("the table");
    let mut run = Run::new(table, 2);
    for rank in 0..2 {
        let unfinished = UnfinishedCall {
            comm: Some(run.world),
            ..UnfinishedCall::default()
        };
        run.hang(rank, "MPI_Allreduce", unfinished);
    }
    let all = "ranks 0-1: in MPI_Allreduce, for collective call 1 on MPI_COMM_WORLD, which needs no other rank any more";
    assert_eq!(run.pass.finish().waits, [all]);
}

#[test]
fn those_that_are_stuck_are_told_once() {
    let table = wrappers::table().expect("the table");
    let mut run = Run::new(table, 2);
    for (rank, other) in [(0, 1), (1, 0)] {
        let asked = run.asked(other, 5, 4);
        run.hang(rank, "MPI_Recv", receive(asked));
    }
    let report = run.pass.finish();
    assert_eq!(kinds(&report), [FindingKind::Deadlock]);
    assert!(report.waits.is_empty());
}

/// Where the ranks have made different calls, all have come and nobody goes on.
#[test]
fn a_rank_in_a_call_that_the_others_do_not_make_needs_more_than_ranks() {
    let table = wrappers::table().expect("the table");
    for (names, is_over) in [
        (["MPI_Barrier", "MPI_Barrier"], true),
        (["MPI_Barrier", "MPI_Allreduce"], false),
    ] {
        let mut run = Run::new(table, 2);
        for (rank, name) in (0..).zip(names) {
            let unfinished = UnfinishedCall {
                comm: Some(run.world),
                ..UnfinishedCall::default()
            };
            run.hang(rank, name, unfinished);
        }
        let report = run.pass.finish();
        let met = report.waits.iter();
        let met = met.filter(|wait| wait.contains("needs no other rank"));
        assert_eq!(met.count() > 0, is_over, "{report:#?}");
        assert_eq!(kinds(&report).is_empty(), is_over);
    }
}
