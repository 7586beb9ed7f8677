//! Ranks that wait for each other in one-sided communication.

use super::*;

/// Handle of the window of all ranks.
const WINDOW: (ObjectKind, u64) = (ObjectKind::Window, 4);

/// A run of ranks with a window on MPI_COMM_WORLD.
fn with_window(table: &Table, ranks: u32) -> Run<'_> {
    let mut run = Run::new(table, ranks);
    for rank in 0..ranks {
        run.call(rank, "MPI_Win_create", |call| call.creates = vec![WINDOW]);
    }
    run
}

impl Run<'_> {
    fn said(&mut self, target: Option<i32>, is_exclusive: bool, group: &[u32]) -> WindowCall {
        WindowCall {
            target,
            is_exclusive,
            group: Some(self.pass.define_group(group)),
        }
    }

    /// A rank calls a function on the window.
    fn on_window(&mut self, rank: u32, name: &str, said: WindowCall) {
        self.call(rank, name, |call| {
            call.on = Some(WINDOW);
            call.window = Some(said);
        });
    }

    /// A rank is in a call on the window.
    fn hang_on_window(&mut self, rank: u32, name: &str, said: WindowCall) {
        let unfinished = UnfinishedCall {
            on: Some(WINDOW),
            window: Some(said),
            ..UnfinishedCall::default()
        };
        self.hang(rank, name, unfinished);
    }

    /// A rank waits for a message of another one.
    fn hang_for_message(&mut self, rank: u32, source: i32) {
        let asked = self.asked(source, 3, 8);
        self.hang(rank, "MPI_Recv", receive(asked));
    }
}

/// Ranks of each deadlock in the order of its circle, and what the first of them waits for.
fn stuck(report: &CorrectnessReport) -> Vec<(Vec<u32>, String)> {
    let found = report.findings.iter();
    let found = found.filter(|finding| finding.kind == FindingKind::Deadlock);
    found
        .map(|finding| {
            let ranks = finding.calls.iter().map(|call| call.rank).collect();
            let awaited = finding.calls[0].awaited.clone();
            (ranks, awaited.unwrap_or_default())
        })
        .collect()
}

#[test]
fn a_start_waits_for_the_post_of_each_target() {
    let table = wrappers::table().expect("the table");
    let found = |posts: &[(u32, &[u32])], starts: u32| {
        let mut run = with_window(table, 3);
        let targets = run.said(None, false, &[2, 1]);
        for &(target, origins) in posts {
            let origins = run.said(None, false, origins);
            run.on_window(target, "MPI_Win_post", origins);
        }
        for _ in 0..starts {
            run.on_window(0, "MPI_Win_start", targets);
            run.on_window(0, "MPI_Win_complete", targets);
        }
        run.hang_on_window(0, "MPI_Win_start", targets);
        run.hang_for_message(1, 0);
        run.pass.end_outside(2, OutsideCalls::Computes);
        stuck(&run.pass.finish())
    };
    let circle = |awaited: &str| {
        vec![(
            vec![0, 1],
            format!("{awaited} on window 1 of MPI_COMM_WORLD"),
        )]
    };
    assert_eq!(found(&[], 0), circle("MPI_Win_post by ranks 1-2"));
    assert_eq!(found(&[(2, &[0])], 0), circle("MPI_Win_post by rank 1"));
    // A post for others is none for this rank.
    assert_eq!(
        found(&[(1, &[2]), (2, &[0])], 0),
        circle("MPI_Win_post by rank 1")
    );
    assert_eq!(found(&[(1, &[0, 2])], 0), []);
    // The post of the first time does not do for the second.
    let first = [(1, &[0][..]), (2, &[0])];
    assert_eq!(found(&first, 1), circle("MPI_Win_post by ranks 1-2"));
    assert_eq!(found(&[first[0], first[1], first[0]], 1), []);
}

#[test]
fn a_wait_waits_for_the_completion_of_each_origin() {
    let table = wrappers::table().expect("the table");
    let found = |starts: bool, completes: bool, is_post_known: bool| {
        let mut run = with_window(table, 2);
        let (origin, target) = (run.said(None, false, &[0]), run.said(None, false, &[1]));
        let unknown = WindowCall {
            group: None,
            ..origin
        };
        let post = if is_post_known { origin } else { unknown };
        run.on_window(1, "MPI_Win_post", post);
        if starts {
            run.on_window(0, "MPI_Win_start", target);
        }
        if completes {
            run.on_window(0, "MPI_Win_complete", target);
        }
        run.hang_on_window(1, "MPI_Win_wait", origin);
        run.hang_for_message(0, 1);
        let report = run.pass.finish();
        let notes = report.not_checked.iter();
        let is_noted = notes.filter(|note| note.contains("MPI_Win_wait")).count() == 1;
        (stuck(&report).len(), is_noted)
    };
    assert_eq!(found(false, false, true), (1, false));
    assert_eq!(found(true, false, true), (1, false));
    assert_eq!(found(true, true, true), (0, false));
    assert_eq!(found(false, false, false), (0, true));
}

#[test]
fn ranks_that_complete_before_they_post_wait_for_each_other() {
    let table = wrappers::table().expect("the table");
    let mut run = with_window(table, 2);
    for rank in 0..2 {
        let other = run.said(None, false, &[1 - rank]);
        // A start that does not wait, as MPI allows.
        run.on_window(rank, "MPI_Win_start", other);
        run.hang_on_window(rank, "MPI_Win_complete", other);
    }
    assert_eq!(stuck(&run.pass.finish()).len(), 1);
}

