//! The ends of states and messages, in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What ends at a time: a message, or the state of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ending {
    /// The time as a number that has the order of times.
    at: i64,
    /// Messages first, in the order in which they were sent; of states the one that began last.
    order: u64,
    /// Place of the message, or lane.
    pub index: u32,
}

const STATE_ENDS: u64 = 1 << 63;

/// A number for a time, or the time for a number, as its bits: numbers have the order of [`f64::total_cmp`].
fn ordered(bits: i64) -> i64 {
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

impl Ending {
    /// When it ends, seconds.
    pub(super) fn time(&self) -> f64 {
        f64::from_bits(ordered(self.at) as u64)
    }

    /// Serial number of the state that ends; `None` if it is a message.
    pub(super) fn state_serial(&self) -> Option<u64> {
        (self.order & STATE_ENDS != 0).then(|| STATE_ENDS - 1 - (self.order & (STATE_ENDS - 1)))
    }

    /// A message arrives that was the `number`-th to be sent.
    pub(super) fn message(time: f64, number: u64, index: u32) -> Ending {
        Ending {
            at: ordered(time.to_bits() as i64),
            order: number,
            index,
        }
    }

    /// The state with this serial number ends.
    pub(super) fn state(time: f64, serial: u64, lane: u32) -> Ending {
        Ending {
            at: ordered(time.to_bits() as i64),
            order: STATE_ENDS | (STATE_ENDS - 1 - serial),
            index: lane,
        }
    }

    /// Whether it comes before another one.
    #[inline]
    fn is_before(&self, other: &Ending) -> bool {
        (self.at, self.order) < (other.at, other.order)
    }
}

/// Endings that are to come. Those of few ranks stand in a short list, where the next ones are put into their places quicker than into a heap.
#[derive(Clone, Debug, Default)]
pub(super) struct Endings {
    /// The next ones, at most [`Endings::MAX_NEAR`], the very next at the end.
    near: Vec<Ending>,
    /// Endings that come after all that are near.
    far: BinaryHeap<Reverse<Ending>>,
}

impl Endings {
    const MAX_NEAR: usize = 64;

    /// Adds one.
    #[inline]
    pub(super) fn push(&mut self, ending: Ending) {
        let far = self.far.peek();
        if far.is_some_and(|Reverse(far)| far.is_before(&ending)) {
            self.far.push(Reverse(ending));
            return;
        }
        // What begins now is mostly one of the next to end.
        let mut at = self.near.len();
        self.near.push(ending);
        while at > 0 && self.near[at - 1].is_before(&ending) {
            self.near[at] = self.near[at - 1];
            at -= 1;
        }
        self.near[at] = ending;
        if self.near.len() > Endings::MAX_NEAR {
            self.far_away();
        }
    }

    /// Takes the next one, if it comes until `time`.
    #[inline]
    pub(super) fn pop_until(&mut self, time: f64) -> Option<Ending> {
        let next = self.near.pop_if(|next| next.time() <= time)?;
        if self.near.is_empty() {
            self.come_near();
        }
        Some(next)
    }

    #[cold]
    fn far_away(&mut self) {
        let far = self.near.drain(..Endings::MAX_NEAR / 2);
        self.far.extend(far.map(Reverse));
    }

    #[cold]
    fn come_near(&mut self) {
        let mut next = std::iter::from_fn(|| self.far.pop());
        let next = next.by_ref().take(Endings::MAX_NEAR / 2);
        self.near.extend(next.map(|Reverse(next)| next));
        self.near.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn endings_come_in_order(
            steps in proptest::collection::vec((0u8..40, 0u8..9, any::<bool>()), 0..600),
            scale in proptest::sample::select(vec![0.5, 20.0, -3.0]),
        ) {
            let mut endings = Endings::default();
            let mut expected: Vec<(f64, u64, u32)> = Vec::new();
            for (nth, (time, step, is_state)) in (0..).zip(steps) {
                let time = scale * f64::from(time);
                let ending = match is_state {
                    true => Ending::state(time, u64::from(nth), nth),
                    false => Ending::message(time, u64::from(nth), nth),
                };
                prop_assert_eq!(ending.time().to_bits(), time.to_bits());
                prop_assert_eq!(ending.state_serial(), is_state.then_some(u64::from(nth)));
                endings.push(ending);
                expected.push((time, ending.order, nth));
                let until = if step == 0 { 10.0 * scale } else { f64::NEG_INFINITY };
                expected.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                while expected.first().is_some_and(|first| first.0 <= until) {
                    let next = endings.pop_until(until).map(|next| next.index);
                    prop_assert_eq!(next, Some(expected.remove(0).2));
                }
                prop_assert!(endings.pop_until(until).is_none());
            }
            let rest: Vec<u32> = std::iter::from_fn(|| endings.pop_until(f64::INFINITY))
                .map(|next| next.index)
                .collect();
            let expected: Vec<u32> = expected.iter().map(|next| next.2).collect();
            prop_assert_eq!(rest, expected);
        }
    }
}
