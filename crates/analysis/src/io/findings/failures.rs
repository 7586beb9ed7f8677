//! Calls and operations that failed, and operations that moved less than they were to.

use super::{Evidence, IoFinding, Sureness};
use crate::io::kinds::{Doing, KindKey, KindRow};
use blockfile::operation as op;

/// Whether operations of this kind move bytes to a file, be it one of MPI-IO or another one.
fn is_write(key: &KindKey) -> bool {
    Doing::of(key.kind) == Doing::Write
}

/// Whether operations of this kind copy from one descriptor to another. A copy ends where its source ends: programs ask for more than there
/// is until nothing comes.
fn is_copy(key: &KindKey) -> bool {
    matches!(key.kind, op::COPY_FILE_RANGE | op::SENDFILE)
}

impl Evidence<'_> {
    pub(super) fn failures(&self) -> Vec<IoFinding> {
        let mut found = Vec::new();
        let rows = self.report.kinds.iter();
        // To open or remove what is not there is how libraries find out about it.
        let serious =
            |key: &KindKey| is_write(key) || !matches!(key.doing(), Doing::Open | Doing::Other);
        // A lock that somebody else has is asked for again.
        let failures = |row: &KindRow| row.failed.saturating_sub(row.refused_locks);
        let failed: Vec<_> = rows
            .clone()
            .filter(|(key, row)| failures(row) > 0 && serious(key))
            .collect();
        let calls = self
            .report
            .functions
            .iter()
            .filter(|(_, row)| row.failed > 0);
        let calls: Vec<_> = calls.map(|(name, row)| (row.failed, name)).collect();
        if !failed.is_empty() || !calls.is_empty() {
            let of_calls = calls
                .iter()
                .map(|(count, name)| format!("{count} x {name}"));
            let kinds = failed.iter().map(|(key, row)| {
                let name = key.describe().map_or("operation", |kind| kind.name);
                format!("{} x {name}", failures(row))
            });
            let names = [of_calls.collect::<Vec<_>>(), kinds.collect()];
            let sentences = ["Calls", "Operations"].into_iter().zip(&names);
            let text: Vec<String> = sentences
                .filter(|(_, names)| !names.is_empty())
                .map(|(what, names)| format!("{what} failed: {}.", names.join(", ")))
                .collect();
            let operations = failed.iter().map(|(_, row)| failures(row)).sum();
            let calls = calls.iter().map(|(count, _)| count).sum();
            let finding = IoFinding::new("failed", Sureness::Sure, 0, text.join(" "));
            found.push(finding.with(&[("operations", operations), ("calls", calls)]));
        }
        let writes = rows.filter(|(key, _)| key.is_of_rank() && is_write(key) && !is_copy(key));
        let short: u64 = writes.map(|(_, row)| row.short).sum();
        if short > 0 {
            let text =
                format!("{short} writes moved less than they were asked to: is the disk full?");
            let finding = IoFinding::new("short_writes", Sureness::Sure, 0, text);
            found.push(finding.with(&[("operations", short)]));
        }
        found
    }
}
