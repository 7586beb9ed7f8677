//! What the analysis found: numbers with names, in the order of their weight.

use super::by_file::TimesOfFile;
use super::pairs::RankPairs;
use super::phases::ProgramPhases;
use super::span_times::{Efficiencies, SpanTimes};
use super::use_times::TimeByUse;
use super::wait::WaitPattern;
use serde::Serialize;
use std::collections::BTreeSet;

/// The analysis of a trace. Times are in seconds; shares and efficiencies are parts of 1.
#[derive(Clone, Debug, Serialize)]
pub struct PerformanceReport {
    /// The program, where the file tells.
    pub program: String,
    /// Number of ranks, of their threads, and of hosts (0 where the file does not name them).
    pub ranks: usize,
    /// Ranks that did not come to MPI_Finalize, in order: those of a run that was killed.
    pub not_finalized: Vec<i32>,
    /// Ranks that called MPI_Abort, in order.
    pub aborted: Vec<i32>,
    /// Calls that ranks were in when their recording ended, those of most ranks first.
    pub unfinished: Vec<UnfinishedCalls>,
    /// Seconds of the transfer of main threads that lie in such calls.
    pub in_unfinished: f64,
    /// Threads of all ranks.
    pub threads: usize,
    /// Hosts; 0 where the file does not name them.
    pub hosts: usize,
    /// Drawables of the trace.
    pub drawables: u64,
    /// MPI calls of the trace.
    pub calls: u64,
    /// Messages of the trace.
    pub messages: u64,
    /// Ends of messages that are not drawn, as their other ends are left out or not known.
    pub unmatched: u64,
    /// Bytes of the messages.
    pub message_bytes: u64,
    /// The range of time that all that follows is about.
    pub focus: FocusTimes,
    /// Time of all main threads in the focus by use.
    pub time: TimeByUse,
    /// Seconds of its computing in which calls may be missing: between calls of MPI_Pcontrol, or while polls were made that are not drawn.
    pub unseen: f64,
    /// Time of all threads in the focus by what they did, the longest first.
    pub activities: Vec<ActivityTime>,
    /// Efficiencies of the main threads of ranks.
    pub efficiencies: Efficiencies,
    /// Waits by pattern, call and culprit, the longest first.
    pub waits: Vec<WaitGroup>,
    /// Waits by the rank that they are due to in the end, the longest first.
    pub root_causes: Vec<RootCauseSum>,
    /// Seconds on the critical path by rank, the longest first.
    pub path_ranks: Vec<RankOnPath>,
    /// Seconds on the critical path by what was done, the longest first.
    pub path_activities: Vec<ActivityOnPath>,
    /// How long the focus would be under other assumptions.
    pub what_if: Vec<WhatIf>,
    /// Iterations of the program's main loop, where one was found.
    pub phases: Option<ProgramPhases>,
    /// Parts of the focus of equal length, in order, if they were wanted.
    pub over_time: Vec<SpanTimes>,
    /// By rank.
    pub by_rank: Vec<RankTimes>,
    /// By the innermost of the program's own states, the longest first.
    pub by_region: Vec<RegionTimes>,
    /// By communicator, the longest first.
    pub by_communicator: Vec<CommunicatorTimes>,
    /// By file, the longest first.
    pub by_file: Vec<TimesOfFile>,
    /// Messages and waits by pair of ranks.
    pub pairs: RankPairs,
    /// What the trace does not tell, in words.
    pub notes: Vec<String>,
}

/// Causes of so much of what the first one causes are no less to blame than that.
const ABOUT_AS_MUCH: f64 = 0.9;

impl PerformanceReport {
    /// Seconds in which threads waited, those other than the main ones with them.
    pub fn waiting_of_threads(&self) -> f64 {
        self.root_causes.iter().map(|cause| cause.seconds).sum()
    }

    /// The first of the root causes in a sentence.
    pub fn first_cause(&self) -> Option<String> {
        let (cause, others) = self.root_causes.split_first()?;
        let whose = match self.threads > self.ranks {
            true => " of all threads",
            false => "",
        };
        let told = cause.words(self.waiting_of_threads(), whose);
        let who = |cause: &RootCauseSum| (cause.rank, cause.thread);
        let alike = (others.iter())
            .take_while(|other| other.seconds >= ABOUT_AS_MUCH * cause.seconds)
            .map(who)
            .filter(|other| *other != who(cause));
        let alike = alike.collect::<BTreeSet<_>>().len();
        Some(match alike {
            0 => format!("{told}."),
            1 => format!("{told}; about as much is due to another one."),
            _ => format!("{told}; about as much is due to each of {alike} others."),
        })
    }
}

/// A function whose calls had not returned when recording ended.
#[derive(Clone, Debug, Serialize)]
pub struct UnfinishedCalls {
    /// Name of the function.
    pub function: String,
    /// Ranks that were in it, in order.
    pub ranks: Vec<i32>,
}

/// The range of time that is looked at.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FocusTimes {
    /// Begin in the time of the trace.
    pub from: f64,
    /// End in the time of the trace.
    pub to: f64,
    /// Length, without what is left out in between.
    pub seconds: f64,
    /// Number of its ranges: 1 unless something is left out in between.
    pub ranges: usize,
    /// From the begin of the trace to that of the focus.
    pub before: f64,
    /// From the end of the focus to that of the trace.
    pub after: f64,
    /// From the first end of MPI_Init to the last one, if the focus begins there; else 0.
    pub init_spread: f64,
    /// Whether it is the time between MPI_Init and MPI_Finalize; else it was chosen, or the trace has no such calls.
    pub is_between_init_and_finalize: bool,
}

