//! Data accesses added up: of a function, of a file, of a rank.

use super::kinds::{Doing, KindKey, Sizes};
use crate::stats::Histogram;
use std::collections::BTreeMap;

/// Time of operations by what they did, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Moving bytes.
    pub transfer: u64,
    /// Taking and freeing locks.
    pub lock: u64,
    /// Waiting for the device.
    pub sync: u64,
    /// Opening and closing.
    pub open: u64,
    /// All else.
    pub other: u64,
    /// Asynchronous ones, from submission until their result was asked for: time in which the rank could work.
    pub outstanding: u64,
}

impl Times {
    pub(super) fn add(&mut self, doing: Doing, outstanding: bool, ns: u64) {
        let sum = match doing {
            _ if outstanding => &mut self.outstanding,
            Doing::Read | Doing::Write => &mut self.transfer,
            Doing::Lock => &mut self.lock,
            Doing::Sync => &mut self.sync,
            Doing::Open => &mut self.open,
            Doing::Other => &mut self.other,
        };
        *sum = sum.saturating_add(ns);
    }

    pub(super) fn join(&mut self, other: &Times) {
        let add = |sum: &mut u64, ns: u64| *sum = sum.saturating_add(ns);
        add(&mut self.transfer, other.transfer);
        add(&mut self.lock, other.lock);
        add(&mut self.sync, other.sync);
        add(&mut self.open, other.open);
        add(&mut self.other, other.other);
        add(&mut self.outstanding, other.outstanding);
    }

    /// All that kept a thread busy.
    pub fn busy(&self) -> u64 {
        let parts = [self.transfer, self.lock, self.sync, self.open, self.other];
        parts.into_iter().fold(0, u64::saturating_add)
    }
}

/// Number of operations that calls caused.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PerCall {
    /// Operations, counted with each call that caused them or whose data they carry.
    pub operations: u64,
    /// Calls that caused any.
    pub causing: u64,
    /// Most of one call.
    pub most: u64,
    /// Numbers of the calls that caused any.
    counts: Histogram,
}

impl PerCall {
    pub(super) fn add(&mut self, operations: u64) {
        if operations > 0 {
            self.operations += operations;
            self.causing += 1;
            self.most = self.most.max(operations);
            self.counts.add(operations as f64);
        }
    }

    /// Operations per call of `calls` calls; `None` without calls.
    pub fn mean(&self, calls: u64) -> Option<f64> {
        (calls > 0).then(|| self.operations as f64 / calls as f64)
    }

    /// The number that `percent` % of `calls` calls do not exceed, those that caused none among them.
    pub fn percentile(&self, percent: f64, calls: u64) -> Option<f64> {
        if calls == 0 {
            return None;
        }
        let none = calls.saturating_sub(self.causing) as f64;
        let rank = (percent / 100.0 * calls as f64).ceil();
        if rank <= none || self.causing == 0 {
            return Some(0.0);
        }
        // Half a rank less: the histogram rounds up, and what is a whole number must stay that.
        let percent = 100.0 * (rank - none - 0.5) / self.causing as f64;
        self.counts.percentile(percent).map(f64::round)
    }
}

/// Data accesses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AccessTotals {
    /// Number of calls.
    pub calls: u64,
    /// Whether they write; of rows that hold both kinds that of the last one.
    pub writes: bool,
    /// Calls that failed.
    pub failed: u64,
    /// Bytes they asked for, those that failed left out.
    pub asked: u64,
    /// Bytes of theirs that transfers moved; larger than `asked` where it is not known which of several served them.
    pub carried: u64,
    /// Bytes that calls asked for, whose places in the file are known, and that no operation moved; those that failed left out.
    pub missing: u64,
    /// Bytes of sieving holes that were read during the accesses: no call had asked for them.
    pub hole_bytes_read: u64,
    /// Bytes of sieving holes that were written during the accesses: no call had asked for them.
    pub hole_bytes_written: u64,
    /// Writing calls during which bytes were read: read-modify-write.
    pub modifying: u64,
    /// Calls of their ranks into libc during them.
    pub operations: u64,
    /// Operations that moved bytes.
    pub transfers: u64,
    /// Time in them, ns.
    pub ns: u64,
    /// Time of the operations of their ranks during them.
    pub times: Times,
    /// Time from their return until what they began was complete, ns.
    pub pending: u64,
    /// Calls that returned before what they began was complete.
    pub deferred: u64,
    /// Durations of the calls, ns.
    pub durations: Histogram,
    /// Bytes asked for by powers of two.
    pub sizes: Sizes,
    /// Calls of ranks into libc that they caused or that carry their data.
    pub caused: PerCall,
    /// The operations by kind, those of servers and devices, too.
    pub kinds: BTreeMap<KindKey, PerCall>,
}

impl AccessTotals {
    /// Bytes of transfers, asked for or not.
    pub fn moved(&self) -> u64 {
        let hole_bytes = self.hole_bytes_read.saturating_add(self.hole_bytes_written);
        self.carried.saturating_add(hole_bytes)
    }

    /// Bytes moved for each byte asked for; `None` if none was, or if no operation is known that has to do with the calls.
    pub fn amplification(&self) -> Option<f64> {
        let is_known = self.asked > 0 && (self.caused.causing > 0 || self.moved() > 0);
        is_known.then(|| self.moved() as f64 / self.asked as f64)
    }
}

/// Totals of the MPI-IO calls that are no data accesses: open, close, sync, and completing what other calls began.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OtherCalls {
    /// MPI calls that caused operations.
    pub calls: u64,
    /// Calls of their ranks into libc during them.
    pub operations: u64,
    /// Operations that moved bytes: deferred work of data accesses.
    pub transfers: u64,
    /// Bytes of sieving holes that were moved during the calls: no call had asked for them.
    pub hole_bytes: u64,
    /// Time of the operations.
    pub times: Times,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_count_calls_without_operations() {
        let mut per_call = PerCall::default();
        for operations in [0, 0, 1, 2, 3, 4, 5, 6, 7, 100] {
            per_call.add(operations);
        }
        assert_eq!(per_call.mean(10), Some(12.8));
        let found = [10.0, 20.0, 30.0, 50.0, 90.0, 91.0, 100.0].map(|p| per_call.percentile(p, 10));
        let expected = [0.0, 0.0, 1.0, 3.0, 7.0, 100.0, 100.0].map(Some);
        assert_eq!(found, expected);
        assert_eq!(PerCall::default().percentile(50.0, 0), None);
        assert_eq!(PerCall::default().percentile(99.0, 5), Some(0.0));
    }
}
