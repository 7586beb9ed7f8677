//! Findings about where the time went: the top categories, and ranks that compute longer than others.

use analysis::performance::PerformanceReport;
use std::collections::BTreeMap;

use super::builder::{FindingBuilder, MAX_ITEMS};
use super::pass::DrawablePass;
use super::summary::{FindingItem, FindingTarget, TraceFinding};
use crate::base::units::{count, duration, percent};
use crate::trace::class::ActivityClass;
use crate::trace::states::TraceState;

/// Ranks that compute longer than the mean by less than this share are not named.
const MIN_EXCESS: f64 = 0.02;

/// Time a thread computed, and the longest stretch of it with the call after it, if known.
struct ComputeTime {
    line: u32,
    seconds: f64,
    longest: Option<(f64, f64, TraceState)>,
}

impl FindingBuilder<'_, '_> {
    pub(super) fn top(&self) -> Option<TraceFinding> {
        // Every run starts and ends: that stands apart.
        let is_end = |kind: u32| {
            let name = self.name(kind);
            ["MPI_Init", "MPI_Init_thread", "MPI_Finalize"].contains(&name)
        };
        let (ends, times): (Vec<_>, Vec<_>) =
            self.times().into_iter().partition(|time| is_end(time.0));
        let all = self.gathered.found.span() * self.threads as f64;
        let share = |seconds: f64| if all > 0.0 { seconds / all } else { 0.0 };
        let first = times.first()?;
        let about = self.approximately();
        let mut items = Vec::new();
        for &(kind, time, calls, lane, most) in times.iter().take(MAX_ITEMS) {
            let mean = time / self.threads.max(1) as f64;
            let line = self.line_of(lane);
            let who = line.map_or_else(String::new, |line| self.label(line));
            let times = if mean > 0.0 { most / mean } else { 1.0 };
            items.push(FindingItem {
                text: format!(
                    "{}: {}, most on {who} ({times:.1} × the mean)",
                    self.name(kind),
                    count(calls, "call")
                ),
                value: format!("{about}{} ({})", duration(time), percent(share(time))),
                target: FindingTarget {
                    timelines: line.map_or_else(String::new, |line| self.pinned("", &[line])),
                    panel: "stats".into(),
                    ..self.everywhere()
                },
            });
        }
        if !ends.is_empty() {
            let time: f64 = ends.iter().map(|end| end.1).sum();
            let names: Vec<&str> = ends.iter().map(|end| self.name(end.0)).collect();
            items.push(FindingItem {
                text: format!("start-up and end: {}", names.join(", ")),
                value: format!("{about}{} ({})", duration(time), percent(share(time))),
                target: FindingTarget {
                    panel: "stats".into(),
                    ..self.everywhere()
                },
            });
        }
        Some(TraceFinding {
            id: "top".into(),
            title: "Top categories".into(),
            value: format!("{about}{}", percent(share(first.1))),
            sentence: format!(
                "{} takes the most time: {about}{} of {} total thread time.",
                self.name(first.0),
                duration(first.1),
                duration(all)
            ),
            from: "exclusive time of all states on ranks".into(),
            items,
        })
    }

    /// Compute times of the main threads of ranks, the longest first: those of the report, if there is one, in the time that it is about.
    fn computed(&self, found: Option<(&DrawablePass, &PerformanceReport)>) -> Vec<ComputeTime> {
        let mut all: Vec<ComputeTime> = match found {
            Some((pass, _)) => (self.ranks.keys())
                .filter_map(|&lane| (*pass.threads.get(lane as usize)?).as_ref())
                .map(|thread| ComputeTime {
                    line: thread.line,
                    seconds: thread.computing,
                    longest: thread.longest,
                })
                .collect(),
            None => self.computed_of_times(),
        };
        // Threads beside the main one may do nothing but compute, or wait for work outside of MPI.
        let lines = self.trace.lines();
        all.retain(|computed| lines[computed.line as usize].line.thread == 0);
        if let Some((_, report)) = found {
            let of_rank: BTreeMap<i32, f64> = (report.by_rank.iter())
                .map(|times| (times.rank, times.computing))
                .collect();
            let focus = &report.focus;
            all.retain_mut(|computed| {
                let rank = lines[computed.line as usize].line.rank;
                let is_within =
                    |&(from, to, _): &(f64, f64, TraceState)| focus.from <= from && to <= focus.to;
                computed.longest = computed.longest.filter(is_within);
                let seconds = of_rank.get(&rank).copied();
                computed.seconds = seconds.unwrap_or_default();
                seconds.is_some()
            });
        }
        all.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        all
    }

