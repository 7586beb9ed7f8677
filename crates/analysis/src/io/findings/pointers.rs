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
        let atomic = self.facts.sum(|name| name == "MPI_File_set_atomicity");
        let locks = self.report.reads.times.lock;
        let locks = locks.saturating_add(self.report.writes.times.lock);
        if atomic.calls > 0 && locks > 0 {
            let text = format!(
                "MPI_File_set_atomicity was called {}, and data accesses take locks: in atomic mode ranks write one after the other.",
                match atomic.calls {
                    1 => "once".to_owned(),
                    n => format!("{n} times"),
                }
            );
            let finding = IoFinding::new("atomic_mode", Sureness::Likely, locks, text);
            found.push(finding.with(&[("calls", atomic.calls)]));
        }
        found
    }
}