/// Rank 0 has a lock on the window of a rank and waits for a message of rank 1, which asks for this one. Gives the number of deadlocks.
fn second_lock(
    (first, first_exclusive): (Option<i32>, bool),
    (second, second_exclusive): (Option<i32>, bool),
    then: &[&str],
    target_computes: bool,
) -> usize {
    let table = wrappers::table().expect("the table");
    let mut run = with_window(table, 3);
    let name = |target: Option<i32>, one: &'static str, all: &'static str| match target {
        Some(_) => one,
        None => all,
    };
    let said = run.said(first, first_exclusive, &[]);
    run.on_window(0, name(first, "MPI_Win_lock", "MPI_Win_lock_all"), said);
    for next in then {
        run.on_window(0, next, said);
    }
    run.hang_for_message(0, 1);
    let said = run.said(second, second_exclusive, &[]);
    run.hang_on_window(1, name(second, "MPI_Win_lock", "MPI_Win_lock_all"), said);
    match target_computes {
        true => run.pass.end_outside(2, OutsideCalls::Computes),
        false => run.hang_for_message(2, 0),
    }
    stuck(&run.pass.finish()).len()
}

#[test]
fn a_lock_waits_for_those_who_hold_one_beside_which_it_cannot_be() {
    let (exclusive, shared) = ((Some(1), true), (Some(1), false));
    assert_eq!(second_lock(exclusive, exclusive, &[], true), 1);
    assert_eq!(second_lock(exclusive, shared, &[], true), 1);
    assert_eq!(second_lock(shared, exclusive, &[], true), 1);
    assert_eq!(second_lock(shared, shared, &[], true), 0);
    assert_eq!(second_lock((Some(0), true), exclusive, &[], true), 0);
    assert_eq!(second_lock((None, false), exclusive, &[], true), 1);
    assert_eq!(second_lock(exclusive, (None, false), &[], true), 1);
    assert_eq!(second_lock((None, false), (None, false), &[], true), 0);
    assert_eq!(
        second_lock(exclusive, exclusive, &["MPI_Win_unlock"], true),
        0
    );
}

/// A library may put off a lock, and the target may have to help: with the target computing, only a complete access shows that the lock is held.
#[test]
fn a_lock_that_may_not_be_held_yet_needs_a_target_that_is_stuck() {
    let exclusive = (Some(2), true);
    let held = ["MPI_Put", "MPI_Win_flush"];
    assert_eq!(second_lock(exclusive, exclusive, &[], true), 0);
    assert_eq!(second_lock(exclusive, exclusive, &[], false), 1);
    assert_eq!(second_lock(exclusive, exclusive, &held, true), 1);
    for then in [
        &held[..1],
        &held[1..],
        &["MPI_Put", "MPI_Win_flush_local"][..],
    ] {
        assert_eq!(second_lock(exclusive, exclusive, then, true), 0, "{then:?}");
    }
    // Of all ranks, some may not be locked yet.
    let all = ["MPI_Put", "MPI_Win_flush_all"];
    assert_eq!(second_lock((None, false), exclusive, &all, true), 0);
}

/// A lock that is put off waits for one that is held when it is needed.
#[test]
fn what_needs_a_lock_that_is_held_waits_for_it() {
    let table = wrappers::table().expect("the table");
    let found = |flushes: bool, exclusive: bool, own_flushes: bool| {
        let mut run = with_window(table, 3);
        let first = run.said(Some(2), true, &[]);
        let second = run.said(Some(2), exclusive, &[]);
        let mut lock = |rank, said, flushes| {
            run.on_window(rank, "MPI_Win_lock", said);
            run.on_window(rank, "MPI_Put", said);
            if flushes {
                run.on_window(rank, "MPI_Win_flush", said);
            }
        };
        lock(0, first, flushes);
        lock(1, second, own_flushes);
        run.hang_for_message(0, 1);
        run.hang_on_window(1, "MPI_Win_unlock", second);
        run.pass.end_outside(2, OutsideCalls::Computes);
        stuck(&run.pass.finish()).len()
    };
    assert_eq!(found(true, true, false), 1);
    assert_eq!(found(true, false, false), 1);
    assert_eq!(found(false, true, false), 0);
    assert_eq!(found(false, true, true), 0);
}

/// Ranks that give back locks on one window are transferring: each may hold its lock.
#[test]
fn ranks_that_unlock_do_not_wait_for_each_other() {
    let table = wrappers::table().expect("the table");
    let mut run = with_window(table, 3);
    let said = run.said(Some(2), true, &[]);
    for rank in 0..2 {
        run.on_window(rank, "MPI_Win_lock", said);
    }
    for rank in 0..2 {
        run.hang_on_window(rank, "MPI_Win_unlock", said);
    }
    run.hang_for_message(2, 0);
    assert_eq!(stuck(&run.pass.finish()), []);
}

#[test]
fn nobody_is_stuck_where_calls_on_windows_have_no_record() {
    let table = wrappers::table().expect("the table");
    for (name, is_stuck) in [
        ("MPI_Win_post", 0),
        ("MPI_Group_incl", 0),
        ("MPI_Get_count", 1),
    ] {
        let mut run = with_window(table, 2);
        run.pass.leave_out_for(table.get(name).expect(name));
        let target = run.said(None, false, &[1]);
        run.hang_on_window(0, "MPI_Win_start", target);
        run.hang_for_message(1, 0);
        assert_eq!(stuck(&run.pass.finish()).len(), is_stuck, "{name}");
    }
}
