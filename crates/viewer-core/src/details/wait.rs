//! How long a call waited for another rank, for which one, and what that did meanwhile.
//!
//! The waits are those of the report (`analysis`), once the whole trace has been read. Until then, and in a part of a trace, two of them are
//! looked for around the call: that of a receive, or of a wait for one, until the call begins that sends its message (late sender), and that
//! of a collective call that nobody leaves before all have come, until the last one comes. Of a call that waits for several messages the
//! one that was sent last counts.

use analysis::performance::WaitPattern;
use serde::Serialize;
use trace_formats::slog2::{TimeBBox, Topology};

use crate::base::error::ApiError;
use crate::trace::class::ActivityClass;
use crate::trace::collective::last_to_come;
use crate::trace::nearby::{collect, running};
use crate::trace::scan::ReadBudget;
use crate::trace::states::TraceState;
use crate::trace::waits::{StateWait, TraceWaits};
use crate::trace::{OpenTrace, TraceItem};

/// The divisor of the read budget: this is one fact of several about a call.
const PART_OF_BUDGET: u64 = 8;

/// The wait of a call.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CallWait {
    /// Seconds.
    pub seconds: f64,
    /// Why it waited, such as `late sender`, if the whole trace has been read.
    pub pattern: Option<&'static str>,
    /// Timeline of the rank that was waited for, or -1 if it is on none.
    pub timeline: i64,
    /// Label of its line.
    pub label: String,
    /// Reference of its call that ended the wait, if it was in one then.
    pub call: Option<String>,
    /// What it did in the middle of the wait.
    pub doing: Option<WaitCause>,
}

/// The innermost state of the rank that was waited for.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WaitCause {
    /// Reference of the state, as URLs hold it.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Name of its kind.
    pub name: String,
    /// Class of its kind.
    pub class: &'static str,
}

/// Where the wait of a call is looked for.
pub struct WaitFinder<'f, 'a> {
    /// The trace.
    pub trace: &'f OpenTrace<'a>,
    /// The waits of the whole trace, if they are known.
    pub known: Option<&'f TraceWaits>,
    /// Budget of reading; its window is not used.
    pub budget: ReadBudget<'f>,
    /// Whether two lines are about the same thread.
    pub is_beside: &'f dyn Fn(u32, u32) -> bool,
}

/// A wait that was found.
pub struct FoundWait<'a> {
    /// Seconds.
    pub seconds: f64,
    /// Why it waited, if the analysis of the whole trace tells.
    pub pattern: Option<WaitPattern>,
    /// Number of a line of the rank that was waited for.
    pub culprit: u32,
    /// The call of that rank that ended the wait.
    pub call: Option<TraceItem<'a>>,
    /// The innermost state of the other rank in the middle of the wait.
    pub doing: Option<TraceItem<'a>>,
}

impl<'a> WaitFinder<'_, 'a> {
    fn budget(&self, earliest: f64, latest: f64) -> ReadBudget<'_> {
        ReadBudget {
            window: TimeBBox { earliest, latest },
            ..self.budget
        }
    }

    fn class(&self, item: &TraceItem<'a>) -> ActivityClass {
        self.trace.kinds()[item.kind as usize].class
    }

    /// The waits of a call, the longest first; none if it did not wait, or if finding out would take too much reading.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn waits(&self, item: &TraceItem<'a>) -> Result<Vec<FoundWait<'a>>, ApiError> {
        if item.topology != Topology::State {
            return Ok(Vec::new());
        }
        let Some(known) = self.known else {
            return Ok(self.wait_nearby(item)?.into_iter().collect());
        };
        let mut waits: Vec<&StateWait> = known.of_state(&TraceState::of(item)).collect();
        waits.sort_by(|a, b| (b.to - b.from).total_cmp(&(a.to - a.from)));
        let found = waits.into_iter().map(|wait| {
            Ok(FoundWait {
                seconds: wait.to - wait.from,
                pattern: Some(wait.pattern),
                culprit: wait.culprit,
                call: self.call_at(wait.culprit, wait.to)?,
                doing: self.doing(wait.culprit, wait.from.midpoint(wait.to))?,
            })
        });
        found.collect()
    }

    /// The call of MPI in which the thread of a line is at a time, or which it enters or leaves then.
    fn call_at(&self, line: u32, time: f64) -> Result<Option<TraceItem<'a>>, ApiError> {
        let states = running(self.trace, self.budget(time, time), &|other| {
            self.is_same_lane(line, other)
        })?;
        let is_call = |state: &TraceItem<'a>| {
            !matches!(self.class(state), ActivityClass::User | ActivityClass::Disk)
        };
        Ok(states.into_iter().rev().find(is_call))
    }

    /// The innermost state of the thread of a line at a time.
    fn doing(&self, line: u32, time: f64) -> Result<Option<TraceItem<'a>>, ApiError> {
        let states = running(self.trace, self.budget(time, time), &|other| {
            self.is_same_lane(line, other)
        })?;
        Ok(states.into_iter().rev().find(|state| state.end > time))
    }

    fn is_same_lane(&self, line: u32, other: u32) -> bool {
        let lane = |line: u32| self.trace.lines()[line as usize].lane;
        lane(line) == lane(other)
    }

    /// The wait of a call as far as what runs at the same time tells.
    fn wait_nearby(&self, item: &TraceItem<'a>) -> Result<Option<FoundWait<'a>>, ApiError> {
        let may_wait = match self.class(item) {
            ActivityClass::P2p | ActivityClass::Wait | ActivityClass::Collective => {
                item.start < item.end
            }
            _ => false,
        };
        let awaited = match may_wait {
            true => self.awaited(item)?,
            false => None,
        };
        let Some(call) = awaited.filter(|call| call.start > item.start) else {
            return Ok(None);
        };
        let seconds = call.start.min(item.end) - item.start;
        Ok(Some(FoundWait {
            seconds,
            pattern: None,
            culprit: call.line,
            doing: self.doing(call.line, item.start + seconds / 2.0)?,
            call: Some(call),
        }))
    }

    /// The call of another rank that a call may have waited for.
    fn awaited(&self, item: &TraceItem<'a>) -> Result<Option<TraceItem<'a>>, ApiError> {
        let mut budget = self.budget(item.start, item.end);
        budget.bytes /= PART_OF_BUDGET;
        let arrives = |other: &TraceItem<'a>| {
            self.class(other) == ActivityClass::Message
                && (self.is_beside)(other.to_line, item.line)
                && (item.start..=item.end).contains(&other.end)
        };
        let (messages, scanned) = collect(self.trace, budget, &arrives)?;
        if !scanned.exact {
            return Ok(None);
        }
        let last = messages
            .into_iter()
            .max_by(|a, b| a.start.total_cmp(&b.start));
        let Some(message) = last else {
            let (last, is_sure) = last_to_come(self.trace, budget, item)?;
            return Ok(last.filter(|_| is_sure));
        };
        let beside = |line: u32| (self.is_beside)(line, message.line);
        let at = self.budget(message.start, message.start);
        let states = running(self.trace, at, &beside)?;
        let is_call = |state: &&TraceItem<'a>| {
            let is_own = matches!(self.class(state), ActivityClass::User | ActivityClass::Disk);
            state.end >= message.start && !is_own
        };
        Ok(states.into_iter().rev().find(|state| is_call(&state)))
    }
}
