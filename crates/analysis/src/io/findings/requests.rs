//! Small requests and requests that do not fit the blocks of the file system.

use super::{Evidence, FEW, IoFinding, Sureness, counted};
use crate::io::FileSystem;
use crate::io::pattern::{BLOCK, Part, SMALL};
use trace_model::units::bytes;

/// One request in so many must be of a kind before the kind is named: less does not shape the run.
const SHARE: u64 = 5;

/// Transfers smaller than this are much smaller than what a call asks for: a call that becomes many of them has its data in pieces.
pub const TINY: u64 = 4096;

impl Evidence<'_> {
    pub(super) fn requests(&self) -> Vec<IoFinding> {
        let mut found = Vec::new();
        let (mut all, mut small, mut unaligned) =
            (Part::default(), Part::default(), Part::default());
        let (mut borders_are_written, mut borders_are_shared) = (false, false);
        let hosts_share = matches!(
            self.facts.file_system,
            FileSystem::Lustre | FileSystem::Shared
        );
        for ((file, _, writes), pattern) in &self.report.accesses.patterns {
            all.join(&pattern.all);
            small.join(&pattern.small);
            let sharing = self.report.accesses.sharing.get(&(*file, *writes));
            let is_shared = sharing.is_some_and(|s| s.ranks > 1);
            let mut of_file = Part::default();
            // The pieces of a view have borders of their own, which are told of elsewhere.
            if pattern.in_pieces.calls == 0 {
                of_file.join(&pattern.unaligned);
                // Of a large request the ends count only where another host may hold the lock of a block that is to be written.
                if *writes && hosts_share && is_shared {
                    of_file.join(&pattern.unaligned_large);
                }
            }
            unaligned.join(&of_file);
            borders_are_written |= *writes && of_file.calls > 0;
            borders_are_shared |= *writes && of_file.calls > 0 && is_shared;
        }
        if small.calls >= FEW && small.calls * SHARE >= all.calls {
            let text = format!(
                "{} of {} move less than {}, {} on average: larger ones cost less for each byte.",
                small.calls,
                counted(all.calls, "independent access"),
                bytes(SMALL),
                bytes(small.bytes / small.calls)
            );
            let finding = IoFinding::new("small_requests", Sureness::Likely, small.ns, text);
            found.push(finding.with(&[
                ("small", small.calls),
                ("accesses", all.calls),
                ("bytes", small.bytes),
            ]));
        }
        if unaligned.calls >= FEW && unaligned.calls * SHARE >= all.calls {
            let (sureness, why) = if borders_are_shared {
                let why = "Ranks meet in the blocks at the borders, which one has to wait for.";
                (Sureness::Likely, why)
            } else if borders_are_written {
                let why = "The file system has to read the rest of a block before it can write it.";
                (Sureness::Possible, why)
            } else {
                let why = "The file system has to read the blocks at the borders as a whole.";
                (Sureness::Possible, why)
            };
            let text = format!(
                "{} of {} do not begin and end at multiples of {}. {why}",
                unaligned.calls,
                counted(all.calls, "independent access"),
                bytes(BLOCK)
            );
            let finding = IoFinding::new("unaligned_requests", sureness, unaligned.ns, text);
            found.push(finding.with(&[("unaligned", unaligned.calls), ("accesses", all.calls)]));
        }
        found.extend(self.tiny_transfers());
        found
    }

    fn tiny_transfers(&self) -> Option<IoFinding> {
        let report = self.report;
        let calls = report.reads.calls + report.writes.calls;
        let sizes = [&report.read_sizes, &report.write_sizes];
        let tiny: u64 = sizes.iter().map(|sizes| sizes.below(TINY).count).sum();
        let transfers: u64 = sizes.iter().map(|sizes| sizes.all().count).sum();
        if tiny < FEW || tiny * SHARE < transfers || transfers <= 2 * calls {
            return None;
        }
        let text = format!(
            "{} became {transfers} transfers, {tiny} of them smaller than {}: collective access, or data sieving, makes larger \
             ones of data in pieces.",
            counted(calls, "data access"),
            bytes(TINY)
        );
        let finding = IoFinding::new("tiny_transfers", Sureness::Likely, report.tiny_ns, text);
        Some(finding.with(&[("tiny", tiny), ("transfers", transfers), ("calls", calls)]))
    }
}
