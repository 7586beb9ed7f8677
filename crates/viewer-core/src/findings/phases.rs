//! The finding about iterations: the call that begins them, and how long they are.

use super::builder::FindingBuilder;
use super::pass::DrawablePass;
use super::summary::{FindingItem, TraceFinding};
use crate::base::units::duration;

impl FindingBuilder<'_, '_> {
    pub(super) fn phases(&self, pass: &DrawablePass) -> Option<TraceFinding> {
        // The rarest call that comes regularly and all through the run marks the iterations.
        let regular = pass.rhythms.iter().filter(|(_, rhythm)| {
            rhythm.count >= 5
                && rhythm.deviation() < 0.5
                && rhythm.last - rhythm.first > 0.4 * self.all.duration()
        });
        let (&kind, rhythm) = regular.min_by_key(|(kind, rhythm)| (rhythm.count, **kind))?;
        let (from, to) = rhythm.longest;
        Some(TraceFinding {
            id: "phases".into(),
            title: "Phases".into(),
            value: format!("{} × {}", rhythm.count - 1, duration(rhythm.mean())),
            sentence: format!(
                "{} starts every {} on {}, {} times: the length of an iteration.",
                self.name(kind),
                duration(rhythm.mean()),
                self.label(0),
                rhythm.count
            ),
            from: format!("starts of {} on {}", self.name(kind), self.label(0)),
            items: vec![FindingItem {
                text: "longest iteration".into(),
                value: duration(to - from),
                target: self.around(from, to),
            }],
        })
    }
}
