//! What stands above the picture: how well the run used its ranks, and what it lost most by, over time.

use analysis::performance::{CallWait, PerformanceReport, WaitGroup, WaitPattern, WaitsOfCalls};
use std::collections::HashMap;
use trace_formats::slog2::TimeBBox;

use super::places::TracePlaces;
use super::summary::{RankShares, RunVerdict, TimeLoss};
use crate::search::language::quoted;

/// Losses that are named.
const MAX_LOSSES: usize = 10;
/// Ranks that are told one by one.
const MAX_RANKS: usize = 1024;
/// Parts of the time in which a loss is counted.
const PARTS: usize = 48;

/// What makes waits one loss: why, number of the call's category, rank and thread of the culprit.
type LossKey = (WaitPattern, i32, i32, i32);

impl TracePlaces<'_, '_> {
    /// The verdict, with losses over the time of a window; `None` for a trace without ranks or without MPI calls, of which there is nothing to say.
    pub(super) fn verdict(
        &self,
        report: &PerformanceReport,
        waits: Option<&WaitsOfCalls>,
        window: TimeBBox,
    ) -> Option<RunVerdict> {
        if report.ranks == 0 || report.calls == 0 {
            return None;
        }
        let found = &report.efficiencies;
        let groups: Vec<&WaitGroup> = report.waits.iter().take(MAX_LOSSES).collect();
        let over_time = self.over_time(&groups, waits, window);
        let mut lines = self.trace.lines().iter();
        let has_threads = lines.any(|line| line.line.thread != 0);
        let losses = groups
            .iter()
            .zip(over_time)
            .map(|(group, over_time)| TimeLoss {
                seconds: group.seconds,
                share: group.share,
                count: group.count,
                what: group.what(),
                who: group.who(),
                over_time,
                due_to: Some(group.cause_rank),
                query: query_of(group, has_threads),
                target: self.longest_wait(group),
            });
        Some(RunVerdict {
            parallel: found.parallel,
            load_balance: found.load_balance,
            serialisation: found.serialisation,
            transfer: found.transfer,
            waiting: report.time.share(report.time.waiting),
            files: report.time.share(report.time.files),
            losses: losses.collect(),
            all_losses: report.waits.len(),
            ranks: ranks(report),
            reservations: report.reservations(),
        })
    }

    /// Seconds of each group in equal parts of a window.
    fn over_time(
        &self,
        groups: &[&WaitGroup],
        waits: Option<&WaitsOfCalls>,
        window: TimeBBox,
    ) -> Vec<Vec<f64>> {
        let mut parts = vec![vec![0.0; PARTS]; groups.len()];
        let Some(waits) = waits else {
            return parts;
        };
        let mut places: HashMap<LossKey, Option<usize>> = HashMap::new();
        for wait in &waits.waits {
            let place = *places
                .entry(key(wait))
                .or_insert_with(|| groups.iter().position(|group| self.is_of(wait, group)));
            if let Some(parts) = place.and_then(|place| parts.get_mut(place)) {
                spread(
                    parts,
                    (wait.from, wait.to),
                    (window.earliest, window.latest),
                );
            }
        }
        parts
    }

    /// Whether a wait is one of a group.
    fn is_of(&self, wait: &CallWait, group: &WaitGroup) -> bool {
        let call = self.trace.kind(wait.category);
        wait.pattern == group.pattern
            && (wait.culprit.rank, wait.culprit.thread) == (group.culprit, group.culprit_thread)
            && call.is_some_and(|kind| self.name(kind) == group.call)
    }
}

/// The search that finds the calls of a group. Of a trace in which ranks have several threads it names that of the culprit.
fn query_of(group: &WaitGroup, has_threads: bool) -> String {
    let name = quoted(&group.call);
    let pattern = group.pattern.name();
    let thread = match has_threads {
        true => format!(".{}", group.culprit_thread),
        false => String::new(),
    };
    format!(
        "category:{name} wait:\"{pattern}\" waitsfor:{}{thread}",
        group.culprit
    )
}

/// Shares of each rank, rounded to thousandths.
fn ranks(report: &PerformanceReport) -> Vec<RankShares> {
    let share = |seconds: f64| {
        let share = seconds / report.focus.seconds.max(f64::MIN_POSITIVE);
        (share * 1000.0).round() as f32 / 1000.0
    };
    if report.ranks > MAX_RANKS {
        return Vec::new();
    }
    let ranks = report.by_rank.iter().map(|times| RankShares {
        rank: times.rank,
        computing: share(times.computing),
        waiting: share(times.waiting),
        files: share(times.files),
    });
    ranks.collect()
}

fn key(wait: &CallWait) -> LossKey {
    let culprit = &wait.culprit;
    (wait.pattern, wait.category, culprit.rank, culprit.thread)
}

/// Adds a stretch of time to equal parts of another.
fn spread(parts: &mut [f64], (from, to): (f64, f64), (first, behind): (f64, f64)) {
    let length = (behind - first) / parts.len() as f64;
    if length <= 0.0 {
        return;
    }
    let nth = |time: f64| (((time - first) / length) as usize).min(parts.len() - 1);
    let (skipped, last) = (nth(from), nth(to));
    for (at, part) in parts.iter_mut().enumerate().take(last + 1).skip(skipped) {
        let (begin, end) = (first + at as f64 * length, first + (at + 1) as f64 * length);
        *part += f64::max(0.0, to.min(end) - from.max(begin));
    }
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn a_wait_is_spread_over_the_parts_that_it_lies_in() {
        let mut parts = [0.0; 4];
        spread(&mut parts, (1.5, 3.25), (0.0, 4.0));
        spread(&mut parts, (3.5, 4.0), (0.0, 4.0));
        assert_eq!(parts, [0.0, 0.5, 1.0, 0.75]);
        spread(&mut parts, (1.0, 1.0), (1.0, 1.0));
        assert_eq!(parts, [0.0, 0.5, 1.0, 0.75]);
    }
}
