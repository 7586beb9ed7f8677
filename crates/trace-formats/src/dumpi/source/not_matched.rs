//! Messages of runs of which calls are missing that messages hang on: the n-th send of those that are there need not belong to the n-th receive, so
//! none is drawn of a rank whose file says that.

use super::messages::{MatchedMessage, MessageEnd};
use crate::clog2::annotations;
use std::collections::BTreeMap;
use trace_model::Losses;

/// The ends of messages that are not drawn.
#[derive(Debug, Default)]
pub(super) struct NotMatched {
    /// By line whether messages of its rank are left out, and the line's number of ends with the last one; empty if no file lacks calls.
    ends: BTreeMap<i32, LineEnds>,
}

#[derive(Clone, Copy, Debug, Default)]
struct LineEnds {
    lacks_messages: bool,
    count: u64,
    last: Option<MessageEnd>,
}

impl NotMatched {
    /// None so far. `lines` are those of threads, and whether calls are missing that messages of the rank hang on.
    pub(super) fn new(lines: impl Iterator<Item = (i32, bool)> + Clone) -> NotMatched {
        if lines.clone().all(|(_, lacks_messages)| !lacks_messages) {
            return NotMatched::default();
        }
        let ends = lines.map(|(line, lacks_messages)| {
            let ends = LineEnds {
                lacks_messages,
                ..LineEnds::default()
            };
            (line, ends)
        });
        NotMatched {
            ends: ends.collect(),
        }
    }

    /// Takes both ends of a message if it is not to be drawn. Gives whether that is so.
    pub(super) fn leaves_out(&mut self, message: &MatchedMessage) -> bool {
        let both = [message.send, message.receive];
        let mut lines = both.iter().map(|end| self.ends.get(&end.line));
        let is_left_out = lines.any(|line| line.is_some_and(|line| line.lacks_messages));
        if is_left_out {
            both.into_iter().for_each(|end| self.take(end));
        }
        is_left_out
    }

    /// Takes an end that is not drawn.
    pub(super) fn take(&mut self, end: MessageEnd) {
        if let Some(line) = self.ends.get_mut(&end.line) {
            line.count += 1;
            let is_later = line.last.is_none_or(|last| end.ns >= last.ns);
            line.last = if is_later { Some(end) } else { line.last };
        }
    }

    /// What is to be said: the last end of each line, and the text.
    pub(super) fn remarks(self, losses: &mut Losses) -> Vec<(MessageEnd, String)> {
        let all: u64 = self.ends.values().map(|line| line.count).sum();
        losses.add(
            "end of a message that is not drawn, as calls are missing that messages hang on",
            all,
        );
        let lines = self.ends.into_values();
        let told =
            lines.filter_map(|line| Some((line.last?, annotations::not_matched(line.count))));
        told.collect()
    }
}
