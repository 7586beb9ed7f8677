//! The summary of a trace: where the time of the run went and what stands out, each finding with its place in the timeline.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The summary of a trace.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TraceSummary {
    /// Name of the trace.
    pub name: String,
    /// Ranks.
    pub ranks: usize,
    /// Threads of ranks.
    pub threads: usize,
    /// Hosts; 0 if the trace does not name them.
    pub nodes: usize,
    /// Seconds.
    pub duration: f64,
    /// Drawables.
    pub drawables: u64,
    /// Whether all was read. Otherwise numbers are from previews, and findings that need single drawables are missing.
    pub exact: bool,
    /// Whether an exact one is being made.
    pub pending: bool,
    /// Defects of the trace, such as lost calls.
    pub lost: Vec<String>,
    /// Time of all threads by class of activity, the largest share first.
    pub bar: Vec<TimeShare>,
    /// What stands above the picture; nothing if the trace has no ranks or no MPI calls, or has not been read in full.
    pub verdict: Option<RunVerdict>,
    /// Findings.
    #[serde(rename = "cards")]
    pub findings: Vec<TraceFinding>,
    /// The iterations of the main loop. They are kept with the summary but not sent with it: `moments` tells them.
    #[serde(default)]
    #[cfg_attr(test, ts(skip))]
    pub phases: PhaseMoments,
}

/// When the phases of a program were: the iterations of its main loop, of very many several in one phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseMoments {
    /// Iterations in a phase; 0 if there is no such loop.
    pub each: usize,
    /// Begin and end of each phase in seconds, in order.
    pub ranges: Vec<[f64; 2]>,
}

/// How well a run used its ranks, and what it lost most by. Shares are of the time of all ranks between MPI_Init and MPI_Finalize.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RunVerdict {
    /// Parallel efficiency: the product of the next three.
    pub parallel: f64,
    /// Mean of the computing times divided by the longest.
    pub load_balance: f64,
    /// Efficiency as far as ranks depend on each other.
    pub serialisation: f64,
    /// Efficiency as far as data has to move.
    pub transfer: f64,
    /// Share of waiting for other ranks.
    pub waiting: f64,
    /// Share of files.
    pub files: f64,
    /// The largest groups of waits.
    pub losses: Vec<TimeLoss>,
    /// How many groups there are.
    pub all_losses: usize,
    /// What each rank did; nothing if there are too many ranks to be looked at one by one.
    pub ranks: Vec<RankShares>,
    /// What the numbers are not about, a sentence each: the time after an early MPI_Finalize, threads other than the main ones, calls that
    /// may be missing. Not known of a summary that an earlier version kept.
    #[serde(default)]
    pub reservations: Vec<String>,
}

/// Shares of the time of a rank's main thread between MPI_Init and MPI_Finalize. The rest is MPI without waiting.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RankShares {
    /// The rank.
    pub rank: i32,
    /// Outside of MPI and of file operations.
    pub computing: f32,
    /// Waiting for other ranks.
    pub waiting: f32,
    /// File operations and MPI-IO.
    pub files: f32,
}

/// Waits of one kind, in one function, for one rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TimeLoss {
    /// Seconds of all that waited.
    pub seconds: f64,
    /// Share of the time of all ranks.
    pub share: f64,
    /// Number of waits.
    pub count: u64,
    /// Why, and in which function.
    pub what: String,
    /// Who waits for whom, and what that one was doing.
    pub who: String,
    /// Seconds in each of equal parts of the trace.
    pub over_time: Vec<f64>,
    /// Rank that most of it is due to in the end; not known of a summary that an earlier version kept.
    #[serde(default)]
    pub due_to: Option<i32>,
    /// Search that finds the calls that wait so.
    pub query: String,
    /// The longest of the waits.
    pub target: FindingTarget,
}

/// A part of the time.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TimeShare {
    /// Class.
    pub class: Cow<'static, str>,
    /// Seconds, without those of what is nested.
    pub seconds: f64,
    /// Share of the time of all threads.
    pub share: f64,
}

/// A finding.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TraceFinding {
    /// Subject of the finding: top, imbalance, waits, phases, io, communication, trouble.
    pub id: Cow<'static, str>,
    /// Title for people.
    pub title: Cow<'static, str>,
    /// The number.
    pub value: String,
    /// The finding in words.
    pub sentence: String,
    /// Calls that the finding is based on.
    pub from: String,
    /// Places to look at.
    pub items: Vec<FindingItem>,
}

/// A place to look at.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FindingItem {
    /// Description of the place.
    pub text: String,
    /// Value, with its unit.
    pub value: String,
    /// Target of the link.
    pub target: FindingTarget,
}

/// A place in the timeline.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FindingTarget {
    /// Seconds.
    pub t0: f64,
    /// Seconds.
    pub t1: f64,
    /// Spec of the timelines.
    pub timelines: String,
    /// Reference of the drawable that is to be selected, or nothing.
    pub sel: String,
    /// Panel to open, or nothing.
    pub panel: String,
}
