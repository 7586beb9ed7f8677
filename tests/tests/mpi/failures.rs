//! A run of every way to end badly: what was recorded is there. `ci/failures` makes many.

use tests::Mpi;
use tests::failures::{RandomNumbers, RunOutcome, WAYS, run};

#[test]
fn nothing_is_lost_whatever_the_end() {
    let seed = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(1, |d| d.as_nanos() as u64);
    println!("seed {seed}");
    let mut random = RandomNumbers(seed);
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let mut all = RunOutcome::default();
        for way in WAYS {
            all.add(run(mpi, way, &mut random));
        }
        assert!(all.expected > 1000, "{mpi:?}: {all:?}");
        assert!(all.is_good(), "{mpi:?}: {}", all.faults.join("\n"));
    }
}
