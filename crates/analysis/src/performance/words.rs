//! What was found, in words.

use super::report::{RootCauseSum, WaitGroup};
use super::wait::WaitPattern;
use trace_model::units::percent;

/// A rank, or one of its threads other than the main one: `rank 3`, `rank 3 thread 1`.
pub fn rank(rank: i32, thread: i32) -> String {
    match thread {
        0 => format!("rank {rank}"),
        _ => format!("rank {rank} thread {thread}"),
    }
}

/// What a rank was doing while others waited for it: computing, or in this state.
pub fn did(activity: Option<&str>) -> String {
    match activity {
        None => "which was computing".to_owned(),
        Some(name) => format!("which was in {name}"),
    }
}

impl WaitGroup {
    /// The group in words, without its seconds.
    pub fn words(&self) -> String {
        let mut text = format!(
            "{}: {}, {} time{}",
            self.what(),
            self.who_waits(),
            self.count,
            if self.count == 1 { "" } else { "s" }
        );
        if let Some(cause) = self.cause() {
            text.push_str(&format!("; the cause is {cause}"));
        }
        if self.pattern == WaitPattern::LateSender && self.wrong_order > 0.1 * self.seconds {
            text.push_str(&format!(
                "; {} of it in the wrong order: an earlier message was received later",
                percent(self.wrong_order / self.seconds)
            ));
        }
        text
    }

    /// Why, and in which function: `late sender in MPI_Recv`.
    pub fn what(&self) -> String {
        format!("{} in {}", self.pattern.name(), self.call)
    }

    /// Who waits for whom, and what that one was doing: `3 ranks wait for rank 0, which was in assemble`.
    pub fn who(&self) -> String {
        let waits = self.who_waits();
        match self.cause() {
            Some(_) if self.cause_rank == self.culprit => {
                format!("{waits}, {}", did(self.cause_activity.as_deref()))
            }
            Some(cause) => format!("{waits}; the cause is {cause}"),
            None => waits,
        }
    }

    fn who_waits(&self) -> String {
        let waiting = match self.waiting {
            1 => rank(self.first.rank, self.first.thread) + " waits",
            number => format!("{number} ranks wait"),
        };
        let culprit = rank(self.culprit, self.culprit_thread);
        format!("{waiting} for {culprit}")
    }

    /// The rank that most of it is due to and what it did, if that says more than the culprit does.
    fn cause(&self) -> Option<String> {
        let is_told = self.cause_rank != self.culprit || self.cause_activity.is_some();
        is_told.then(|| {
            let did = did(self.cause_activity.as_deref());
            format!("{}, {did}", rank(self.cause_rank, 0))
        })
    }
}

impl RootCauseSum {
    /// How much of so many seconds of waiting is due to the rank, and what it did: `90 % of the waiting is due to rank 3, which was computing.`
    /// `whose` may say whose waiting it is.
    pub(super) fn words(&self, waiting: f64, whose: &str) -> String {
        format!(
            "{} of the waiting{whose} is due to {}, {}.",
            percent(self.seconds / waiting),
            rank(self.rank, self.thread),
            did(self.activity.as_deref())
        )
    }
}
