//! Runs that end badly: what was recorded is there.

use std::thread;
use tests::Mpi;
use tests::failures::{EndKind, RandomNumbers, RunOutcome, WAYS, run};

/// Half of the ways, each on one of the MPIs; chance decides which. With EVERY_MPI all ways on each. `ci/failures` makes many runs of all.
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
        tests::skip("every way to end badly on each MPI: only with EVERY_MPI=1, or by ci/failures");
    }
    let mut random = RandomNumbers(seed);
    // Of two ways that stand side by side one is taken.
    let is_taken: [bool; WAYS.len() / 2] = std::array::from_fn(|_| random.below(2) == 0);
    let ways = WAYS.map(|way| (way, random.below(mpis.len().max(1) as u64)));
    let is_taken = |at: usize| has_all || is_taken.get(at / 2).copied() == Some(at % 2 == 0);
    let is_any = !mpis.is_empty();
    // Side by side: most of it is waiting.
    let expected = thread::scope(|scope| {
        let begun = (0..).zip(mpis).map(|(nth, mpi)| {
            let own = ways.iter().enumerate();
            let own = own.filter(|(at, (_, only))| is_taken(*at) && (has_all || *only == nth));
            let own: Vec<EndKind> = own.map(|(_, (way, _))| *way).collect();
            let random = RandomNumbers(random.below(u64::MAX));
            scope.spawn(move || calls_of_ends(mpi, &own, random))
        });
        let begun: Vec<_> = begun.collect();
        let calls = begun
            .into_iter()
            .map(|run| run.join().expect("nothing is lost"));
        calls.sum::<u64>()
    });
    assert!(!is_any || expected > 1000, "{expected} calls");
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
