//! Long tests, each case of which is tried on one of the two MPIs in turn.

use crate::Mpi;
use std::sync::OnceLock;
use std::time::SystemTime;

/// On which MPIs each case of a long test is tried: on one of [`Mpi::ALL`], and the next case on the other. With EVERY_MPI, or where one of them is not
/// here, each case is tried on each that is here.
pub struct MpiTurns {
    here: Vec<Mpi>,
    /// Position of the MPI of the first case, if they take turns.
    first: Option<usize>,
}

impl MpiTurns {
    /// For the cases of a test, which `what` names. Chance decides which MPI is the first in this run of the tests. Prints a line where cases are left out.
    pub fn new(what: &str) -> MpiTurns {
        static FIRST: OnceLock<usize> = OnceLock::new();
        let mut here = Mpi::ALL.to_vec();
        here.retain(|mpi| mpi.installed());
        let take_turns = std::env::var_os("EVERY_MPI").is_none() && here.len() == 2;
        let first = take_turns.then(|| {
            crate::skip(&format!("{what} on each MPI: only with EVERY_MPI=1"));
            let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            *FIRST.get_or_init(|| now().map_or(0, |time| time.subsec_micros() as usize))
        });
        MpiTurns { here, first }
    }

    /// The MPIs that any case is tried on.
    pub fn all(&self) -> &[Mpi] {
        &self.here
    }

    /// The MPIs that the `nth` case is tried on.
    pub fn of(&self, nth: usize) -> &[Mpi] {
        match self.first {
            Some(first) => std::slice::from_ref(&self.here[(first + nth) % self.here.len()]),
            None => &self.here,
        }
    }
}

/// Runs a test on several MPIs at once, where most of it is waiting.
pub fn beside_each_other(mpis: impl Iterator<Item = Mpi>, test: impl Fn(Mpi) + Sync) {
    std::thread::scope(|scope| {
        for mpi in mpis {
            let test = &test;
            scope.spawn(move || test(mpi));
        }
    });
}
