//! The finding about waiting: who waits for whom, by pattern, call and culprit.

use analysis::performance::{PerformanceReport, WaitGroup};

use super::builder::FindingBuilder;
use super::summary::{FindingItem, TraceFinding};
use crate::base::units::{duration, percent};

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
}
