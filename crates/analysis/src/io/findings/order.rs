//! Accesses here and there in a file.

use super::{Evidence, FEW, IoFinding, LARGE, Sureness, counted};
use crate::io::pattern::Part;
use trace_model::units::bytes;

/// Three in ten: below that, what is read ahead or gathered for the others pays.
const RANDOM_PERCENT: u64 = 30;

impl Evidence<'_> {
    pub(super) fn order(&self) -> Vec<IoFinding> {
        let mut found = Vec::new();
        for writes in [false, true] {
            let (mut all, mut random, mut strided) =
                (Part::default(), Part::default(), Part::default());
            let patterns = self.report.accesses.patterns.iter();
            for (_, pattern) in patterns.filter(|((_, _, w), _)| *w == writes) {
                all.join(&pattern.all);
                random.join(&pattern.random);
                strided.join(&pattern.strided);
            }
            let is_much = random.calls >= FEW && random.calls * 100 >= all.calls * RANDOM_PERCENT;
            if !is_much || random.bytes / random.calls >= LARGE {
                continue;
            }
            let what = if writes { "write" } else { "read" };
            let text = format!(
                "{} of {} of {} on average are here and there in the file: no one behind the one before, nor at an equal distance. \
                 Neither a disk nor read-ahead can follow.",
                random.calls,
                counted(all.calls, &format!("independent {what}")),
                bytes(random.bytes / random.calls)
            );
            let name = if writes {
                "random_writes"
            } else {
                "random_reads"
            };
            let finding = IoFinding::new(name, Sureness::Likely, random.ns, text);
            found.push(finding.with(&[
                ("random", random.calls),
                ("strided", strided.calls),
                ("accesses", all.calls),
                ("bytes", random.bytes),
            ]));
        }
        found
    }
}
