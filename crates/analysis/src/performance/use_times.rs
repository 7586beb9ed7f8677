//! Time by use: computing, waiting, transfer, files.

use serde::Serialize;

/// Time of threads by use. The four uses add up to all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TimeByUse {
    /// All of the time.
    pub all: f64,
    /// Outside of MPI and of file operations.
    pub computing: f64,
    /// Waiting for other ranks.
    pub waiting: f64,
    /// In MPI without waiting: transfer and overhead.
    pub transfer: f64,
    /// In file operations and MPI-IO, without waiting for ranks.
    pub files: f64,
}

impl TimeByUse {
    /// The uses with their names: computing, waiting, transfer, files.
    pub fn uses(&self) -> [(&'static str, f64); 4] {
        [
            ("computing", self.computing),
            ("waiting", self.waiting),
            ("transfer", self.transfer),
            ("files", self.files),
        ]
    }

    /// Share of so many seconds of all of the time; 0 of no time.
    pub fn share(&self, seconds: f64) -> f64 {
        if self.all > 0.0 {
            seconds / self.all
        } else {
            0.0
        }
    }
}

/// Sums of time by use, as a pass adds them up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UseSums {
    pub computing: f64,
    /// In MPI, with MPI-IO and with waiting.
    pub in_calls: f64,
    /// In file operations outside of MPI.
    pub file_operations: f64,
    /// In MPI-IO, without waiting.
    pub file_calls: f64,
    pub waiting: f64,
}

impl UseSums {
    /// In file operations and in MPI-IO, without waiting.
    pub(super) fn files(&self) -> f64 {
        self.file_operations + self.file_calls
    }

    /// The sums of `all` seconds. What is no other use is transfer; what is not in the sums at all, too.
    pub(super) fn of_all(&self, all: f64) -> TimeByUse {
        let (computing, waiting, files) = (self.computing, self.waiting, self.files());
        TimeByUse {
            all,
            computing,
            waiting,
            files,
            transfer: (all - computing - waiting - files).max(0.0),
        }
    }

    /// The sums, of just the time that was added up.
    pub(super) fn times(&self) -> TimeByUse {
        self.of_all(self.computing + self.in_calls + self.file_operations)
    }

    pub(super) fn add(&mut self, other: &UseSums) {
        self.computing += other.computing;
        self.in_calls += other.in_calls;
        self.file_operations += other.file_operations;
        self.file_calls += other.file_calls;
        self.waiting += other.waiting;
    }
}