/// Time that threads spent in one thing.
#[derive(Clone, Debug, Serialize)]
pub struct ActivityTime {
    /// A state's category; `None` is computing outside of any.
    pub activity: Option<String>,
    /// Number of states that reach into the focus.
    pub count: u64,
    /// Seconds in the focus, without those of what is nested.
    pub seconds: f64,
    /// Share of the time of all ranks.
    pub share: f64,
}

/// A call to look at.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PlaceInTrace {
    /// Rank that waits.
    pub rank: i32,
    /// Thread of the rank.
    pub thread: i32,
    /// Begin of the call, seconds: before that of the wait, and where a focus cuts the wait, before the focus.
    pub call_from: f64,
    /// Begin of the wait, seconds.
    pub from: f64,
    /// End of the wait, seconds.
    pub to: f64,
    /// Timeline of the call.
    pub line: i32,
}

/// Waits with the same pattern, call and culprit.
#[derive(Clone, Debug, Serialize)]
pub struct WaitGroup {
    /// Why ranks waited.
    pub pattern: WaitPattern,
    /// The function in which they waited.
    pub call: String,
    /// The name that the program has given to the communicator of all these calls; `None` where it has given none, or they are on several.
    pub communicator: Option<String>,
    /// Rank that was waited for.
    pub culprit: i32,
    /// Thread of the culprit.
    pub culprit_thread: i32,
    /// Seconds of all that waited.
    pub seconds: f64,
    /// Share of the time of all ranks.
    pub share: f64,
    /// Number of waits.
    pub count: u64,
    /// Threads that waited.
    pub waiting: u32,
    /// Ranks whose threads these are.
    pub waiting_ranks: u32,
    /// Of the seconds, those that are due to another rank, because the culprit waited itself.
    pub caused_elsewhere: f64,
    /// Of a late sender: seconds of waits in which a message that was sent earlier was received later.
    pub wrong_order: f64,
    /// The first such wait.
    pub first: PlaceInTrace,
    /// The longest such wait.
    pub longest: PlaceInTrace,
    /// Rank that most of it is due to in the end.
    pub cause_rank: i32,
    /// Thread of that rank.
    pub cause_thread: i32,
    /// What that rank did meanwhile: a state of the program, a file operation or an MPI call; `None` is computing outside of any.
    pub cause_activity: Option<String>,
}

/// Waits that are due to one rank in the end.
#[derive(Clone, Debug, Serialize)]
pub struct RootCauseSum {
    /// The rank.
    pub rank: i32,
    /// Thread of the rank.
    pub thread: i32,
    /// What it did meanwhile; `None` is computing outside of any state.
    pub activity: Option<String>,
    /// Seconds of all that waited.
    pub seconds: f64,
    /// Share of the time of all ranks.
    pub share: f64,
    /// Number of waits.
    pub count: u64,
}

/// A rank on the critical path.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RankOnPath {
    /// The rank.
    pub rank: i32,
    /// Thread of the rank.
    pub thread: i32,
    /// Seconds on the path.
    pub seconds: f64,
    /// Share of the path.
    pub share: f64,
}

/// What was done on the critical path.
#[derive(Clone, Debug, Serialize)]
pub struct ActivityOnPath {
    /// A state's category; `None` is computing outside of any.
    pub activity: Option<String>,
    /// Seconds on the path.
    pub seconds: f64,
    /// Share of the path.
    pub share: f64,
    /// Seconds that the main threads of ranks spend in it on average.
    pub mean: f64,
    /// Seconds on the path less that mean: what balancing it could save. 0 where it is less.
    pub imbalance_cost: f64,
}

/// A replay under another assumption.
#[derive(Clone, Debug, Serialize)]
pub struct WhatIf {
    /// The assumption, in words.
    pub assumption: String,
    /// How long the focus would be, seconds.
    pub seconds: f64,
    /// How many times as fast that is.
    pub speedup: f64,
}

/// Times of a rank's main thread in the focus.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RankTimes {
    /// The rank.
    pub rank: i32,
    /// Outside of MPI and of file operations.
    pub computing: f64,
    /// In MPI, with waits.
    pub mpi: f64,
    /// Waiting for other ranks.
    pub waiting: f64,
    /// In file operations and MPI-IO.
    pub files: f64,
    /// Time that others waited and that is due to this rank in the end.
    pub caused: f64,
}

/// Times of the main threads of all ranks in one of the program's own states, without those nested in it.
#[derive(Clone, Debug, Serialize)]
pub struct RegionTimes {
    /// The state; `None` is outside of any.
    pub region: Option<String>,
    /// Number of its states that reach into the focus; 0 of outside.
    pub count: u64,
    /// Share of the time of all ranks.
    pub share: f64,
    /// Time by use.
    pub time: TimeByUse,
}

/// Times of the main threads of all ranks in calls on one communicator.
#[derive(Clone, Debug, Serialize)]
pub struct CommunicatorTimes {
    /// Number in the trace; 0 is MPI_COMM_WORLD.
    pub communicator: i32,
    /// The name that the program has given it, if it has.
    pub name: Option<String>,
    /// Number of the communicator's ranks.
    pub ranks: u32,
    /// Number of calls of main threads.
    pub calls: u64,
    /// Share of the time of all ranks.
    pub share: f64,
    /// Time by use.
    pub time: TimeByUse,
    /// Messages that were sent on it in the focus; `None` if the trace does not tell which.
    pub messages: Option<u64>,
    /// Bytes of these messages; `None` if the size of one is not known, too.
    pub message_bytes: Option<u64>,
    /// Bytes that ranks gave to collective operations that they began on it in the focus, their own data for themselves included; `None` if a call does
    /// not tell them.
    pub collective_sent: Option<u64>,
    /// Bytes that ranks got from these operations; `None` if a call does not tell them.
    pub collective_received: Option<u64>,
}
