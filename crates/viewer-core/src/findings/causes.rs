//! Causes of waiting: who came last to it, sent its message late or received it late, and whether that one waited itself.

use std::cell::Cell;
use trace_formats::slog2::{TimeBBox, Topology};

use super::pass::{DrawablePass, MIN_WAITING_SHARE, can_wait};
use crate::base::error::ApiError;
use crate::trace::class::ActivityClass;
use crate::trace::collective::is_same_collective;
use crate::trace::scan::{DrawableSink, ReadBudget, scan};
use crate::trace::states::TraceState;
use crate::trace::{OpenTrace, TraceItem};

/// Ranks that are gone behind, one after the other.
const MAX_CAUSE_STEPS: usize = 8;
/// Most bytes that are read around one call.
const MAX_BYTES_PER_CALL: u64 = 16 << 20;
/// Most bytes that are read around all calls together.
const MAX_BYTES_OF_ALL_CALLS: u64 = 256 << 20;

/// Rank that another one waited for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaitPartner {
    /// One of its lines.
    pub line: u32,
    /// Activity of that rank.
    pub did: &'static str,
    /// Until when it was waited for.
    pub until: f64,
}

/// Looks around calls of a trace.
pub struct WaitCauses<'c, 'a> {
    trace: &'c OpenTrace<'a>,
    /// The pass over all drawables, which knows the calls that are one collective call; `None` if not all was read.
    pass: Option<&'c DrawablePass>,
    budget: ReadBudget<'c>,
    left: Cell<u64>,
}

impl<'c, 'a> WaitCauses<'c, 'a> {
    /// Looks around calls of this trace, within a read budget.
    pub fn new(
        trace: &'c OpenTrace<'a>,
        pass: Option<&'c DrawablePass>,
        budget: ReadBudget<'c>,
    ) -> Self {
        WaitCauses {
            trace,
            pass,
            budget,
            left: Cell::new(MAX_BYTES_OF_ALL_CALLS),
        }
    }

