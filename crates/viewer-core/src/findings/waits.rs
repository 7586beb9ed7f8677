//! The finding about waiting: who waits for whom, by pattern, call and culprit.

use analysis::performance::{PerformanceReport, WaitGroup};
use trace_formats::slog2::Topology;

use super::builder::FindingBuilder;
use super::summary::{FindingItem, FindingTarget, TraceFinding};
use crate::base::units::{duration, percent};
use crate::trace::reference::DrawableReference;

/// Groups of waits that are shown.
const MAX_GROUPS: usize = 10;

impl FindingBuilder<'_, '_> {
    pub(super) fn waits(&self, report: &PerformanceReport) -> Option<TraceFinding> {
        let longest = report.waits.first()?;
        let groups = report.waits.iter().take(MAX_GROUPS);
        Some(TraceFinding {
            id: "waits".into(),
            title: "Waits".into(),
            value: percent(report.time.share(report.time.waiting)),
            sentence: format!(
                "Ranks wait for others for {} of {}. The most: {}.",
                duration(report.time.waiting),
                duration(report.time.all),
                longest.words()
            ),
            from: "the part of each call in which its rank could do nothing but wait, between MPI_Init and MPI_Finalize".into(),
            items: groups.map(|group| self.wait_group(group)).collect(),
        })
    }

    /// A group, with its longest wait as the place to look at.
    fn wait_group(&self, group: &WaitGroup) -> FindingItem {
        FindingItem {
            text: group.words(),
            value: format!("{} ({})", duration(group.seconds), percent(group.share)),
            target: self.longest_wait(group),
        }
    }

    /// The longest wait of a group, with the ranks that are to blame on top.
    pub(super) fn longest_wait(&self, group: &WaitGroup) -> FindingTarget {
        let place = &group.longest;
        let ranks = [place.rank, group.culprit, group.cause_rank];
        let mut lines: Vec<u32> = self.trace.line(place.line).into_iter().collect();
        lines.extend(ranks.iter().filter_map(|&rank| self.line_of_rank(rank)));
        lines.dedup();
        let kinds = (0..).zip(self.trace.kinds());
        let mut kinds = kinds.filter(|(_, kind)| kind.category.topology == Topology::State);
        let reference = kinds
            .find(|(_, kind)| kind.name == group.call)
            .map(|(kind, _)| {
                let reference = DrawableReference {
                    line: place.line,
                    kind,
                    start: place.from,
                    to: None,
                    nth: 0,
                };
                reference.to_string()
            });
        FindingTarget {
            timelines: self.pinned("", &lines),
            sel: reference.unwrap_or_default(),
            ..self.around(place.from, place.to)
        }
    }

    /// A line of the main thread of a rank.
    fn line_of_rank(&self, rank: i32) -> Option<u32> {
        let lines = self.trace.lines();
        let at = lines
            .iter()
            .position(|line| line.line.rank == rank && line.line.thread == 0)?;
        u32::try_from(at).ok()
    }
}
