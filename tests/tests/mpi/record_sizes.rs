//! Bytes of the block file that a call takes: receives that get what they name, which have a short form, and those that do not.

use tests::trace::{TraceSetup, TracedRun};
use tests::{Mpi, Program, blocks};

/// Records of the function in a rank's block file: their bytes, and their arguments but for the handles.
fn sendrecvs(run: &TracedRun, rank: usize) -> Vec<(u64, Vec<i64>)> {
    let files = run.files("blocks");
    blocks::arguments(&files[rank], "MPI_Sendrecv")
}

/// `many_calls.c` sends to the next rank and receives from the one before, each time with another tag, one integer.
#[test]
fn a_receive_of_what_is_named_takes_44_bytes() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.variables = &[("TRACE_KEEP_BLOCKS", "yes")];
        let run = tracing.run(&Program::c("many_calls").compile(mpi), &[]);
        assert!(run.finished.status.success(), "{}", run.finished.story());
        for rank in 0..2 {
            let other = 1 - rank as i64;
            let records = sendrecvs(&run, rank);
            assert_eq!(records.len(), 30_000, "{mpi:?}");
            for (nth, (bytes, arguments)) in records.into_iter().enumerate() {
                let tag = nth as i64 % 1000;
                assert!(bytes <= 44, "{mpi:?}: {bytes} bytes");
                // Count, receiver, tag, count, sender, tag; sender, tag and bytes of the status.
                let truth = [1, other, tag, 1, other, tag, other, tag, 4];
                assert_eq!(arguments, truth, "{mpi:?}, call {nth}");
            }
        }
    }
}

/// `p2p.c` receives from nobody, from anybody, and with counts that differ: that takes more room, and says the same as ever.
#[test]
fn other_receives_are_told_in_full() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.variables = &[("TRACE_KEEP_BLOCKS", "yes")];
        let run = tracing.run(&Program::c("p2p").compile(mpi), &[]);
        assert!(run.finished.status.success(), "{}", run.finished.story());
        let records = sendrecvs(&run, 0);
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
