//! How many bytes of messages calls move: states seldom say so themselves, but the arrows that begin and end in them do.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use trace_formats::slog2::{TimeBBox, Topology};
use trace_model as model;

use super::counting::{Also, Wanted};
use crate::trace::Trace;
use crate::trace::class::Class;

/// Follows the messages of a window to the calls that count.
pub(crate) struct Moved<'w, 'a> {
    trace: &'w Trace<'a>,
    wanted: &'w Wanted<'w>,
    window: TimeBBox,
    moves: Moves,
}

impl<'w, 'a> Moved<'w, 'a> {
    pub fn new(trace: &'w Trace<'a>, wanted: &'w Wanted<'w>, window: TimeBBox) -> Self {
        let moves = Moves::new(trace);
        Moved {
            trace,
            wanted,
            window,
            moves,
        }
    }

    /// What was moved, by kind.
    pub fn finish(self) -> Vec<u64> {
        self.moves.finish()
    }
}

impl Also for Moved<'_, '_> {
    fn begin(&mut self) {
        self.moves = Moves::new(self.trace);
    }

    fn put(&mut self, drawable: &model::Drawable<'_>) {
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
                let is_hidden = |kind: &u32| self.wanted.hidden[*kind as usize];
                let counted = kind.filter(|kind| !is_hidden(kind));
                let counted = counted.filter(|_| (self.wanted.row)(from).is_some());
                self.moves.state(lane(from), times, counted);
            }
            Topology::Arrow => {
                let kind = kind.map(|kind| &self.trace.kinds()[kind as usize]);
                if let Some(kind) = kind.filter(|kind| kind.class == Class::Message) {
                    let bytes = kind.bytes_of(drawable.info).unwrap_or(0);
                    let (lanes, times) = ([lane(from), lane(to)], [first.time, last.time]);
                    self.moves.message(lanes, times, bytes, self.window);
                }
            }
            Topology::Event => {}
        }
    }
}

/// A state that may still be running.
#[derive(Clone, Copy, Debug)]
struct Running {
    start: f64,
    end: f64,
    /// Its kind, if it counts.
    kind: Option<u32>,
}

/// The end of an arrow that waits until all states around it are known.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    time: f64,
    is_send: bool,
    lane: u32,
    bytes: u64,
}

impl Ord for Waiting {
    /// Of those at one time receives come first: they end what has begun before.
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |one: &Self| (one.is_send, one.lane, one.bytes);
        (self.time.total_cmp(&other.time)).then(key(self).cmp(&key(other)))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiting {}

/// Takes states and messages in order of their first times.
#[derive(Debug)]
struct Moves {
    /// By lane, the outermost first.
    running: Vec<Vec<Running>>,
    waiting: BinaryHeap<Reverse<Waiting>>,
    /// By kind.
    bytes: Vec<u64>,
}

impl Moves {
    fn new(trace: &Trace<'_>) -> Self {
        let lanes = trace.lines().iter().map(|line| line.lane as usize + 1);
        Moves::of(lanes.max().unwrap_or(0), trace.kinds().len())
    }

    fn of(lanes: usize, kinds: usize) -> Self {
        Moves {
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
        running.push(Running { start, end, kind });
    }

    /// A message from one lane to another; what it does outside of the window does not count.
    fn message(&mut self, lanes: [u32; 2], times: [f64; 2], bytes: u64, window: TimeBBox) {
        self.until(times[0].min(times[1]));
        let ends = lanes.into_iter().zip(times).zip([true, false]);
        for ((lane, time), is_send) in ends {
            if time < window.earliest || time > window.latest {
                continue;
            }
            self.waiting.push(Reverse(Waiting {
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
            let touches = |state: &&Running| state.start <= end.time && end.time <= state.end;
            if let Some(kind) = around.or(states().find(touches)).and_then(|s| s.kind) {
                let sum = &mut self.bytes[kind as usize];
                *sum = sum.saturating_add(end.bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Moves;
    use trace_formats::slog2::TimeBBox;

    #[test]
    fn bytes_are_those_of_the_innermost_call_at_either_end() {
        let mut moves = Moves::of(2, 4);
        let window = TimeBBox {
            earliest: 0.0,
            latest: 8.0,
        };
        moves.state(0, [0.0, 9.0], Some(3));
        moves.state(1, [0.5, 2.0], Some(1));
        // Given before the call that it begins in, in the same moment; it ends with the receive.
        moves.message([0, 1], [1.0, 2.0], 10, window);
        moves.state(0, [1.0, 1.5], Some(0));
        // The next call begins where the receive ends.
        moves.state(1, [2.0, 3.0], Some(2));
        // Sent from the outer state, received in no state at all.
        moves.message([0, 1], [4.0, 5.0], 100, window);
        // One that ends before it begins, in a state that does not count.
        moves.state(1, [6.0, 7.0], None);
        moves.message([0, 1], [6.5, 6.25], 1000, window);
        // Received behind the window.
        moves.message([1, 0], [7.5, 8.5], 10_000, window);
        assert_eq!(moves.finish(), [10, 10, 0, 1100]);
    }
}
