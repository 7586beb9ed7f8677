//! What the checks have found, for people and programs.

use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Kinds of findings, most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Ranks wait for each other, or for one that has ended.
    Deadlock,
    /// Ranks make different collective calls on one communicator.
    CollectiveOrder,
    /// A rank did not come to a collective call.
    CollectiveMissing,
    /// Ranks pass different roots to one collective call.
    CollectiveRoot,
    /// Ranks pass different reduction operations to one collective call.
    CollectiveOperation,
    /// Ranks pass data of different sizes to one collective call.
    CollectiveSize,
    /// A message is larger than the room for it.
    Truncation,
    /// A call returned an error.
    FailedCall,
    /// A call returned success, and a write to the file in it failed.
    FailedWrite,
    /// A message was sent and never received.
    UnreceivedMessage,
    /// An object was made and never freed.
    Leak,
}

impl FindingKind {
    /// All kinds.
    pub const ALL: [FindingKind; 11] = [
        FindingKind::Deadlock,
        FindingKind::CollectiveOrder,
        FindingKind::CollectiveMissing,
        FindingKind::CollectiveRoot,
        FindingKind::CollectiveOperation,
        FindingKind::CollectiveSize,
        FindingKind::Truncation,
        FindingKind::FailedCall,
        FindingKind::FailedWrite,
        FindingKind::UnreceivedMessage,
        FindingKind::Leak,
    ];

    /// Name for people.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Deadlock => "deadlock",
            FindingKind::CollectiveOrder => "different collective calls",
            FindingKind::CollectiveMissing => "missing collective call",
            FindingKind::CollectiveRoot => "different roots",
            FindingKind::CollectiveOperation => "different operations",
            FindingKind::CollectiveSize => "different sizes",
            FindingKind::Truncation => "message truncated",
            FindingKind::FailedCall => "failed call",
            FindingKind::FailedWrite => "failed write",
            FindingKind::UnreceivedMessage => "message never received",
            FindingKind::Leak => "never freed",
        }
    }
}

/// A call that a finding is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FoundCall {
    /// Ranks in MPI_COMM_WORLD that did so, as `0-2,5`.
    pub ranks: String,
    /// The first of them.
    pub rank: u32,
    /// Thread of that one.
    pub thread: u32,
    /// The function.
    pub function: String,
    /// Begin of the first of the calls, seconds in the time of the trace.
    pub time: f64,
    /// Root that was passed.
    pub root: Option<i32>,
    /// Reduction operation that was passed.
    pub operation: Option<String>,
    /// Bytes of data that were passed, sent, or that there was room for.
    pub bytes: Option<u64>,
    /// Bytes that all ranks together send in the collective operation, where that is not what they expect.
    pub sent: Option<u64>,
    /// Bytes that all ranks together expect then.
    pub expected: Option<u64>,
    /// Ranks in MPI_COMM_WORLD that the call waits for, as `0-2,5`.
    pub waits_for: Option<String>,
    /// The message, receive or collective call that it waits for, in words.
    pub awaited: Option<String>,
    /// Seconds that the call has been running, where it has not ended.
    pub running: Option<f64>,
}

/// Something that is wrong with the program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Kind.
    pub kind: FindingKind,
    /// What is wrong, in words.
    pub message: String,
    /// Communicator that it is about.
    pub communicator: Option<String>,
    /// Number of the collective call on the communicator, from 1.
    pub number: Option<u64>,
    /// Kind of object that was not freed.
    pub object: Option<&'static str>,
    /// Tag of the message.
    pub tag: Option<i32>,
    /// Error code.
    pub error: Option<i64>,
    /// How often it was found.
    pub count: u64,
    /// The calls; of a deadlock, those of the circle in the order of who waits for whom.
    pub calls: Vec<FoundCall>,
}

/// The checks that were made of a trace, and what they found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CorrectnessReport {
    /// Number of ranks.
    pub ranks: u32,
    /// Calls that were looked at.
    pub calls: u64,
    /// Collective operations whose calls were compared.
    pub operations: u64,
    /// Messages of which both ends were found.
    pub messages: u64,
    /// What is wrong, most severe first.
    pub findings: Vec<Finding>,
    /// What ranks are in that have not come to MPI_Finalize, or how they ended, in words; empty where the trace does not tell.
    pub ends: Vec<String>,
    /// What ranks wait for whose calls have not ended, in words, where nobody is stuck; empty where the trace does not tell.
    pub waits: Vec<String>,
    /// What was not checked, and why, in words.
    pub not_checked: Vec<String>,
}

/// How a rank ended that called MPI_Abort, in words.
pub const CALLED_ABORT: &str = "called MPI_Abort";

/// What a rank ended in that was in calls of these functions, in words.
pub fn end_in_words(functions: &[&str]) -> String {
    match functions.is_empty() {
        true => "ended outside of MPI calls".to_owned(),
        false => format!("ended in {}", functions.join(", ")),
    }
}

/// What ranks are in at the end, or how they ended, as [`CorrectnessReport::ends`] has it: a line for all that are alike, in the order of their
/// first ranks. `by_end` has the ranks of each end.
pub fn lines_of_ends(by_end: BTreeMap<String, Vec<u32>>) -> Vec<String> {
    let mut lines: Vec<(u32, String)> = by_end
        .into_iter()
        .filter_map(|(end, mut ranks)| {
            ranks.sort_unstable();
            let first = *ranks.first()?;
            let ranks = ranks_in_words(&rank_list(ranks));
            Some((first, format!("{ranks}: {end}")))
        })
        .collect();
    lines.sort();
    lines.into_iter().map(|(_, line)| line).collect()
}

/// Ranks that a set holds; the others are only counted.
const MAX_RANKS: usize = 1 << 14;

/// A set of ranks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RankSet {
    ranks: BTreeSet<u32>,
}

impl RankSet {
    pub(super) fn insert(&mut self, rank: u32) {
        if self.ranks.len() < MAX_RANKS {
            self.ranks.insert(rank);
        }
    }
}

impl std::fmt::Display for RankSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&rank_list(self.ranks.iter().copied()))
    }
}

/// Runs of ranks that a list names; the rest is counted.
const MAX_RUNS: usize = 16;

/// Ranks in ascending order as `0-2,5`.
pub fn rank_list(ranks: impl IntoIterator<Item = u32>) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for rank in ranks {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(rank) => *last = rank,
            _ => runs.push((rank, rank)),
        }
    }
    let mut text = String::new();
    for (first, last) in runs.iter().take(MAX_RUNS) {
        let comma = if text.is_empty() { "" } else { "," };
        // Writing to a String cannot fail.
        let _ = match first == last {
            true => write!(text, "{comma}{first}"),
            false => write!(text, "{comma}{first}-{last}"),
        };
    }
    if runs.len() > MAX_RUNS {
        text.push_str(",…");
    }
    text
}

/// `rank 3` or `ranks 0-2,5`, of a list as [`rank_list`] gives it.
pub fn ranks_in_words(list: &str) -> String {
    match list.contains([',', '-']) {
        true => format!("ranks {list}"),
        false => format!("rank {list}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_listed_in_runs() {
        assert_eq!(rank_list([0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
        assert_eq!(rank_list([]), "");
        assert_eq!(ranks_in_words("3"), "rank 3");
        assert_eq!(ranks_in_words("0-2,5"), "ranks 0-2,5");
        let many = rank_list((0..100).map(|nth| nth * 2));
        assert!(many.ends_with(",…") && many.len() < 80, "{many}");
    }
}
