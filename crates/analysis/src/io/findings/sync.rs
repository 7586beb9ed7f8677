//! Waiting for the device.

use super::{Evidence, IoFinding, Sureness, percent};
use crate::io::kinds::Doing;
use trace_model::units::duration_ns as time;

/// One sync after each of a few steps is how data are made safe; many are a habit.
const MANY: u64 = 8;

/// A fifth of the time of accesses and syncs together.
const PART: u64 = 5;

impl Evidence<'_> {
    pub(super) fn sync(&self) -> Vec<IoFinding> {
        let calls = self.facts.sum(|name| name == "MPI_File_sync");
        let own = self.report.own.sync;
        let of_ranks = self.report.kinds.iter().filter(|(key, _)| key.is_of_rank());
        let below = of_ranks.filter(|(key, _)| key.doing() == Doing::Sync);
        let (mut operations, mut operations_ns) = (0, 0_u64);
        for (_, row) in below {
            operations += row.count;
            operations_ns = operations_ns.saturating_add(row.ns);
        }
        // The calls have the operations in them; without the calls, the operations tell.
        let (count, ns) = match calls.calls {
            0 => (operations, operations_ns),
            n => (n + own.calls, calls.ns.saturating_add(own.ns)),
        };
        let accesses = self.access_ns();
        if count < MANY || ns == 0 || ns < accesses.saturating_add(ns) / PART {
            return Vec::new();
        }
        let text = format!(
            "{count} waits for the device (MPI_File_sync, fsync) take {}, {} of the time in accesses and syncs together. Closing a file \
             needs none; one at the end of a checkpoint makes it safe.",
            time(ns),
            percent(ns, accesses.saturating_add(ns))
        );
        let finding = IoFinding::new("syncs", Sureness::Likely, ns, text);
        vec![finding.with(&[("syncs", count)])]
    }
}
