//! Waiting for the device.

use super::{Evidence, IoFinding, Sureness, percent};
use crate::io::{CallSum, Part, RankSyncs};
use std::collections::BTreeSet;
use trace_model::units::duration_ns as time;

/// Waits of a rank for one file: one after each of a few steps is how data are made safe; many are a habit.
const MANY: u64 = 8;

/// A fifth of the time of accesses and syncs together.
const PART: u64 = 5;

impl Evidence<'_> {
    pub(super) fn sync(&self) -> Vec<IoFinding> {
        let Some(CallSum { calls: count, ns }) = self.habitual_syncs() else {
            return Vec::new();
        };
        let accesses = self.access_ns();
        if ns == 0 || ns < accesses.saturating_add(ns) / PART {
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

    /// Waits for the device for files for which one rank waits often. Where some files have few waits, theirs are left out, and the
    /// time is that of the operations, as the trace does not tell the calls of one file from those of another.
    fn habitual_syncs(&self) -> Option<CallSum> {
        let calls = self.facts.sum(|name| name == "MPI_File_sync");
        let own = self.report.own.sync;
        let by_file = &self.report.accesses.syncs;
        if by_file.is_empty() {
            let often = |syncs: &&RankSyncs| {
                syncs.syncs >= MANY && syncs.syncs >= syncs.opens.saturating_mul(MANY)
            };
            let is_habit = self.facts.syncs.values().find(often).is_some();
            return is_habit.then_some(calls);
        }
        let habits: BTreeSet<u32> = by_file
            .iter()
            .filter(|(_, part)| part.calls >= MANY)
            .map(|((file, _), _)| *file)
            .collect();
        let (of_habits, others): (Vec<_>, Vec<_>) = by_file
            .iter()
            .partition(|((file, _), _)| habits.contains(file));
        if of_habits.is_empty() {
            return None;
        }
        // The calls have the operations in them; without the calls, the operations tell.
        if others.is_empty() && calls.calls > 0 {
            return Some(CallSum {
                calls: calls.calls + own.calls,
                ns: calls.ns.saturating_add(own.ns),
            });
        }
        let mut all = Part::default();
        of_habits.iter().for_each(|(_, part)| all.join(part));
        Some(CallSum {
            calls: all.calls,
            ns: all.ns,
        })
    }
}
