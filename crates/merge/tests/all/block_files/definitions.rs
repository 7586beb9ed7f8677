//! When communicators and datatypes begin to count whose definitions tell when they were written.

use crate::block_files::ranks::*;
use blockfile::define::{
    self, CommCreation, CommDefinition, CommDefinitionKind, DatatypeDefinition, Definition,
};
use blockfile::layout::{FileHeader, ended};
use merge::local::MergeOptions;
use std::mem::offset_of;

use V::{H, I, No, S};

/// A definition that the recorder wrote at `ns`.
fn define_at(b: &mut Blocks, ns: u32, definition: &Definition) {
    b.record(definition.number(), ns, 0, &definition.encode());
}

/// A communicator of both ranks, and a datatype of as many bytes, each as the recorder defines it at `ns`.
fn define_comm_and_type_at(b: &mut Blocks, ns: u32, [comm, datatype]: [u64; 2], size: i64) {
    let rank = b.rank;
    let definition = Definition::Comm(CommDefinition {
        handle: comm,
        parent: WORLD,
        kind: CommDefinitionKind::Intra,
        origin: CommCreation::Parent,
        rank,
        members: vec![0, 1],
        remote: Vec::new(),
    });
    define_at(b, ns, &definition);
    let (handle, extent, name) = (datatype, size, String::new());
    let definition = Definition::Type(DatatypeDefinition {
        handle,
        size,
        extent,
        name,
    });
    define_at(b, ns, &definition);
}

/// MPI_Comm_dup and MPI_Type_contiguous of thread 0 are not recorded. Thread 1 uses what they have made before thread 0 calls again:
/// by MPI, it may do so from the moment they return.
#[test]
fn threads_use_what_calls_without_a_record_have_made() {
    for gap in [false, true] {
        let mut a = rank(0, 2);
        a.threads.push(Vec::new());
        define_comm_and_type_at(&mut a, 1500, [600, 700], 12);
        // The same handle stands for another datatype from 4000 ns on.
        define_comm_and_type_at(&mut a, 4000, [601, 700], 20);
        if gap {
            a.record(define::GAP, 8000, 0, &[]);
        }
        call_at(&mut a, 9000, 9100, "MPI_Barrier", &[H(WORLD)]);
        let sends = |b: &mut Blocks, start: u32, comm: u64| {
            let args = [No, I(2), H(700), I(1), I(7), H(comm)];
            call_at(b, start, start + 100, "MPI_Send", &args);
        };
        a.thread = 1;
        sends(&mut a, 2000, 600);
        sends(&mut a, 5000, 601);
        let mut b = rank(1, 2);
        define_comm_and_type_at(&mut b, 1500, [600, 700], 12);
        define_comm_and_type_at(&mut b, 1600, [601, 700], 20);
        for (start, comm, bytes) in [(3000, 600, 24), (6000, 601, 40)] {
            let got = S(Some(status(0, 7, bytes)));
            let args = [No, I(2), H(700), I(0), I(7), H(comm), got];
            call_at(&mut b, start, start + 500, "MPI_Recv", &args);
        }
        let merged = merge(&[a, b]);
        // Lines: LID · N · T + rank · T + thread; the communicators have LIDs 2 and 3.
        assert_eq!(merged.messages(), [(9, 10, 7, 24), (13, 14, 7, 40)]);
        let (arrows, _, conversion) = merged.drawables();
        let spans: Vec<(i64, i64)> = arrows.iter().map(|a| (a.from.1, a.to.1)).collect();
        // After the first call.
        assert_eq!(spans, [(0, 1500), (3000, 4500)]);
        assert_eq!(conversion.warnings, Default::default());
        assert_eq!(merged.notes, Default::default());
    }
}

/// With `at-disk-limit newest`, definitions in blocks that were given up are kept as copies without a time, and thread 0's first kept call
/// comes late: thread 1 has used them before, and uses them.
#[test]
fn threads_use_what_was_defined_in_blocks_that_were_given_up() {
    let mut a = rank(0, 2);
    a.threads.push(Vec::new());
    define_comm_and_type_at(&mut a, 0, [600, 700], 12);
    call_at(&mut a, 9000, 9100, "MPI_Barrier", &[H(WORLD)]);
    a.thread = 1;
    let args = [No, I(2), H(700), I(1), I(7), H(600)];
    call_at(&mut a, 2000, 2100, "MPI_Send", &args);
    let mut b = rank(1, 2);
    define_comm_and_type_at(&mut b, 1500, [600, 700], 12);
    let got = S(Some(status(0, 7, 24)));
    let args = [No, I(2), H(700), I(0), I(7), H(600), got];
    call_at(&mut b, 3000, 3500, "MPI_Recv", &args);
    let mut bytes = [a.bytes(), b.bytes()];
    let at = offset_of!(FileHeader, dropped);
    bytes[0][at..at + 8].copy_from_slice(&1_u64.to_ne_bytes());
    // Only then are the messages after given up calls known: by their places from the end.
    let at = offset_of!(FileHeader, ended);
    for file in &mut bytes {
        file[at..at + 4].copy_from_slice(&ended::FINALIZED.to_ne_bytes());
    }
    let merged = merge_bytes(&bytes, MergeOptions::default());
    // As above.
    assert_eq!(merged.messages(), [(9, 10, 7, 24)]);
}

/// A communicator that a recorded call makes comes with the call, also if its definition tells when it was written.
#[test]
fn what_recorded_calls_make_comes_with_them() {
    let mut a = rank(0, 2);
    define_comm_and_type_at(&mut a, 1450, [600, 700], 12);
    call_at(&mut a, 1400, 1500, "MPI_Comm_dup", &[H(WORLD), H(600)]);
    call_at(&mut a, 1600, 1700, "MPI_Comm_size", &[H(600), I(2)]);
    let b = rank(1, 2);
    let words = merge(&[a, b]).words();
    let of_rank_0: Vec<&String> = words.iter().filter(|w| w.contains("/0 ")).collect();
    let at = of_rank_0.iter().position(|w| w.contains("+MPI_Comm_dup"));
    let following = &of_rank_0[at.expect("a state")..][..6];
    let expected = [
        "0/0 +MPI_Comm_dup",
        "0/0 comm 100 2/0",
        "2/0 -10",
        "0/0 -MPI_Comm_dup",
        "2/0 +MPI_Comm_size",
        "2/0 -MPI_Comm_size",
    ];
    assert_eq!(following, expected);
}
