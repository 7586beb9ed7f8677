//! A run of every way to end badly: what was recorded is there. `ci/failures` makes many.

use std::thread;
use tests::Mpi;
use tests::failures::{RandomNumbers, RunOutcome, WAYS, run};

#[test]
fn nothing_is_lost_whatever_the_end() {
    let seed = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(1, |d| d.as_nanos() as u64);
    println!("seed {seed}");
    let mut mpis = Mpi::ALL.to_vec();
    mpis.retain(|mpi| mpi.installed());
    // Two at a time: most of it is waiting.
    for (pair, two) in (0..).zip(mpis.chunks(2)) {
        thread::scope(|scope| {
            for (nth, &mpi) in (0..).zip(two) {
                scope.spawn(move || nothing_is_lost(mpi, seed + 2 * pair + nth));
            }
        });
    }
}

/// A run of every way to end badly with this MPI.
fn nothing_is_lost(mpi: Mpi, seed: u64) {
    let mut random = RandomNumbers(seed);
    let mut all = RunOutcome::default();
    for way in WAYS {
        all.add(run(mpi, way, &mut random));
    }
    assert!(all.expected > 1000, "{mpi:?}: {all:?}");
    assert!(all.is_good(), "{mpi:?}: {}", all.faults.join("\n"));
}
