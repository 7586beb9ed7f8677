//! Runs that end badly: what was recorded is there.

use std::sync::Mutex;
use std::thread;
use tests::Mpi;
use tests::failures::{EndKind, RandomNumbers, RunOutcome, WAYS, run};

/// Each way on one of the MPIs, on which one chance decides, and with EVERY_MPI on each: `ci/failures` makes many runs of all.
#[test]
fn nothing_is_lost_whatever_the_end() {
    let seed = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(1, |d| d.as_nanos() as u64);
    println!("seed {seed}");
    let mut mpis = Mpi::ALL.to_vec();
    mpis.retain(|mpi| mpi.installed());
    let has_all = std::env::var_os("EVERY_MPI").is_some();
    if !has_all && mpis.len() > 1 {
        tests::skip("each way to end badly on each MPI: only with EVERY_MPI=1, or by ci/failures");
    }
    let mut random = RandomNumbers(seed);
    let mut ways: Vec<Vec<EndKind>> = vec![Vec::new(); mpis.len()];
    for way in WAYS {
        let only = random.below(mpis.len().max(1) as u64) as usize;
        for (nth, ways) in ways.iter_mut().enumerate() {
            if has_all || nth == only {
                ways.push(way);
            }
        }
    }
    // Two at a time: most of it is waiting.
    let of_mpis: Vec<(Mpi, Vec<EndKind>)> = mpis.into_iter().zip(ways).collect();
    let expected = Mutex::new(0);
    for two in of_mpis.chunks(2) {
        thread::scope(|scope| {
            for (mpi, ways) in two {
                let random = RandomNumbers(random.below(u64::MAX));
                let expected = &expected;
                scope.spawn(move || {
                    *expected.lock().expect("nobody has panicked") +=
                        calls_of_ends(*mpi, ways, random);
                });
            }
        });
    }
    let expected = expected.into_inner().expect("nobody has panicked");
    assert!(of_mpis.is_empty() || expected > 2000, "{expected} calls");
}

/// A run of each of these ways to end badly with this MPI, of which nothing is lost. Gives the calls that had to be there.
fn calls_of_ends(mpi: Mpi, ways: &[EndKind], mut random: RandomNumbers) -> u64 {
    let mut all = RunOutcome::default();
    for &way in ways {
        all.add(run(mpi, way, &mut random));
    }
    assert!(all.is_good(), "{mpi:?}: {}", all.faults.join("\n"));
    all.expected
}