    /// Compute time of each rank, from the times in MPI calls as previews have them.
    fn computed_of_times(&self) -> Vec<ComputeTime> {
        let mut in_calls: BTreeMap<u32, f64> = self.ranks.keys().map(|&lane| (lane, 0.0)).collect();
        for cell in &self.gathered.found.cells {
            let lane = u32::try_from(cell.rank).ok();
            let kind = self.trace.kind(cell.category);
            if let (Some(seconds), Some(kind)) = (lane.and_then(|l| in_calls.get_mut(&l)), kind)
                && !matches!(self.class(kind), ActivityClass::User | ActivityClass::Other)
            {
                *seconds += cell.tally.exclusive.max(0.0);
            }
        }
        let span = self.gathered.found.span();
        (in_calls.into_iter())
            .filter_map(|(lane, seconds)| {
                Some(ComputeTime {
                    line: self.line_of(lane)?,
                    seconds: (span - seconds).max(0.0),
                    longest: None,
                })
            })
            .collect()
    }

    pub(super) fn imbalance(
        &self,
        found: Option<(&DrawablePass, &PerformanceReport)>,
    ) -> Option<TraceFinding> {
        let threads = self.computed(found);
        let mean = threads.iter().map(|t| t.seconds).sum::<f64>() / threads.len().max(1) as f64;
        let worst = threads
            .first()
            .filter(|_| threads.len() > 1 && mean > 0.0)?;
        let about = self.approximately();
        let more = worst.seconds / mean - 1.0;
        let mut items = Vec::new();
        for (nth, thread) in threads.iter().take(3).enumerate() {
            let more = thread.seconds / mean - 1.0;
            if nth > 0 && more < MIN_EXCESS {
                break;
            }
            let mut text = format!(
                "{} computes {about}{} longer than the mean",
                self.label(thread.line),
                percent(more),
            );
            let mut target = self.everywhere();
            if let Some((from, to, next)) = thread.longest {
                let before = self.name(next.kind);
                text.push_str(&format!(
                    "; the longest stretch takes {}, before {before}",
                    duration(to - from)
                ));
                target = self.around(from, next.end.min(to + (to - from)));
                target.sel = next.reference(self.trace);
            }
            items.push(FindingItem {
                text,
                value: format!("{about}{}", duration(thread.seconds)),
                target: FindingTarget {
                    timelines: self.pinned("sort:busy", &[thread.line]),
                    panel: "timelines".into(),
                    ..target
                },
            });
        }
        let mut sentence = format!(
            "{} computes {about}{} longer than the mean of all ranks ({} against {}).",
            self.label(worst.line),
            percent(more),
            duration(worst.seconds),
            duration(mean)
        );
        let mut from = "time outside of MPI calls on the main threads of ranks".to_owned();
        if let Some((_, report)) = found {
            sentence.push_str(&efficiency(report));
            if report.focus.is_between_init_and_finalize {
                from.push_str(", between MPI_Init and MPI_Finalize");
            }
        }
        Some(TraceFinding {
            id: "imbalance".into(),
            title: "Imbalance".into(),
            value: format!("{about}{}", percent(more)),
            sentence,
            from,
            items,
        })
    }
}

/// Efficiencies, and who the waits are due to, between MPI_Init and MPI_Finalize.
fn efficiency(report: &PerformanceReport) -> String {
    let found = &report.efficiencies;
    let mut text = format!(
        " Parallel efficiency {}: load balance {}, serialisation {}, transfer {}.",
        percent(found.parallel),
        percent(found.load_balance),
        percent(found.serialisation),
        percent(found.transfer)
    );
    if let Some(cause) = report.first_cause() {
        text.push_str(&format!(" {cause}"));
    }
    text
}
