//! Findings about messages: how many and how large, and those that arrive before they are sent.

use super::builder::FindingBuilder;
use super::pass::DrawablePass;
use super::summary::{FindingItem, FindingTarget, TraceFinding};
use crate::base::units::{bytes, count, duration, percent};
use crate::trace::class::ActivityClass;

impl FindingBuilder<'_, '_> {
    pub(super) fn communication(&self) -> Option<TraceFinding> {
        let messages = &self.gathered.found.messages;
        let is_message = |kind: u32| self.class(kind) == ActivityClass::Message;
        let kinds = (0..self.trace.kinds().len() as u32).filter(|&kind| is_message(kind));
        let sent: u64 = kinds
            .clone()
            .map(|kind| self.gathered.bytes[kind as usize])
            .sum();
        let arrows: u64 = (self.gathered.found.categories.iter())
            .filter(|c| self.trace.kind(c.index).is_some_and(is_message))
            .map(|c| c.tally.count)
            .sum();
        if arrows == 0 {
            return None;
        }
        let about = self.approximately();
        let tiny: u64 = (messages.by_size.iter())
            .filter(|class| class.high < 64)
            .map(|class| class.volume.count)
            .sum();
        let mut items = Vec::new();
        let mut pairs = messages.by_pair.clone();
        pairs.retain(|pair| pair.from >= 0 && pair.to >= 0);
        pairs.sort_by_key(|pair| std::cmp::Reverse((pair.volume.bytes, pair.volume.count)));
        for pair in pairs.iter().take(3) {
            let lines = [pair.from, pair.to].map(|lane| self.line_of(lane as u32).unwrap_or(0));
            items.push(FindingItem {
                text: format!(
                    "{} to {}: {}",
                    self.label(lines[0]),
                    self.label(lines[1]),
                    count(pair.volume.count, "message")
                ),
                value: bytes(pair.volume.bytes),
                target: FindingTarget {
                    timelines: self.pinned("", &lines),
                    panel: "matrix".into(),
                    ..self.everywhere()
                },
            });
        }
        let mut sentence = format!("{about}{}", count(arrows, "message"));
        if self.gathered.exact {
            sentence.push_str(&format!(" with {}", bytes(sent)));
            if tiny > 0 {
                let share = tiny as f64 / arrows as f64;
                let tiny = format!("; {} of them are smaller than 64 bytes", percent(share));
                sentence.push_str(&tiny);
            }
        }
        sentence.push('.');
        Some(TraceFinding {
            id: "communication".into(),
            title: "Communication".into(),
            value: if self.gathered.exact {
                bytes(sent)
            } else {
                format!("{about}{arrows}")
            },
            sentence,
            from: "messages (arrows); collective calls have none".into(),
            items,
        })
    }

    pub(super) fn trouble(&self, pass: &DrawablePass) -> Option<TraceFinding> {
        let (_, _, worst) = pass.backward.first().copied()?;
        let items = pass.backward.iter().map(|&(line, reference, by)| {
            let (_, to) = reference.to.unwrap_or_default();
            FindingItem {
                text: format!("{} from {}", self.name(reference.kind), self.label(line)),
                value: duration(by),
                target: FindingTarget {
                    timelines: self.pinned("", &[line]),
                    sel: reference.to_string(),
                    ..self.around(to, reference.start)
                },
            }
        });
        Some(TraceFinding {
            id: "trouble".into(),
            title: "Trouble".into(),
            value: pass.backward_count.to_string(),
            sentence: format!(
                "{} before they were sent, by up to {}: the clocks differ by at least that.",
                match pass.backward_count {
                    1 => "1 message arrives".to_owned(),
                    more => format!("{more} messages arrive"),
                },
                duration(worst)
            ),
            from: "messages whose receive is earlier than their send".into(),
            items: items.collect(),
        })
    }
}
