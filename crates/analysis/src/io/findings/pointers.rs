//! Shared file pointers and atomic mode.

use super::{Evidence, FEW, IoFinding, Sureness, counted};

impl Evidence<'_> {
    pub(super) fn pointers(&self) -> Vec<IoFinding> {
        let mut found = Vec::new();
        let (mut calls, mut ns) = (0, 0_u64);
        for (name, access) in &self.report.functions {
            if name.ends_with("_shared") || name.contains("_ordered") {
                calls += access.calls;
                ns = ns.saturating_add(access.ns);
            }
        }
        if calls >= FEW {
            let text = format!(
                "{} use a shared file pointer, which only one rank can move at a time.",
                counted(calls, "data access")
            );
            let finding = IoFinding::new("shared_pointers", Sureness::Likely, ns, text);
            found.push(finding.with(&[("calls", calls)]));
        }
        let atomic = self.facts.atomic;
        let calls = atomic.asked + atomic.unknown;
        let locks = self.report.reads.times.lock;
        let locks = locks.saturating_add(self.report.writes.times.lock);
        if calls > 0 && locks > 0 {
            let text = format!(
                "MPI_File_set_atomicity was called {}{}, and data accesses take locks: in atomic mode ranks write one after the other.",
                match calls {
                    1 => "once".to_owned(),
                    n => format!("{n} times"),
                },
                if atomic.unknown > 0 {
                    " (the trace does not tell whether to set or to clear it)"
                } else {
                    " to set it"
                }
            );
            let sureness = if atomic.unknown > 0 {
                Sureness::Possible
            } else {
                Sureness::Likely
            };
            let finding = IoFinding::new("atomic_mode", sureness, locks, text);
            found.push(finding.with(&[("calls", calls)]));
        }
        found
    }
}
