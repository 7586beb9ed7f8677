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

/// The other side of an intercommunicator is not among the ranks that have all come to make it, and a trace does not tell who that is.
#[test]
fn a_call_that_meets_the_other_side_needs_more_than_the_ranks_of_its_communicator() {
    let table = wrappers::table().expect("the table");
    let told = |name: &str, ranks: u32| {
        let mut run = Run::new(table, 2);
        for rank in 0..ranks {
            let unfinished = UnfinishedCall {
                comm: Some(run.world),
                ..UnfinishedCall::default()
            };
            run.hang(rank, name, unfinished);
        }
        if ranks < 2 {
            run.pass.end_outside(1, OutsideCalls::Computes);
        }
        let report = run.pass.finish();
        assert_eq!(kinds(&report), []);
        let missed = report.not_checked.iter();
        let missed = missed.filter(|what| what.contains("a deadlock by that call is not found"));
        (report.waits.join("; "), missed.count())
    };
    let outside = "collective call 1 on MPI_COMM_WORLD and processes outside of it, which the trace does not tell";
    let name = "MPI_Intercomm_create";
    assert_eq!(
        told(name, 2),
        (format!("ranks 0-1: in {name}, for {outside}"), 1)
    );
    assert_eq!(
        told(name, 1),
        (format!("rank 0: in {name}, for rank 1 in {outside}"), 1)
    );
    for name in ["MPI_Comm_accept", "MPI_Comm_spawn"] {
        assert!(!told(name, 2).0.contains("needs no other rank"));
        assert_eq!(told(name, 1).1, 1);
    }
    assert_eq!(told("MPI_Comm_create_group", 1), (String::new(), 1));
    assert!(
        told("MPI_Comm_dup", 2)
            .0
            .contains("needs no other rank any more")
    );
}
