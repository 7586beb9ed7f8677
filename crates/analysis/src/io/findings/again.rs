//! Bytes that are read or written again, by one rank or by several.

use super::{Evidence, FEW, IoFinding, Sureness, counted};
use crate::io::Sharing;
use crate::io::pattern::Part;
use trace_model::units::bytes;

/// Few repetitions are cheaper than keeping the data.
const REPEATED: u64 = 10;

/// Ranks that read the same must do so for half of what they read: a common header is no finding.
const SHARED_PART: u64 = 2;

impl Evidence<'_> {
    pub(super) fn again(&self) -> Vec<IoFinding> {
        let mut found = Vec::new();
        for writes in [false, true] {
            let mut again = Part::default();
            let mut bytes_of_all = 0_u64;
            let patterns = self.report.accesses.patterns.iter();
            for (_, pattern) in patterns.filter(|((_, _, w), _)| *w == writes) {
                again.join(&pattern.again);
                bytes_of_all = bytes_of_all.saturating_add(pattern.all.bytes);
            }
            if again.calls < REPEATED || again.bytes < bytes_of_all / 2 {
                continue;
            }
            let (name, text) = match writes {
                false => (
                    "redundant_reads",
                    format!(
                        "{} of {} read what the same rank had read before, and nobody had written the file since.",
                        counted(again.calls, "independent read"),
                        bytes(again.bytes)
                    ),
                ),
                true => (
                    "redundant_writes",
                    format!(
                        "{} of {} write over what the same rank had written before, and nobody had read the file since.",
                        counted(again.calls, "independent write"),
                        bytes(again.bytes)
                    ),
                ),
            };
            let finding = IoFinding::new(name, Sureness::Sure, again.ns, text);
            found.push(finding.with(&[("accesses", again.calls), ("bytes", again.bytes)]));
        }
        found.extend(self.read_by_many());
        found
    }

    /// Ranks that read the same bytes, each by itself.
    fn read_by_many(&self) -> Option<IoFinding> {
        let sharing = self.report.accesses.sharing.iter();
        let is_much = |s: &&Sharing| s.ranks > 1 && s.shared_bytes * SHARED_PART >= s.covered_bytes;
        let (mut shared, mut files) = (Part::default(), 0);
        let reads = sharing.filter(|((_, writes), _)| !writes);
        for sharing in reads.map(|(_, sharing)| sharing).filter(is_much) {
            shared.join(&sharing.shared);
            files += 1;
        }
        if shared.calls < FEW {
            return None;
        }
        let text = format!(
            "Ranks read the same bytes, each by itself: {} of {} in {} fetch what another rank fetches, too.",
            counted(shared.calls, "read"),
            bytes(shared.bytes),
            counted(files, "file")
        );
        let finding = IoFinding::new("same_reads_of_ranks", Sureness::Likely, shared.ns, text);
        Some(finding.with(&[("reads", shared.calls), ("bytes", shared.bytes)]))
    }
}
