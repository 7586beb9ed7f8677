//! Bytes of the block file that a call takes: receives that get what they name, which have a short form, and those that do not.

use std::path::PathBuf;
use tests::trace::TraceSetup;
use tests::{Mpi, Program, blocks};

/// Bytes and arguments of a record.
type SizedRecord = (u64, Vec<i64>);

/// The calls of MPI_Sendrecv in the block files of a run with two ranks, rank by rank. Of the arguments the handles are left out.
fn sendrecvs(mpi: Mpi, program: &'static str) -> Vec<Vec<SizedRecord>> {
    let mut tracing = TraceSetup::new(mpi, 2);
    tracing.variables = &[("TRACE_KEEP_BLOCKS", "yes")];
    let run = tracing.run(&Program::c(program).compile(mpi), &[]);
    assert!(run.finished.status.success(), "{}", run.finished.story());
    let files = run.files("blocks");
    assert_eq!(files.len(), 2, "{}", run.finished.story());
    let of = |file: &PathBuf| blocks::arguments(file, "MPI_Sendrecv");
    files.iter().map(of).collect()
}

/// `many_calls.c` sends one integer with each call, each time with another tag: every hundredth to the next rank, from the one before, the
/// others to itself.
#[test]
fn a_receive_of_what_is_named_takes_44_bytes() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        for (rank, records) in sendrecvs(mpi, "many_calls").into_iter().enumerate() {
            assert_eq!(records.len(), 30_000, "{mpi:?}");
            for (nth, (bytes, arguments)) in records.into_iter().enumerate() {
                let tag = nth as i64 % 1000;
                let peer = if nth % 100 == 0 { 1 - rank } else { rank } as i64;
                assert!(bytes <= 44, "{mpi:?}: {bytes} bytes");
                // Count, receiver, tag, count, sender, tag; sender, tag and bytes of the status.
                let truth = [1, peer, tag, 1, peer, tag, peer, tag, 4];
                assert_eq!(arguments, truth, "{mpi:?}, call {nth}");
            }
        }
    }
}

/// `p2p.c` receives from nobody, from anybody, and with counts that differ: that takes more room, and says the same as ever.
#[test]
fn other_receives_are_told_in_full() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let records = sendrecvs(mpi, "p2p").remove(0);
        let longs = size_of::<std::ffi::c_long>() as i64;
        let with_tag = |tag: i64| {
            let found = records.iter().find(|(_, arguments)| arguments[2] == tag);
            found.unwrap_or_else(|| panic!("{mpi:?}: no MPI_Sendrecv with tag {tag}"))
        };
        let (bytes, arguments) = with_tag(30);
        assert!(*bytes <= 44, "{mpi:?}: {bytes} bytes");
        assert_eq!(arguments[..], [1, 1, 30, 1, 1, 30, 1, 30, longs]);
        // From any source, with any tag: below zero in every mpi.h.
        let (bytes, arguments) = with_tag(31);
        assert!(*bytes > 44, "{mpi:?}: {bytes} bytes");
        assert!(arguments[4] < 0 && arguments[5] < 0, "{arguments:?}");
        assert_eq!(arguments[6..], [1, 31, longs]);
        // Sends 0 to 262 144 bytes and has room for the most of them.
        let lengths: Vec<(i64, i64)> = records
            .iter()
            .filter(|(_, arguments)| arguments[2] == 40)
            .map(|(_, arguments)| (arguments[0], arguments[8]))
            .collect();
        let truth = [0, 1, 8, 64, 512, 4096, 32_768, 262_144];
        assert_eq!(lengths, truth.map(|length| (length, length)));
    }
}
