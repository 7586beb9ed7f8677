//! Wait states: patterns, and their sums by pattern, call and culprit.

use super::cause_sums::{CauseSums, CausesOfWait};
use super::history::RootCause;
use serde::Serialize;
use trace_model::hash::Map;

/// Why a rank waited: the wait states of `docs/user/report.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitPattern {
    /// A message was sent after the call that receives it had begun.
    LateSender,
    /// A message was received after the call that sends it had begun, and the call did not end before.
    LateReceiver,
    /// Ranks came late to a barrier.
    Barrier,
    /// Ranks came late to a collective call in which everyone needs everyone.
    NxN,
    /// The root came late to a collective call in which everyone needs it.
    LateBroadcast,
    /// The root came early to a collective call in which it needs everyone.
    EarlyReduce,
    /// A rank came earlier than lower ones to a scan.
    EarlyScan,
    /// Ranks came late to a call that makes a communicator.
    Communicator,
    /// Ranks came late to a collective call of MPI-IO.
    FileCollective,
    /// Ranks came late to a collective call of one-sided communication.
    Window,
    /// A target came late to let others access its window.
    LatePost,
    /// An origin came late to the end of its accesses to a window.
    LateComplete,
    /// Another rank had the lock of a window.
    LockContention,
}

impl WaitPattern {
    /// All of them; numbers of patterns in files are places in this list.
    pub const ALL: [WaitPattern; 13] = [
        WaitPattern::LateSender,
        WaitPattern::LateReceiver,
        WaitPattern::Barrier,
        WaitPattern::NxN,
        WaitPattern::LateBroadcast,
        WaitPattern::EarlyReduce,
        WaitPattern::EarlyScan,
        WaitPattern::Communicator,
        WaitPattern::FileCollective,
        WaitPattern::Window,
        WaitPattern::LatePost,
        WaitPattern::LateComplete,
        WaitPattern::LockContention,
    ];

    /// Name for people.
    pub fn name(self) -> &'static str {
        match self {
            WaitPattern::LateSender => "late sender",
            WaitPattern::LateReceiver => "late receiver",
            WaitPattern::Barrier => "wait at barrier",
            WaitPattern::NxN => "wait at N×N",
            WaitPattern::LateBroadcast => "late broadcast",
            WaitPattern::EarlyReduce => "early reduce",
            WaitPattern::EarlyScan => "early scan",
            WaitPattern::Communicator => "wait for a communicator",
            WaitPattern::FileCollective => "wait at collective I/O",
            WaitPattern::Window => "wait at a window",
            WaitPattern::LatePost => "late post",
            WaitPattern::LateComplete => "late complete",
            WaitPattern::LockContention => "lock contention",
        }
    }
}

/// What a wait has to know of its call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CallPlace {
    pub lane: u32,
    /// The number by which vertices name its timeline.
    pub line: i32,
    /// When the call began, in the focus or before it.
    pub start: f64,
    /// Place of its communicator among those of the trace.
    pub comm: u32,
    /// The program's own state in which it was called.
    pub region: Option<u32>,
    pub category: u32,
}

/// A wait of a rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub pattern: WaitPattern,
    pub category: u32,
    pub lane: u32,
    /// Timeline of the call.
    pub line: i32,
    /// Place of the call's communicator among those of the trace.
    pub comm: u32,
    /// When the call began, in the focus or before it.
    pub start: f64,
    /// From when to when, seconds.
    pub from: f64,
    pub to: f64,
    /// How much of that is in the focus.
    pub seconds: f64,
    /// Lane of the rank that was waited for.
    pub culprit: u32,
    /// Of a late sender: whether a message that was sent earlier was received later.
    pub is_wrong_order: bool,
}

/// What waits are summed up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct WaitKey {
    pub pattern: WaitPattern,
    pub category: u32,
    pub culprit: u32,
}

/// Waits with one key.
#[derive(Clone, Debug)]
pub(super) struct WaitSum {
    pub seconds: f64,
    pub count: u64,
    pub wrong_order: f64,
    /// Part of the time in which the culprit waited itself for another rank.
    pub caused_elsewhere: f64,
    /// Whether all of them are in calls on the communicator of the first.
    pub is_on_one_comm: bool,
    /// The first and the longest one.
    pub first: Wait,
    pub longest: Wait,
    /// Seconds by root cause, as far as there is room.
    causes: CauseSums<MAX_CAUSES>,
    /// Lanes that waited, one bit each.
    lanes: Vec<u64>,
}

impl WaitSum {
    /// The root cause of most of it.
    pub(super) fn cause(&self) -> Option<RootCause> {
        self.causes.longest()
    }

    /// The threads that waited.
    pub(super) fn lanes(&self) -> impl Iterator<Item = u32> {
        let words = (0..).zip(&self.lanes);
        words.flat_map(|(nth, bits)| {
            (0..u64::BITS)
                .filter(move |bit| bits >> bit & 1 == 1)
                .map(move |bit| nth * u64::BITS + bit)
        })
    }
}

/// Root causes that are kept of a group.
const MAX_CAUSES: usize = 32;
/// Groups of waits that are kept; what comes later with another key is only counted.
const MAX_GROUPS: usize = 1 << 16;

/// Sums of waits.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitSums {
    pub by_key: Map<WaitKey, WaitSum>,
    /// Seconds and number of waits by root cause.
    pub by_cause: Map<RootCause, (f64, u64)>,
    /// Number of waits that are in no group.
    pub ungrouped: u64,
}

impl WaitSums {
    /// Adds a wait with its causes, which add up to it.
    pub(super) fn add(&mut self, wait: &Wait, causes: &CausesOfWait) {
        let seconds = wait.seconds;
        for &(cause, seconds) in causes.sums() {
            if self.by_cause.len() < MAX_GROUPS || self.by_cause.contains_key(&cause) {
                let (sum, count) = self.by_cause.entry(cause).or_default();
                *sum += seconds;
                *count += 1;
            }
        }
        let key = WaitKey {
            pattern: wait.pattern,
            category: wait.category,
            culprit: wait.culprit,
        };
        if self.by_key.len() >= MAX_GROUPS && !self.by_key.contains_key(&key) {
            self.ungrouped += 1;
            return;
        }
        let sum = self.by_key.entry(key).or_insert_with(|| WaitSum {
            seconds: 0.0,
            count: 0,
            wrong_order: 0.0,
            caused_elsewhere: 0.0,
            is_on_one_comm: true,
            first: *wait,
            longest: *wait,
            causes: CauseSums::default(),
            lanes: Vec::new(),
        });
        sum.seconds += seconds;
        sum.count += 1;
        sum.is_on_one_comm &= wait.comm == sum.first.comm;
        if wait.is_wrong_order {
            sum.wrong_order += seconds;
        }
        for &(cause, seconds) in causes.sums() {
            if cause.lane != wait.culprit {
                sum.caused_elsewhere += seconds;
            }
            sum.causes.add(cause, seconds);
        }
        if sum.longest.seconds < seconds {
            sum.longest = *wait;
        }
        let (word, bit) = (wait.lane as usize / 64, wait.lane % 64);
        if sum.lanes.len() <= word {
            sum.lanes.resize(word + 1, 0);
        }
        sum.lanes[word] |= 1 << bit;
    }
}
