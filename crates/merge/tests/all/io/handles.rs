//! Several handles of one file, each with collective accesses of its own.

use crate::io::ranks::*;
use blockfile::define::{
    self, CommCreation, CommDefinition, CommDefinitionKind, Definition, FileView,
};
use blockfile::operation as op;
use std::collections::BTreeSet;

#[test]
fn files_of_single_processes_are_not_taken_for_a_common_one() {
    let ranks = [0, 1].map(|r| {
        let mut rank = Rank::new(r, 2);
        rank.open_on(SELF, FH, 7, 99, "data");
        rank.transfer(10, op::PWRITE, 7, 0, 10);
        rank.access_at("MPI_File_write_at_all", FH, 0, 10);
        rank
    });
    let found = Found::of(&ranks);
    // It is one file, and these are two accesses.
    assert_eq!(found.files.len(), 1);
    assert!(found.carried().iter().all(|c| c.3.len() == 1 && c.2 == 0));
    let numbers = found.calls.values().map(|call| call.sequence);
    assert_eq!(
        numbers.collect::<BTreeSet<_>>(),
        BTreeSet::from([Some(0), Some(1)])
    );
}

#[test]
fn accesses_by_two_handles_of_a_file_are_two() {
    const OTHER: u64 = FH + 1;
    let mut calls = Vec::new();
    let ranks = [0, 1].map(|r| {
        let mut rank = Rank::new(r, 2);
        rank.open(FH, 7, 99, "data");
        rank.open(OTHER, 8, 99, "data");
        for (handle, offset) in [(FH, 0), (OTHER, 100), (FH, 200)] {
            let offset = offset + 10 * i64::from(r);
            calls.push(rank.access_at("MPI_File_write_at_all", handle, offset, 10));
        }
        rank
    });
    let found = Found::of(&ranks);
    assert_eq!(found.files.len(), 1);
    let numbers = calls.iter().map(|call| found.calls[call].sequence);
    let numbers: Vec<_> = numbers.map(|number| number.expect("a number")).collect();
    assert_eq!(numbers[..3], numbers[3..]);
    assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), 3);
}

/// Thread 0 sets a view by a call that is not recorded. Thread 1 writes before thread 0 calls again: MPI counts its offset in that view.
#[test]
fn a_view_set_without_a_record_counts_for_other_threads() {
    let mut rank = Rank::new(0, 1);
    rank.open(FH, 7, 99, "data");
    let view = Definition::View(FileView {
        file: FH,
        displacement: 1000,
        etype: 1,
        extent: 1,
        size: 1,
        runs: runs_of(&[(0, 1)]),
        ..FileView::default()
    });
    rank.b.record(define::VIEW, 2000, 0, &view.encode());
    rank.b.now = 9000;
    rank.call("MPI_Barrier", &[V::H(WORLD)]);
    rank.b.threads.push(Vec::new());
    rank.b.thread = 1;
    rank.b.now = 3000;
    rank.transfer(10, op::PWRITE, 7, 1000, 10);
    let call = rank.access_at("MPI_File_write_at", FH, 0, 10);
    let found = Found::of(&[rank]);
    assert_eq!(found.calls[&call].bounding_extent, Some((1000, 1010)));
    assert_eq!(found.carried()[0].3, [(call, 10)]);
}

/// Rank 0 does not record that it opens the first file: the second one is its first one.
#[test]
fn files_are_not_mixed_up_where_ranks_lack_records_of_opens() {
    let mut calls = Vec::new();
    let ranks = [0, 1].map(|r| {
        let mut rank = Rank::new(r, 2);
        if r == 1 {
            rank.open(FH, 7, 98, "a");
            rank.transfer(10, op::PWRITE, 7, 0, 10);
            calls.push((rank.access_at("MPI_File_write_at", FH, 0, 10), "a"));
        }
        rank.open(FH + 1, 8, 99, "b");
        let offset = 10 * i64::from(r);
        rank.transfer(10, op::PWRITE, 8, offset, 10);
        calls.push((rank.access_at("MPI_File_write_at", FH + 1, offset, 10), "b"));
        rank
    });
    let found = Found::of(&ranks);
    assert_eq!(found.files.len(), 2);
    for (call, name) in calls {
        let file = found.calls[&call].file;
        let of_call = found.files.iter().find(|known| known.id == file);
        let of_call = of_call.expect("a file with that number");
        assert!(of_call.name.ends_with(name), "{of_call:?}");
    }
}

/// The library gives the handle of a communicator to another thread before the call that frees it has returned. The file that is opened on the new
/// communicator is one that both ranks have opened together.
#[test]
fn a_file_is_opened_on_a_communicator_whose_handle_another_thread_freed() {
    let mut calls = Vec::new();
    let ranks = [0, 1].map(|r| {
        let mut rank = Rank::new(r, 2);
        let define = |b: &mut Blocks, time: u32, handle| {
            let definition = Definition::Comm(CommDefinition {
                handle,
                parent: WORLD,
                kind: CommDefinitionKind::Intra,
                origin: CommCreation::Parent,
                rank: r,
                members: vec![0, 1],
                remote: Vec::new(),
            });
            b.record(definition.number(), time, 0, &definition.encode());
        };
        let (freed, made) = if r == 0 { (600, 600) } else { (600, 601) };
        define(&mut rank.b, 1090, freed);
        let dup = |handle| [V::H(WORLD), V::H(handle)];
        call_at(&mut rank.b, 1000, 1100, "MPI_Comm_dup", &dup(freed));
        call_at(&mut rank.b, 3000, 5000, "MPI_Comm_free", &[V::H(freed)]);
        rank.b.threads.push(Vec::new());
        rank.b.thread = 1;
        define(&mut rank.b, 3990, made);
        call_at(&mut rank.b, 2500, 4000, "MPI_Comm_dup", &dup(made));
        rank.b.now = 6000;
        rank.open_on(made, FH, 7, 99, "data");
        rank.transfer(10, op::PWRITE, 7, 10 * i64::from(r), 10);
        calls.push(rank.access_at("MPI_File_write_at_all", FH, 10 * i64::from(r), 10));
        rank
    });
    let found = Found::of(&ranks);
    let numbers: Vec<_> = calls
        .iter()
        .map(|call| found.calls[call].sequence)
        .collect();
    assert_eq!(numbers, [Some(0); 2]);
}
