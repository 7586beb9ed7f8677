//! In words, what a call waits for.

use super::call::AskedTag;
use super::collective::OperationNumber;
use super::deadlock::{RankEnd, WaitsFor};
use super::one_sided::WindowWait;
use super::pass::CorrectnessPass;
use super::report::{lines_of_ends, rank_list, ranks_in_words};
use std::collections::{BTreeMap, BTreeSet};

/// Parts that are named; the rest is counted.
const MAX_PARTS: usize = 4;

/// Lines that tell what ranks wait for; further ones are left out.
const MAX_LINES: usize = 100;

impl CorrectnessPass {
    /// What ranks wait for whose calls have not ended, a line for all that wait for the same in the same function. The calls of the ranks `met` need nobody
    /// any more.
    pub(super) fn waits_in_words(&self, met: &BTreeSet<u32>) -> Vec<String> {
        let mut by_wait: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (&rank, end) in &self.ends {
            let RankEnd::In(place, waits) = end else {
                continue;
            };
            let Some(awaited) = self.awaited_of(waits) else {
                continue;
            };
            let ranks = match operation_of(waits).filter(|_| !met.contains(&rank)) {
                Some(operation) => {
                    let missing = self.missing_ranks(operation);
                    format!("{} in ", ranks_in_words(&rank_list(missing)))
                }
                None => String::new(),
            };
            let is_over = met.contains(&rank) && is_known(waits) && !self.is_past_comparison(waits);
            let is_met = match is_over {
                true => ", which needs no other rank any more",
                false => "",
            };
            let function = self.name(place.function);
            let text = format!("in {function}, for {ranks}{awaited}{is_met}");
            by_wait.entry(text).or_default().push(rank);
        }
        let mut lines = lines_of_ends(by_wait);
        lines.truncate(MAX_LINES);
        lines
    }

    /// Whether a call waits for a collective operation whose calls do not belong together, or may not: one in which the ranks have made different calls or
    /// one has failed, or one after that.
    fn is_past_comparison(&self, waits: &WaitsFor) -> bool {
        let any = |parts: &[WaitsFor]| parts.iter().any(|part| self.is_past_comparison(part));
        match waits {
            &WaitsFor::Operation { comm, number } => {
                let operation = OperationNumber { comm, number };
                self.collectives.is_past_comparison(operation)
            }
            WaitsFor::All(parts) | WaitsFor::Any(parts) => any(parts),
            WaitsFor::AllThenAny(first, others) => any(first) || any(others),
            _ => false,
        }
    }

    /// Ranks of MPI_COMM_WORLD that have not come to a collective call.
    pub(super) fn missing_ranks(&self, operation: OperationNumber) -> Vec<u32> {
        let members = &self.comms[operation.comm.0 as usize].members;
        let missing = self.collectives.missing(operation);
        let world = |rank: u32| u32::try_from(*members.get(rank as usize)?).ok();
        missing.into_iter().filter_map(world).collect()
    }

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
            WaitsFor::Receive { comm, to, tag, .. } => {
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
            WaitsFor::OtherSide => {
                "processes outside of it, which the trace does not tell".to_owned()
            }
            WaitsFor::Window {
                window,
                wait,
                all,
                any,
            } => {
                let what = match wait {
                    WindowWait::Posts => "MPI_Win_post by",
                    WindowWait::Completions => "MPI_Win_complete by",
                    WindowWait::Locks => "a lock that is held by",
                };
                let ranks = if all.is_empty() { any } else { all };
                let ranks = ranks_in_words(&rank_list(ranks.iter().copied()));
                format!("{what} {ranks} on {}", self.comm_name(*window))
            }
            WaitsFor::All(parts) => self.awaited_parts(parts, " and ")?,
            WaitsFor::Any(parts) => self.awaited_parts(parts, " or ")?,
            WaitsFor::AllThenAny(first, others) => {
                self.awaited_parts(&[&first[..], others].concat(), " and ")?
            }
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

/// The collective operation that a call waits for, and no other one.
fn operation_of(waits: &WaitsFor) -> Option<OperationNumber> {
    match waits {
        &WaitsFor::Operation { comm, number } => Some(OperationNumber { comm, number }),
        WaitsFor::All(parts) => match &parts[..] {
            [own, WaitsFor::OtherSide] => operation_of(own),
            _ => None,
        },
        _ => None,
    }
}

/// Whether all that a call waits for is known.
fn is_known(waits: &WaitsFor) -> bool {
    match waits {
        WaitsFor::Nobody
        | WaitsFor::Message { .. }
        | WaitsFor::Receive { .. }
        | WaitsFor::Operation { .. }
        | WaitsFor::Window { .. } => true,
        WaitsFor::All(parts) => parts.iter().all(is_known),
        WaitsFor::AllThenAny(first, others) => first.iter().chain(others).all(is_known),
        WaitsFor::Any(_) | WaitsFor::Unknown | WaitsFor::OtherSide => false,
    }
}
