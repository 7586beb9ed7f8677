//! Collective access: where it is missing, where it was made independent, and where it waits.

use super::{Evidence, FEW, IoFinding, LARGE, Sureness, counted, percent};
use crate::io::pattern::{Part, SMALL};
use crate::io::{Sharing, Waits};
use std::collections::BTreeSet;
use trace_model::units::{bytes, duration_ns as time};

/// Every second neighbour in the file is of another rank.
const ALTERNATING_PART: u64 = 2;

/// A third of the time in collective accesses.
const LATE_PART: u64 = 3;

/// Ranks that are late once or twice are so by chance.
const OFTEN: u64 = 8;

/// Half of the time in collective accesses.
const EXCHANGE_PART: u64 = 2;

impl Evidence<'_> {
    pub(super) fn collective(&self) -> Vec<IoFinding> {
        let mut found = Vec::new();
        found.extend(self.interleaved());
        found.extend(self.in_pieces());
        found.extend(self.made_independent());
        found.extend(self.no_mpi_io());
        found.extend(self.late());
        found.extend(self.exchange());
        found
    }

    /// Records of ranks that stand between each other in a file, each moved by itself.
    fn interleaved(&self) -> Option<IoFinding> {
        let is_interleaved = |sharing: &Sharing| {
            sharing.ranks > 1
                && sharing.accesses >= FEW
                && sharing.alternations * ALTERNATING_PART >= sharing.accesses
        };
        let mut all = Part::default();
        // A file that is both read and written so is one file.
        let (mut files, mut ranks) = (BTreeSet::new(), BTreeSet::new());
        for ((file, writes), sharing) in &self.report.accesses.sharing {
            if !is_interleaved(sharing) {
                continue;
            }
            files.insert(*file);
            let rows = self
                .report
                .accesses
                .patterns
                .range((*file, 0, false)..=(*file, u32::MAX, true));
            for ((_, rank, _), pattern) in rows.filter(|((_, _, w), _)| w == writes) {
                all.join(&pattern.all);
                ranks.insert(*rank);
            }
        }
        if all.calls < FEW || all.bytes / all.calls >= LARGE {
            return None;
        }
        let text = format!(
            "{} of {} on average by {} interleave in {}, each by itself: a collective access gathers neighbours into large transfers.",
            counted(all.calls, "access"),
            bytes(all.bytes / all.calls),
            counted(ranks.len() as u64, "rank"),
            counted(files.len() as u64, "file")
        );
        let finding = IoFinding::new("no_collectives", Sureness::Likely, all.ns, text);
        Some(finding.with(&[
            ("accesses", all.calls),
            ("bytes", all.bytes),
            ("ranks", ranks.len() as u64),
        ]))
    }

    /// Views of several pieces, accessed by ranks on their own.
    fn in_pieces(&self) -> Option<IoFinding> {
        let mut all = Part::default();
        let mut ranks = BTreeSet::new();
        for ((_, rank, _), pattern) in &self.report.accesses.patterns {
            if pattern.in_pieces.calls > 0 {
                ranks.insert(*rank);
                all.join(&pattern.in_pieces);
            }
        }
        if ranks.len() < 2 || all.calls < FEW {
            return None;
        }
        let text = format!(
            "{} of {} to data in several pieces are independent: a collective access fills the gaps of one rank with the pieces of others.",
            counted(all.calls, "access"),
            counted(ranks.len() as u64, "rank")
        );
        let finding = IoFinding::new("pieces_without_collectives", Sureness::Likely, all.ns, text);
        Some(finding.with(&[("accesses", all.calls), ("ranks", ranks.len() as u64)]))
    }

    /// Collective calls that each rank executed by itself although their data interleave.
    fn made_independent(&self) -> Option<IoFinding> {
        let independent = &self.report.collectives.independent;
        if independent.groups == 0 || independent.transfers < FEW {
            return None;
        }
        let text = format!(
            "In {} each rank moved its own pieces, {} in all, although they interleave with those of other ranks: a hint, a \
             setting or the library's own choice turns two-phase I/O off.",
            counted(independent.groups, "collective access"),
            counted(independent.transfers, "transfer")
        );
        let ns = independent.ns;
        let finding = IoFinding::new("collectives_made_independent", Sureness::Likely, ns, text);
        Some(finding.with(&[
            ("groups", independent.groups),
            ("transfers", independent.transfers),
            ("bytes", independent.bytes),
        ]))
    }

    /// Ranks that share files without MPI-IO.
    fn no_mpi_io(&self) -> Option<IoFinding> {
        let report = self.report;
        if report.reads.calls + report.writes.calls > 0 {
            return None;
        }
        let is_shared = |file: u32, writes: bool| {
            let sharing = report.accesses.sharing.get(&(file, writes));
            sharing.is_some_and(|sharing| sharing.ranks > 1)
        };
        let (mut all, mut files) = (Part::default(), BTreeSet::new());
        for (&(file, _, writes), pattern) in &report.accesses.patterns {
            if is_shared(file, writes) {
                files.insert(file);
                all.join(&pattern.all);
            }
        }
        let (shared, calls, ns) = (files.len() as u64, all.calls, all.ns);
        if calls < FEW {
            return None;
        }
        let text = format!(
            "Ranks share {} and use no MPI-IO: {} of the program's own to or from them, which no library can gather.",
            counted(shared, "file"),
            counted(calls, "transfer")
        );
        let finding = IoFinding::new("no_mpi_io", Sureness::Possible, ns, text);
        Some(finding.with(&[("files", shared), ("transfers", calls)]))
    }

    fn late(&self) -> Option<IoFinding> {
        let collectives = &self.report.collectives;
        let (late, of) = (collectives.sum(|w| w.late), collectives.sum(Waits::all));
        if collectives.groups < OFTEN || late == 0 || late < of / LATE_PART {
            return None;
        }
        let text = format!(
            "{} of the time in collective accesses is waiting for ranks that came later ({} of {}).",
            percent(late, of),
            time(late),
            time(of)
        );
        Some(IoFinding::new("late_ranks", Sureness::Sure, late, text))
    }

    /// Small collective accesses: those in which moving data between ranks takes longer than the file, and tiny ones.
    fn exchange(&self) -> Option<IoFinding> {
        let collectives = &self.report.collectives;
        let (rest, of) = (collectives.sum(|w| w.rest), collectives.sum(Waits::all));
        let calls: u64 = collectives.ranks.values().map(|rank| rank.calls).sum();
        let mean = collectives.bytes.checked_div(calls)?;
        if calls < FEW || mean >= LARGE {
            return None;
        }
        let what = format!("{} of {} on average", counted(calls, "call"), bytes(mean));
        let (ns, text) = if rest >= of / EXCHANGE_PART {
            let text = format!(
                "For {} of the time in collective accesses all ranks are there and no operation runs ({} of {}): exchange between ranks, in \
                 {what}. Larger and fewer ones cost less.",
                percent(rest, of),
                time(rest),
                time(of),
            );
            (rest, text)
        } else if mean < SMALL {
            // What waits for late ranks costs is told apart.
            let ns = of.saturating_sub(collectives.sum(|w| w.late));
            let text = format!(
                "Collective accesses are tiny: {what}, {} without the waits for late ranks. One call for many records costs less.",
                time(ns)
            );
            (ns, text)
        } else {
            return None;
        };
        let finding = IoFinding::new("small_collectives", Sureness::Likely, ns, text);
        Some(finding.with(&[("calls", calls), ("bytes", collectives.bytes)]))
    }
}
