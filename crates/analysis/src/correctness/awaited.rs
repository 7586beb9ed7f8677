//! In words, what a call waits for.

use super::call::AskedTag;
use super::deadlock::{RankEnd, WaitsFor};
use super::pass::CorrectnessPass;
use super::report::{rank_list, ranks_in_words};

/// Parts that are named; the rest is counted.
const MAX_PARTS: usize = 4;

impl CorrectnessPass {
    /// What the call waits for that a rank is in; `None` where that is not known.
    pub(super) fn awaited(&self, rank: u32) -> Option<String> {
        match self.ends.get(&rank)? {
            RankEnd::In(_, waits) => self.awaited_of(waits),
            RankEnd::Outside(_) => None,
        }
    }

    fn awaited_of(&self, waits: &WaitsFor) -> Option<String> {
        let with = |tag: AskedTag| tag.map_or(String::new(), |tag| format!(" with tag {tag}"));
        Some(match waits {
            WaitsFor::Nobody | WaitsFor::Unknown => return None,
            WaitsFor::Message {
                comm, from, tag, ..
            } => {
                let from = match from.len() {
                    1 => ranks_in_words(&rank_list(from.iter().copied())),
                    _ => "any rank".to_owned(),
                };
                let comm = self.comm_name(*comm);
                format!("a message from {from}{} on {comm}", with(*tag))
            }
            WaitsFor::Receive { comm, to, tag } => {
                let comm = self.comm_name(*comm);
                format!(
                    "a receive of its message to rank {to}{} on {comm}",
                    with(*tag)
                )
            }
            WaitsFor::Operation { comm, number } => {
                format!(
                    "collective call {} on {}",
                    number + 1,
                    self.comm_name(*comm)
                )
            }
            WaitsFor::All(parts) => self.awaited_parts(parts, " and ")?,
            WaitsFor::Any(parts) => self.awaited_parts(parts, " or ")?,
        })
    }

    fn awaited_parts(&self, parts: &[WaitsFor], between: &str) -> Option<String> {
        let known = parts.iter().filter_map(|part| self.awaited_of(part));
        let mut named: Vec<String> = known.take(MAX_PARTS).collect();
        if named.is_empty() {
            return None;
        }
        if parts.len() > MAX_PARTS {
            named.push(format!("{} more", parts.len() - MAX_PARTS));
        }
        Some(named.join(between))
    }
}
