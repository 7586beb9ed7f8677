//! What was found, in words.

use super::report::{PerformanceReport, RootCauseSum, WaitGroup};
use super::wait::WaitPattern;
use crate::correctness::{rank_list, ranks_in_words};
use trace_model::units::{duration, percent};

/// Functions that are named of those whose calls had not returned.
const MAX_UNFINISHED: usize = 3;
/// Parts of the time that are smaller than this need no attention.
const MIN_SHARE: f64 = 0.05;

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

    /// Why, in which function, and on which communicator, if the program has named that: `late sender in MPI_Recv on halo`.
    pub fn what(&self) -> String {
        let text = format!("{} in {}", self.pattern.name(), self.call);
        match &self.communicator {
            Some(name) => format!("{text} on {name}"),
            None => text,
        }
    }

    /// Who waits for whom, and what that one was doing: `3 ranks wait for rank 0, which was in assemble`.
    pub fn who(&self) -> String {
        let waits = self.who_waits();
        match self.cause() {
            Some(_) if self.is_caused_by_culprit() => {
                format!("{waits}, {}", did(self.cause_activity.as_deref()))
            }
            Some(cause) => format!("{waits}; the cause is {cause}"),
            None => format!("{waits}, {}", did(None)),
        }
    }

    fn who_waits(&self) -> String {
        let waiting = match self.waiting {
            1 => rank(self.first.rank, self.first.thread) + " waits",
            number if number == self.waiting_ranks => format!("{number} ranks wait"),
            number if self.waiting_ranks == 1 => {
                format!("{number} threads of rank {} wait", self.first.rank)
            }
            number => format!("{number} threads of {} ranks wait", self.waiting_ranks),
        };
        let culprit = rank(self.culprit, self.culprit_thread);
        format!("{waiting} for {culprit}")
    }

    /// The rank that most of it is due to and what it did, if that says more than the culprit does.
    fn cause(&self) -> Option<String> {
        let is_told = !self.is_caused_by_culprit() || self.cause_activity.is_some();
        is_told.then(|| {
            let did = did(self.cause_activity.as_deref());
            format!("{}, {did}", rank(self.cause_rank, self.cause_thread))
        })
    }

    fn is_caused_by_culprit(&self) -> bool {
        (self.cause_rank, self.cause_thread) == (self.culprit, self.culprit_thread)
    }
}

impl PerformanceReport {
    /// That ranks did not come to MPI_Finalize, which, which of them called MPI_Abort, and which calls did not return to them.
    pub fn lost_ranks(&self) -> Option<String> {
        let lost = self.not_finalized.len();
        let all = self.ranks.max(lost);
        let named = |ranks: &[i32]| ranks_in_words(&rank_list(ranks.iter().map(|&it| it as u32)));
        let not_finalized = match lost {
            0 => None,
            _ if lost == all => Some(format!(
                "None of the {all} ranks in the trace reached MPI_Finalize."
            )),
            _ => Some(format!(
                "{lost} of the {all} ranks in the trace did not reach MPI_Finalize: {}.",
                named(&self.not_finalized)
            )),
        };
        let has_aborted = !self.aborted.is_empty();
        let aborted =
            has_aborted.then(|| format!("MPI_Abort was called by {}.", named(&self.aborted)));
        let calls = self.last_calls().filter(|_| lost > 0);
        let all = [not_finalized, aborted, calls];
        let told: Vec<String> = all.into_iter().flatten().collect();
        (!told.is_empty()).then(|| told.join(" "))
    }

    /// The calls that had not returned at the end, in a sentence: their time there counts for nothing.
    fn last_calls(&self) -> Option<String> {
        let told = self.unfinished.iter().take(MAX_UNFINISHED).map(|calls| {
            let list = rank_list(calls.ranks.iter().map(|&rank| rank as u32));
            format!("{} of {}", calls.function, ranks_in_words(&list))
        });
        let told: Vec<String> = told.collect();
        let more = self.unfinished.len().saturating_sub(MAX_UNFINISHED);
        let more = match more {
            0 => String::new(),
            n => format!(" and {n} functions more"),
        };
        // After MPI_Abort nobody asks why the others waited.
        let advice = match self.aborted.is_empty() {
            true => "; `mpitrace verify` looks for ranks that wait for each other",
            false => "",
        };
        let told = (!told.is_empty()).then(|| told.join(", "))?;
        Some(format!("{told}{more} had not returned{advice}."))
    }

    /// That the numbers are about the lesser part of the run only, as a rank left MPI_Init late, or came to MPI_Finalize early.
    pub fn lesser_part(&self) -> Option<String> {
        let focus = &self.focus;
        let matters = |seconds| focus.is_between_init_and_finalize && seconds > focus.seconds;
        let late = matters(focus.init_spread).then(|| {
            let spread = duration(focus.init_spread);
            format!("the last MPI_Init ended {spread} after the first one")
        });
        let early = matters(focus.after).then(|| {
            let after = duration(focus.after);
            format!("a rank came to MPI_Finalize {after} before the end of the run")
        });
        let reasons: Vec<String> = late.into_iter().chain(early).collect();
        (!reasons.is_empty()).then(|| {
            let about = duration(focus.seconds);
            format!("This is about {about} only: {}.", reasons.join(", and "))
        })
    }

    /// That waits for messages may be missing, as many messages are not drawn.
    pub fn unmatched_messages(&self) -> Option<String> {
        let ends = self
            .messages
            .saturating_mul(2)
            .saturating_add(self.unmatched);
        let share = self.unmatched as f64 / ends.max(1) as f64;
        (share > MIN_SHARE).then(|| {
            format!(
                "Waits for messages may be missing: of {} of their ends the trace does not tell the other one.",
                percent(share)
            )
        })
    }

    /// The share of the computing in which calls may be missing, in words, if it is worth a word.
    pub fn unseen_share(&self) -> Option<String> {
        (self.unseen > MIN_SHARE * self.time.all)
            .then(|| percent(self.unseen / self.time.computing))
    }

    /// Seconds in which threads other than the main ones waited; `None` if it is not worth a word.
    pub fn waiting_of_other_threads(&self) -> Option<f64> {
        let waiting = (self.waiting_of_threads() - self.time.waiting).max(0.0);
        let is_told = self.threads > self.ranks && self.time.share(waiting) > MIN_SHARE;
        is_told.then_some(waiting)
    }

    /// What the efficiencies and shares are not about, a sentence each, for readers that see nothing else of the report.
    pub fn reservations(&self) -> Vec<String> {
        let unseen = self
            .unseen_share()
            .map(|share| format!("Calls may be missing in {share} of the computing."));
        let threads = self.waiting_of_other_threads().map(|seconds| {
            format!(
                "This is about the main threads of the ranks: their other threads wait for {} in all, which is no part of it.",
                duration(seconds)
            )
        });
        let messages = self.unmatched_messages();
        let all = [
            self.lost_ranks(),
            self.lesser_part(),
            messages,
            unseen,
            threads,
        ];
        all.into_iter().flatten().collect()
    }
}

impl RootCauseSum {
    /// How much of so many seconds of waiting is due to the rank, and what it did: `90 % of the waiting is due to rank 3, which was computing`.
    /// `whose` may say whose waiting it is.
    pub(super) fn words(&self, waiting: f64, whose: &str) -> String {
        format!(
            "{} of the waiting{whose} is due to {}, {}",
            percent(self.seconds / waiting),
            rank(self.rank, self.thread),
            did(self.activity.as_deref())
        )
    }
}
