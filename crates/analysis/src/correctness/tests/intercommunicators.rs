//! Collective calls on intercommunicators.

use super::*;

/// A run of two ranks, and the communicator that each has: an intercommunicator between them.
fn two_sides(table: &Table) -> (Run<'_>, [CommKey; 2]) {
    let mut run = Run::new(table, 2);
    let [zero, one]: [Arc<[i32]>; 2] = [0, 1].map(|rank| [rank].into());
    let pass = &mut run.pass;
    let first = pass.define_comm("one".into(), zero.clone(), one.clone(), None);
    let second = pass.define_comm("other".into(), one, zero, Some(first));
    (run, [first, second])
}

impl Run<'_> {
    /// Rank 1 hangs in a receive from rank 0 on this communicator.
    fn hang_in_receive(&mut self, comm: CommKey) {
        let asked = self.asked(0, 1, 4);
        let asked = asked.map(|asked| AskedMessage { comm, ..asked });
        self.hang(1, "MPI_Recv", receive(asked));
    }
}

/// Rank 0 is in a barrier of an intercommunicator, rank 1 on the other side in a receive from it, or in the barrier, too.
#[test]
fn the_sides_of_an_intercommunicator_wait_for_each_other() {
    let table = wrappers::table().expect("the table");
    for (function, found) in [
        ("MPI_Recv", vec![FindingKind::Deadlock]),
        ("MPI_Barrier", vec![]),
    ] {
        let (mut run, [first, second]) = two_sides(table);
        let hangs = |comm| UnfinishedCall {
            comm: Some(comm),
            ..UnfinishedCall::default()
        };
        run.hang(0, "MPI_Barrier", hangs(first));
        match function {
            "MPI_Recv" => run.hang_in_receive(second),
            _ => run.hang(1, function, hangs(second)),
        }
        assert_eq!(kinds(&run.pass.finish()), found, "{function}");
    }
}

/// Both sides of an intercommunicator wait for each other in operations that MPI_Wait ends. In a broadcast a rank does not wait for all of the other side.
#[test]
fn operations_with_requests_wait_for_the_other_side() {
    let table = wrappers::table().expect("the table");
    let stuck = vec![FindingKind::Deadlock];
    for (made_by, is_started_by_both, found) in [
        ("MPI_Ibarrier", false, stuck.clone()),
        ("MPI_Ibarrier", true, vec![]),
        ("MPI_Ibcast", false, vec![]),
        ("MPI_Barrier_init", false, stuck),
        ("MPI_Barrier_init", true, vec![]),
    ] {
        let (mut run, comms) = two_sides(table);
        let is_persistent = made_by.ends_with("_init");
        for rank in 0..2 {
            if rank == 0 || is_started_by_both || is_persistent {
                run.call(rank, made_by, |call| {
                    call.comm = Some(comms[rank as usize]);
                    call.creates = vec![(ObjectKind::Request, 1)];
                });
            }
            if is_persistent && (rank == 0 || is_started_by_both) {
                run.call(rank, "MPI_Start", |call| call.starts = vec![1]);
            }
        }
        let waits = UnfinishedCall {
            request_count: Some(1),
            requests: [Some(1), None, None],
            ..UnfinishedCall::default()
        };
        run.hang(0, "MPI_Wait", waits);
        run.hang_in_receive(comms[1]);
        let report = run.pass.finish();
        assert_eq!(kinds(&report), found, "{made_by} {is_started_by_both}");
    }
}
