//! Figures of a span of time: uses of time and efficiencies.

use super::use_times::TimeByUse;
use serde::Serialize;

/// Efficiencies as the POP methodology defines them. Each is the product of those below it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Efficiencies {
    /// Mean of the computing times divided by the length of the focus.
    pub parallel: f64,
    /// Mean of the computing times divided by the longest.
    pub load_balance: f64,
    /// Longest computing time divided by the length of the focus.
    pub communication: f64,
    /// Longest computing time divided by the length of a replay in which data moves in no time.
    pub serialisation: f64,
    /// Length of that replay divided by the length of the focus.
    pub transfer: f64,
    /// Length of that replay, seconds.
    pub ideal_seconds: f64,
    /// The longest computing time, seconds, and its rank.
    pub longest_computing: f64,
    /// Rank with the longest computing time.
    pub longest_computing_rank: i32,
    /// Mean of the computing times, seconds.
    pub mean_computing: f64,
}

/// Figures of a span of time: a phase, or a part of the focus.
#[derive(Clone, Debug, Serialize)]
pub struct SpanTimes {
    /// Begin in the time of the trace.
    pub from: f64,
    /// End in the time of the trace.
    pub to: f64,
    /// Length, without gaps of the focus.
    pub seconds: f64,
    /// Time of the main threads of all ranks.
    pub time: TimeByUse,
    /// Efficiencies of the main threads of ranks.
    pub efficiencies: Efficiencies,
    /// Rank that most of the waiting is due to; `None` if nobody waits.
    pub cause_rank: Option<i32>,
    /// What that rank did meanwhile; `None` is computing outside of any state.
    pub cause_activity: Option<String>,
    /// Rank that the critical path is on for most of the span.
    pub path_rank: Option<i32>,
}
