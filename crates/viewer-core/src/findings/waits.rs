//! Findings about waiting: the longest waits, and what they waited for.

use super::builder::FindingBuilder;
use super::causes::WaitPartner;
use super::pass::{CollectiveCall, DrawablePass, MAX_LONGEST};
use super::summary::{FindingItem, TraceFinding};
use crate::base::error::ApiError;
use crate::base::units::{count, duration};
use crate::trace::states::TraceState;

/// A call in which a rank waited.
struct WaitForPartner<'p> {
    /// The call, until the one that it waited for was there.
    state: TraceState,
    /// The collective call that it is part of.
    collective: Option<&'p CollectiveCall>,
    /// Whom it waited for.
    partner: WaitPartner,
}

impl FindingBuilder<'_, '_> {
    /// The calls that waited longest, with the collective call that they belong to and whom they waited for. The rest of such a
    /// call, in which data moves, is no wait; nor is a call of which nobody knows what it waited for.
    fn longest_waits<'p>(
        &self,
        pass: &'p DrawablePass,
    ) -> Result<Vec<WaitForPartner<'p>>, ApiError> {
        let mut waits = Vec::new();
        for (state, key) in &pass.waits {
            let collective = key.and_then(|key| pass.collective(key));
            let partner = match collective {
                Some(collective) => Some(WaitPartner {
                    line: collective.last.line,
                    did: "came last",
                    until: collective.last.start,
                })
                // A rank that has left does not wait for those that arrive then.
                .filter(|last| last.line != state.line && last.until < state.end),
                None => self.causes.partner(state)?,
            };
            if let Some(partner) = partner.filter(|partner| partner.until > state.start) {
                let end = partner.until.min(state.end);
                waits.push(WaitForPartner {
                    state: TraceState { end, ..*state },
                    collective,
                    partner,
                });
            }
        }
        waits.sort_by(|a, b| b.state.duration().total_cmp(&a.state.duration()));
        waits.truncate(MAX_LONGEST);
        Ok(waits)
    }

    pub(super) fn waits(&self, pass: &DrawablePass) -> Result<Option<TraceFinding>, ApiError> {
        let waits = self.longest_waits(pass)?;
        let Some(longest) = waits.first().map(|wait| wait.state) else {
            return Ok(None);
        };
        let mut items = Vec::new();
        let mut because = String::new();
        for (nth, found) in waits.iter().enumerate() {
            let (wait, collective, partner) = (&found.state, found.collective, &found.partner);
            let mut lines = vec![wait.line];
            let mut text = format!("{} on {}", self.name(wait.kind), self.label(wait.line));
            if let Some(others) = collective
                .map(|m| m.waiting.saturating_sub(1))
                .filter(|&n| n > 0)
            {
                text.push_str(&format!(" and {}", count(others.into(), "other")));
            }
            lines.push(partner.line);
            let mut why = format!("{} {}", self.label(partner.line), partner.did);
            if let Some((own, last)) = self.causes.behind(partner, wait.start)? {
                lines.push(last.line);
                why.push_str(&format!(
                    ", waiting itself in {} as {} {}",
                    self.name(own.kind),
                    self.label(last.line),
                    last.did
                ));
            }
            if nth == 0 {
                because = format!("; {why}");
            }
            text.push_str(&format!(": {why}"));
            items.push(FindingItem {
                text,
                value: duration(wait.duration()),
                target: self.at(wait, &lines),
            });
        }
        Ok(Some(TraceFinding {
            id: "waits".into(),
            title: "Longest waits".into(),
            value: duration(longest.duration()),
            sentence: format!(
                "The longest: {} on {}{because}.",
                self.name(longest.kind),
                self.label(longest.line)
            ),
            from: "point-to-point, wait and blocking collective calls, each from its start until the awaited rank arrived or its message was sent; that rank came last, or sent the last of the messages that the call received".into(),
            items,
        }))
    }
}
