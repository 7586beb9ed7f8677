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
            "{} in {}: {} for {}, {} time{}",
            self.pattern.name(),
            self.call,
            match self.waiting {
                1 => rank(self.first.rank, self.first.thread) + " waits",
                number => format!("{number} ranks wait"),
            },
            rank(self.culprit, self.culprit_thread),
            self.count,
            if self.count == 1 { "" } else { "s" }
        );
        if self.cause_rank != self.culprit || self.cause_activity.is_some() {
            text.push_str(&format!(
                "; the cause is {}, {}",
                rank(self.cause_rank, 0),
                did(self.cause_activity.as_deref())
            ));
        }
        if self.pattern == WaitPattern::LateSender && self.wrong_order > 0.1 * self.seconds {
            text.push_str(&format!(
                "; {} of it in the wrong order: an earlier message was received later",
                percent(self.wrong_order / self.seconds)
            ));
        }
        text
    }
}

impl RootCauseSum {
    /// How much of so many seconds of waiting is due to the rank, and what it did: `90 % of the waiting is due to rank 3, which was computing.`
    pub fn words(&self, waiting: f64) -> String {
        format!(
            "{} of the waiting is due to {}, {}.",
            percent(self.seconds / waiting),
            rank(self.rank, self.thread),
            did(self.activity.as_deref())
        )
    }
}
