//! What the recorder keeps in memory: at most 32 MB per rank, whatever the length of the run, in MPI_Finalize too. The program
//! asks the kernel for its own peak, with the recorder and without.

use std::time::Duration;
use tests::trace::TraceSetup;
use tests::{Mpi, Program};

/// Most that a rank may take more than without the recorder, kB.
const MAX_EXTRA_KB: i64 = 32 << 10;
/// Rounds of a run whose block file alone is larger than that: about 36 bytes a call.
const LONG: &str = "110000";
/// A tenth of it.
const SHORT: &str = "11000";

/// Peak of each rank, before MPI_Finalize and after it, kB.
fn peaks(mpi: Mpi, rounds: &str, preload: bool) -> Vec<(i64, i64)> {
    let mut tracing = TraceSetup::new(mpi, 2);
    tracing.preload = preload;
    tracing.limit = Duration::from_secs(600);
    let run = tracing.run(&Program::c("endless").compile(mpi), &[rounds]);
    assert!(run.finished.status.success(), "{}", run.finished.story());
    if preload {
        let made: u64 = run.made().values().flat_map(|calls| calls.values()).sum();
        let reported = run.closing_numbers();
        assert_eq!(reported, (made, 0), "{}", run.finished.story());
    }
    let mut peaks = Vec::new();
    for line in run.finished.stdout.lines() {
        let words: Vec<i64> = line.split(' ').filter_map(|w| w.parse().ok()).collect();
        let [rank, before, after] = words[..] else {
            panic!("{}", run.finished.story());
        };
        peaks.push((rank, (before, after)));
    }
    peaks.sort_unstable();
    assert_eq!(peaks.len(), 2, "{}", run.finished.story());
    peaks.into_iter().map(|(_, peak)| peak).collect()
}

#[test]
fn memory_does_not_grow_with_the_run() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let bare = peaks(mpi, SHORT, false);
        let short = peaks(mpi, SHORT, true);
        let long = peaks(mpi, LONG, true);
        for (rank, ((bare, short), long)) in bare.iter().zip(&short).zip(&long).enumerate() {
            println!("{mpi:?} rank {rank}: without {bare:?}, short {short:?}, long {long:?} kB");
            assert!(long.0 - bare.0 < MAX_EXTRA_KB && long.1 - bare.1 < MAX_EXTRA_KB);
            // A third of what comes with ten times as many calls; the library itself varies by some MB.
            assert!(long.0 - short.0 < 12 << 10, "while it runs");
            assert!(long.1 - short.1 < 12 << 10, "in MPI_Finalize");
        }
    }
}
