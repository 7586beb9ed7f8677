//! Data sieving: bytes that nobody asked for, reads before writes, and locks around both.

use super::{Evidence, IoFinding, Sureness, counted, percent};
use crate::io::AccessTotals;
use trace_model::units::{bytes, duration_ns as time};

/// Holes of a quarter of the data: below that, one large transfer is cheaper than several small ones.
const HOLES_PART: u64 = 4;

/// Locks that take a tenth of the time of the calls.
const LOCKS_PART: u64 = 10;

impl Evidence<'_> {
    pub(super) fn sieving(&self) -> Vec<IoFinding> {
        let report = self.report;
        let mut found = Vec::new();
        found.extend(
            [&report.reads, &report.writes]
                .into_iter()
                .filter_map(|access| self.holes(access)),
        );
        let writes = &report.writes;
        if writes.modifying > 0 {
            let text = format!(
                "{} of {} read before they wrote ({} read): read-modify-write over the gaps between the pieces.",
                writes.modifying,
                counted(writes.calls, "writing call"),
                bytes(writes.hole_bytes_read)
            );
            let ns = report.modify_ns;
            let finding = IoFinding::new("read_modify_write", Sureness::Likely, ns, text);
            found.push(finding.with(&[
                ("calls", writes.modifying),
                ("of", writes.calls),
                ("bytes", writes.hole_bytes_read),
            ]));
        }
        let ns = report.reads.ns.saturating_add(writes.ns);
        let locks = report.reads.times.lock.saturating_add(writes.times.lock);
        if locks > 0 && locks >= ns / LOCKS_PART {
            let text = format!(
                "Locks take {} of the time in data accesses ({} of {}).",
                percent(locks, ns),
                time(locks),
                time(ns)
            );
            found.push(IoFinding::new("locks", Sureness::Likely, locks, text));
        }
        found
    }

    fn holes(&self, access: &AccessTotals) -> Option<IoFinding> {
        let holes = access
            .hole_bytes_read
            .saturating_add(access.hole_bytes_written);
        if holes == 0 || holes < access.asked / HOLES_PART {
            return None;
        }
        let text = format!(
            "For {} asked to be {}, {} were moved: data sieving, which moves the gaps between the pieces, too.",
            bytes(access.asked),
            if access.writes { "written" } else { "read" },
            bytes(access.moved())
        );
        let ns = self.report.hole_ns[usize::from(access.writes)];
        let name = match access.writes {
            true => "sieving_holes_of_writes",
            false => "sieving_holes_of_reads",
        };
        let finding = IoFinding::new(name, Sureness::Likely, ns, text);
        Some(finding.with(&[
            ("asked", access.asked),
            ("moved", access.moved()),
            ("holes", holes),
        ]))
    }
}