    /// Rank that a call waited for; `None` if the trace does not show it.
    pub fn partner(&self, state: &TraceState) -> Result<Option<WaitPartner>, ApiError> {
        let known = (self.pass).and_then(|pass| pass.collective_wait(state.line, state.start));
        if let Some(known) = known {
            return Ok(Some(WaitPartner {
                line: known.last,
                did: "came last",
                until: known.until,
            }));
        }
        let of = self.trace.lines();
        let here = &of[state.line as usize];
        let time = TimeBBox {
            earliest: state.start,
            latest: state.end,
        };
        let (mut arrived, mut sent, mut received) = (
            None::<TraceItem<'_>>,
            None::<TraceItem<'_>>,
            None::<TraceItem<'_>>,
        );
        self.look(state.start, state.end, &mut |item: &TraceItem<'a>| {
            let is_inside = |time: f64| (state.start..=state.end).contains(&time);
            if is_same_collective(self.trace, state.kind, state.line, time, item)
                && arrived.is_none_or(|arrived| arrived.start < item.start)
            {
                arrived = Some(*item);
            }
            if item.topology != Topology::Arrow || self.class(item.kind) != ActivityClass::Message {
                return;
            }
            let (from, to) = (&of[item.line as usize], &of[item.to_line as usize]);
            // Of several that a call waits for, the one that was sent last: all may end when the call does.
            let is_mine = to.lane == here.lane && is_inside(item.end);
            if is_mine && sent.is_none_or(|sent| sent.start < item.start) {
                sent = Some(*item);
            }
            let is_mine = from.lane == here.lane && is_inside(item.start);
            if is_mine && received.is_none_or(|received| received.end < item.end) {
                received = Some(*item);
            }
        })?;
        if let Some(last) = arrived.filter(|last| last.start > state.start) {
            return Ok(Some(WaitPartner {
                line: last.line,
                did: "came last",
                until: last.start,
            }));
        }
        if let Some(sent) = sent.filter(|sent| sent.start > state.start) {
            return Ok(Some(WaitPartner {
                line: sent.line,
                did: "sent late",
                until: sent.start,
            }));
        }
        // A send that waits does so until the receiver is there.
        let Some(received) = received.filter(|_| sent.is_none()) else {
            return Ok(None);
        };
        let lane = of[received.to_line as usize].lane;
        let mut begun: Option<f64> = None;
        self.look(received.end, received.end, &mut |item| {
            let is_there = item.topology == Topology::State
                && of[item.line as usize].lane == lane
                && matches!(
                    self.class(item.kind),
                    ActivityClass::P2p | ActivityClass::Wait
                );
            if is_there {
                begun = Some(begun.map_or(item.start, |begun| begun.max(item.start)));
            }
        })?;
        Ok(begun
            .filter(|&begun| begun > state.start && begun < state.end)
            .map(|until| WaitPartner {
                line: received.to_line,
                did: "received late",
                until,
            }))
    }

    /// The rank that a rank which was waited for from `since` on waited for itself, and so on to the last one; the call in
    /// which the first of them waited. None if it did not wait for most of that time.
    pub fn behind(
        &self,
        partner: &WaitPartner,
        since: f64,
    ) -> Result<Option<(TraceState, WaitPartner)>, ApiError> {
        let lane = |line: u32| self.trace.lines()[line as usize].lane;
        let mut seen = vec![lane(partner.line)];
        let mut found: Option<(TraceState, WaitPartner)> = None;
        let (mut at, mut since) = (*partner, since);
        while found.is_none() || seen.len() <= MAX_CAUSE_STEPS {
            let Some(wait) = self.waited(lane(at.line), since, at.until)? else {
                break;
            };
            let Some(next) = self.partner(&wait)? else {
                break;
            };
            if seen.contains(&lane(next.line)) {
                break;
            }
            seen.push(lane(next.line));
            found = Some((found.map_or(wait, |(first, _)| first), next));
            (at, since) = (next, wait.start);
        }
        Ok(found)
    }

    /// The longest call in which a thread waited, if it waited for most of that time.
    fn waited(&self, lane: u32, from: f64, to: f64) -> Result<Option<TraceState>, ApiError> {
        let mut all = 0.0;
        let mut longest: Option<(f64, TraceState)> = None;
        self.look(from, to, &mut |item| {
            let is_here = item.topology == Topology::State
                && self.trace.lines()[item.line as usize].lane == lane
                // The call that it was waited for to begin, or to end.
                && item.start < to
                && can_wait(&self.trace.kinds()[item.kind as usize]);
            let inside = item.end.min(to) - item.start.max(from);
            if !is_here || inside <= 0.0 {
                return;
            }
            all += inside;
            if longest.is_none_or(|(most, _)| most < inside) {
                let state = TraceState {
                    line: item.line,
                    kind: item.kind,
                    start: item.start,
                    end: item.end,
                };
                longest = Some((inside, state));
            }
        })?;
        let is_most = all > MIN_WAITING_SHARE * (to - from);
        Ok(longest.filter(|_| is_most).map(|(_, state)| state))
    }

    fn class(&self, kind: u32) -> ActivityClass {
        self.trace.kinds()[kind as usize].class
    }

    /// Hands on what there is in a stretch of time, as long as bytes are left.
    fn look(
        &self,
        from: f64,
        to: f64,
        each: &mut dyn FnMut(&TraceItem<'a>),
    ) -> Result<(), ApiError> {
        let budget = ReadBudget {
            window: TimeBBox {
                earliest: from,
                latest: to,
            },
            bytes: self.left.get().min(MAX_BYTES_PER_CALL),
            ..self.budget
        };
        if to < from || budget.bytes == 0 {
            return Ok(());
        }
        let scanned = scan(self.trace, budget, &mut EachDrawable(each))?;
        self.left.set(self.left.get().saturating_sub(scanned.bytes));
        Ok(())
    }
}

struct EachDrawable<'e, 'a>(&'e mut dyn FnMut(&TraceItem<'a>));

impl<'a> DrawableSink<'a> for EachDrawable<'_, 'a> {
    fn item(&mut self, item: TraceItem<'a>) {
        (self.0)(&item);
    }
}
