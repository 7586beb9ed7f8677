//! Bytes of messages that calls move. States seldom say so themselves, but the arrows that begin and end in them do.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use trace_formats::slog2::{TimeBBox, Topology};

use super::counting::{DrawableObserver, StatisticsScope};
use crate::trace::OpenTrace;
use crate::trace::class::ActivityClass;

/// Follows the messages of a window to the calls that count.
pub(crate) struct MessageBytes<'w, 'a> {
    trace: &'w OpenTrace<'a>,
    scope: &'w StatisticsScope<'w>,
    window: TimeBBox,
    by_call: MessageBytesByCall,
}

impl<'w, 'a> MessageBytes<'w, 'a> {
    pub fn new(trace: &'w OpenTrace<'a>, scope: &'w StatisticsScope<'w>, window: TimeBBox) -> Self {
        let by_call = MessageBytesByCall::new(trace);
        MessageBytes {
            trace,
            scope,
            window,
            by_call,
        }
    }

    /// Ends the count. Gives the bytes moved, by kind.
    pub fn finish(self) -> Vec<u64> {
        self.by_call.finish()
    }
}

impl DrawableObserver for MessageBytes<'_, '_> {
    fn begin(&mut self) {
        self.by_call = MessageBytesByCall::new(self.trace);
    }

    fn put(&mut self, drawable: &trace_model::Drawable<'_>) {
        let (Some(first), Some(last)) = (drawable.vertices.first(), drawable.vertices.last())
        else {
            return;
        };
        let (Some(from), Some(to)) = (self.trace.line(first.line), self.trace.line(last.line))
        else {
            return;
        };
        let lane = |line: u32| self.trace.lines()[line as usize].lane;
        let kind = (self.trace).kind_or_undefined(drawable.category, drawable.topology);
        match drawable.topology {
            Topology::State => {
                let times = [first.time.min(last.time), first.time.max(last.time)];
                let is_hidden = |kind: &u32| self.scope.hidden[*kind as usize];
                let counted = kind.filter(|kind| !is_hidden(kind));
                let counted = counted.filter(|_| (self.scope.timeline)(from).is_some());
                self.by_call.state(lane(from), times, counted);
            }
            Topology::Arrow => {
                let kind = kind.map(|kind| &self.trace.kinds()[kind as usize]);
                if let Some(kind) = kind.filter(|kind| kind.class == ActivityClass::Message) {
                    let bytes = kind.bytes_of(drawable.info).unwrap_or(0);
                    let (lanes, times) = ([lane(from), lane(to)], [first.time, last.time]);
                    self.by_call.message(lanes, times, bytes, self.window);
                }
            }
            Topology::Event => {}
        }
    }
}

/// A state that may still be running.
#[derive(Clone, Copy, Debug)]
struct RunningCall {
    start: f64,
    end: f64,
    /// Kind of the state, if it counts.
    kind: Option<u32>,
}

/// The end of an arrow that waits until all states around it are known.
#[derive(Clone, Copy, Debug)]
struct PendingEnd {
    time: f64,
    is_send: bool,
    lane: u32,
    bytes: u64,
}

impl Ord for PendingEnd {
    /// By time; at equal times receives come first, for they end what began before.
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |one: &Self| (one.is_send, one.lane, one.bytes);
        (self.time.total_cmp(&other.time)).then(key(self).cmp(&key(other)))
    }
}

impl PartialOrd for PendingEnd {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PendingEnd {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for PendingEnd {}

/// Takes states and messages in order of their first times.
#[derive(Debug)]
struct MessageBytesByCall {
    /// By lane, the outermost first.
    running: Vec<Vec<RunningCall>>,
    waiting: BinaryHeap<Reverse<PendingEnd>>,
    /// By kind.
    bytes: Vec<u64>,
}

impl MessageBytesByCall {
    fn new(trace: &OpenTrace<'_>) -> Self {
        let lanes = trace.lines().iter().map(|line| line.lane as usize + 1);
        MessageBytesByCall::of(lanes.max().unwrap_or(0), trace.kinds().len())
    }

    fn of(lanes: usize, kinds: usize) -> Self {
        MessageBytesByCall {
            running: vec![Vec::new(); lanes],
            waiting: BinaryHeap::new(),
            bytes: vec![0; kinds],
        }
    }

    /// A state of this lane; without a kind it takes what is not to be counted.
    fn state(&mut self, lane: u32, [start, end]: [f64; 2], kind: Option<u32>) {
        self.until(start);
        let running = &mut self.running[lane as usize];
        running.retain(|state| state.end >= start);
        running.push(RunningCall { start, end, kind });
    }

    /// A message from one lane to another; what it does outside of the window does not count.
    fn message(&mut self, lanes: [u32; 2], times: [f64; 2], bytes: u64, window: TimeBBox) {
        self.until(times[0].min(times[1]));
        let ends = lanes.into_iter().zip(times).zip([true, false]);
        for ((lane, time), is_send) in ends {
            if time < window.earliest || time > window.latest {
                continue;
            }
            self.waiting.push(Reverse(PendingEnd {
                time,
                is_send,
                lane,
                bytes,
            }));
        }
    }

    fn finish(mut self) -> Vec<u64> {
        self.until(f64::INFINITY);
        self.bytes
    }

    /// Nothing more comes that begins before this time.
    fn until(&mut self, now: f64) {
        while let Some(Reverse(first)) = self.waiting.peek() {
            // A call may begin in the very moment in which it sends.
            let is_known = first.time < now || (first.time == now && !first.is_send);
            if !is_known {
                break;
            }
            let Some(Reverse(end)) = self.waiting.pop() else {
                break;
            };
            let states = || self.running[end.lane as usize].iter().rev();
            let around = states().find(|state| match end.is_send {
                true => state.start <= end.time && end.time < state.end,
                false => state.start < end.time && end.time <= state.end,
            });
            // Calls without length send and receive in their only moment.
            let touches = |state: &&RunningCall| state.start <= end.time && end.time <= state.end;
            if let Some(kind) = around.or(states().find(touches)).and_then(|s| s.kind) {
                let sum = &mut self.bytes[kind as usize];
                *sum = sum.saturating_add(end.bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::MessageBytesByCall;
    use trace_formats::slog2::TimeBBox;

    #[test]
    fn bytes_are_those_of_the_innermost_call_at_either_end() {
        let mut by_call = MessageBytesByCall::of(2, 4);
        let window = TimeBBox {
            earliest: 0.0,
            latest: 8.0,
        };
        by_call.state(0, [0.0, 9.0], Some(3));
        by_call.state(1, [0.5, 2.0], Some(1));
        // Given before the call that it begins in, in the same moment; it ends with the receive.
        by_call.message([0, 1], [1.0, 2.0], 10, window);
        by_call.state(0, [1.0, 1.5], Some(0));
        // The next call begins where the receive ends.
        by_call.state(1, [2.0, 3.0], Some(2));
        // Sent from the outer state, received in no state at all.
        by_call.message([0, 1], [4.0, 5.0], 100, window);
        // One that ends before it begins, in a state that does not count.
        by_call.state(1, [6.0, 7.0], None);
        by_call.message([0, 1], [6.5, 6.25], 1000, window);
        // Received behind the window.
        by_call.message([1, 0], [7.5, 8.5], 10_000, window);
        assert_eq!(by_call.finish(), [10, 10, 0, 1100]);
    }
}
