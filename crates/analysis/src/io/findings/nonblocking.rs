//! Nonblocking accesses that overlap with nothing.

use super::{Evidence, IoFinding, Sureness, counted};

impl Evidence<'_> {
    pub(super) fn nonblocking(&self) -> Vec<IoFinding> {
        let mut found = Vec::new();
        for (function, sum) in &self.facts.waited_at_once {
            let text = format!(
                "{function} is waited for at once ({}): nothing is computed meanwhile.",
                counted(sum.calls, "call")
            );
            let finding = IoFinding::new("waited_at_once", Sureness::Sure, sum.ns, text);
            found.push(finding.with(&[("calls", sum.calls)]).about(function));
        }
        for (function, access) in &self.report.functions {
            let begins = function.starts_with("MPI_File_i");
            let is_done = access.kinds.keys().any(|key| key.is_of_rank())
                && access.times.outstanding == 0
                && access.times.transfer > 0;
            if !begins || !is_done || self.facts.waited_at_once.contains_key(function) {
                continue;
            }
            let text = format!(
                "{function} moved its data before it returned ({}): it overlaps with nothing.",
                counted(access.calls, "call")
            );
            let finding = IoFinding::new("not_deferred", Sureness::Possible, access.ns, text);
            found.push(finding.with(&[("calls", access.calls)]).about(function));
        }
        found
    }
}
