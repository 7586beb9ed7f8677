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

/// The time of which this is the number.
fn time_of(number: i64) -> f64 {
    f64::from_bits(ordered(number) as u64)
}

/// A number for a time, or the time for a number, as its bits: numbers have the order of [`f64::total_cmp`].
fn ordered(bits: i64) -> i64 {
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

impl Ending {
    /// When it ends, seconds.
    pub(super) fn time(&self) -> f64 {
        time_of(self.at)
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

/// Endings that are to come, in four places: what is in one comes before all that is in those after it.
///
/// Endings of few ranks stand in a short list, where the next ones are put into their places quicker than into a heap. Endings of thousands of ranks
/// wait unsorted, by stretches of time, until it is their turn: each is touched a few times, beside others that have just been touched, where a heap
/// would look at a dozen places far from each other. The heap has what a stretch has too much of, as when many end at once.
#[derive(Clone, Debug)]
pub(super) struct Endings {
    /// The next ones, at most [`Endings::MAX_NEAR`] where others can wait, the very next at the end.
    near: Vec<Ending>,
    heap: BinaryHeap<Reverse<Ending>>,
    /// Stretches of equal length. Those in front of `next` have been taken into the heap or the list.
    stretches: Vec<Vec<Ending>>,
    next: usize,
    /// What ends up to here, a number of a time, is in the first stretch.
    first: i64,
    /// How many stretches a second has.
    per_second: f64,
    /// Endings behind all stretches.
    beyond: Vec<Ending>,
}

impl Default for Endings {
    fn default() -> Endings {
        Endings {
            near: Vec::new(),
            heap: BinaryHeap::new(),
            stretches: Vec::new(),
            next: 1,
            first: i64::MAX,
            per_second: 0.0,
            beyond: Vec::new(),
        }
    }
}

impl Endings {
    const MAX_NEAR: usize = 64;
    /// As many as a heap finds in a processor's first cache.
    const MANY: usize = 512;

    /// Adds one.
    #[inline]
    pub(super) fn push(&mut self, ending: Ending) {
        let stretch = self.stretch_of(&ending);
        if stretch >= self.next {
            match self.stretches.get_mut(stretch) {
                Some(stretch) => stretch.push(ending),
                None => self.beyond.push(ending),
            }
            return;
        }
        let in_heap = self.heap.peek();
        if in_heap.is_some_and(|Reverse(next)| next.is_before(&ending)) {
            self.heap.push(Reverse(ending));
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
            self.spill();
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

    /// Place among the stretches; their number is that of what comes behind them. It does not fall as times grow.
    #[inline]
    fn stretch_of(&self, ending: &Ending) -> usize {
        if ending.at <= self.first {
            return 0;
        }
        let nth = (ending.time() - time_of(self.first)) * self.per_second;
        if nth < self.stretches.len() as f64 {
            nth as usize
        } else {
            self.stretches.len()
        }
    }

    /// Leaves half of what may be near.
    #[cold]
    fn spill(&mut self) {
        let far = self.near.drain(..self.near.len() - Endings::MAX_NEAR / 2);
        self.heap.extend(far.map(Reverse));
        if self.first == i64::MAX && self.heap.len() > Endings::MANY {
            self.beyond.append(&mut self.near);
            self.beyond
                .extend(self.heap.drain().map(|Reverse(ending)| ending));
            self.come_near();
        }
    }

    /// Brings the next ones near, when none is.
    #[cold]
    fn come_near(&mut self) {
        if self.heap.is_empty() {
            self.take_stretch();
        }
        if self.near.is_empty() {
            let next = std::iter::from_fn(|| self.heap.pop()).take(Endings::MAX_NEAR / 2);
            self.near.extend(next.map(|Reverse(next)| next));
            self.near.reverse();
        }
    }

    /// Takes the next stretch that has any into the list, or into the heap if that has no room for it. Both are empty.
    fn take_stretch(&mut self) {
        let mut waiting = self.stretches.iter().skip(self.next);
        let next = match waiting.position(|stretch| !stretch.is_empty()) {
            Some(nth) => self.next + nth,
            None if self.beyond.is_empty() => {
                self.stretches.clear();
                self.next = 1;
                self.first = i64::MAX;
                return;
            }
            None => {
                self.cut();
                0
            }
        };
        self.next = next + 1;
        let stretch = &mut self.stretches[next];
        if stretch.len() <= Endings::MAX_NEAR {
            std::mem::swap(&mut self.near, stretch);
            self.near.sort_unstable_by(|a, b| b.cmp(a));
        } else {
            self.heap.extend(stretch.drain(..).map(Reverse));
        }
    }

    /// Cuts what is behind all stretches, which are empty, into new ones, the later half excepted. The first of them has something.
    fn cut(&mut self) {
        let mut all = std::mem::take(&mut self.beyond);
        let half = all.len() / 2;
        let (earlier, &mut median, _) = all.select_nth_unstable(half);
        let first = *earlier.iter().min().unwrap_or(&median);
        let count = (half / (Endings::MAX_NEAR / 2)).max(1);
        self.stretches.resize_with(count, Vec::new);
        self.next = 0;
        self.first = first.at;
        self.per_second = count as f64 / (median.time() - first.time());
        for ending in all {
            match self.stretch_of(&ending) {
                nth if nth < count => self.stretches[nth].push(ending),
                _ => self.beyond.push(ending),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Times in a few values, in many, and over many orders of magnitude.
    fn times() -> impl Strategy<Value = Vec<f64>> {
        let one = prop_oneof![
            (0u8..40).prop_map(f64::from),
            (0u32..1 << 20).prop_map(|time| f64::from(time) / 1024.0),
            (-300i32..300, 1u8..9).prop_map(|(power, times)| f64::from(times) * 2f64.powi(power)),
            proptest::sample::select(vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY]),
        ];
        let kind = proptest::sample::select(vec![0u8, 1, 2, 3]);
        (
            kind,
            proptest::collection::vec((one, 0u32..1 << 16), 0..4000),
        )
            .prop_map(|(kind, times)| {
                let of_one_kind = |(any, fine): (f64, u32)| match kind {
                    0 => f64::from(fine % 7),
                    1 => f64::from(fine),
                    2 => -f64::from(fine),
                    _ => any,
                };
                times.into_iter().map(of_one_kind).collect()
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
        #[test]
        fn endings_come_in_order(times in times(), pop_each in 1usize..3000, pops in 1usize..2000) {
            let mut endings = Endings::default();
            let mut expected: BTreeSet<Ending> = BTreeSet::new();
            for (nth, time) in (0u32..).zip(times) {
                let ending = match nth % 3 {
                    0 => Ending::message(time, u64::from(nth), nth),
                    _ => Ending::state(time, u64::from(nth), nth),
                };
                prop_assert_eq!(ending.time().to_bits(), time.to_bits());
                prop_assert_eq!(ending.state_serial(), (nth % 3 > 0).then_some(u64::from(nth)));
                endings.push(ending);
                expected.insert(ending);
                if !(nth as usize).is_multiple_of(pop_each) {
                    continue;
                }
                let until = expected.iter().nth(pops).map_or(f64::NEG_INFINITY, Ending::time);
                while expected.first().is_some_and(|first| first.time() <= until) {
                    prop_assert_eq!(endings.pop_until(until), expected.pop_first());
                }
                prop_assert!(endings.pop_until(until).is_none());
            }
            let rest: Vec<Ending> = std::iter::from_fn(|| endings.pop_until(f64::INFINITY)).collect();
            prop_assert_eq!(rest, Vec::from_iter(expected));
        }
    }
}
