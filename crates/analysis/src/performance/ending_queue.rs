//! The ends that are still to come, the earliest first.

use super::ending::Ending;

/// Children of a place. With four, a queue of thousands is half as deep as with two, and the children lie beside each other in memory.
const CHILDREN: usize = 4;

/// A heap of ends.
#[derive(Clone, Debug, Default)]
pub(super) struct EndingQueue {
    /// None is earlier than the one at its place divided by [`CHILDREN`].
    heap: Vec<Ending>,
}

impl EndingQueue {
    pub(super) fn push(&mut self, ending: Ending) {
        let mut at = self.heap.len();
        self.heap.push(ending);
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if !ending.is_before(&self.heap[parent]) {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = ending;
    }

    /// Takes the earliest one, if that is not after `time`.
    #[inline]
    pub(super) fn pop_until(&mut self, time: f64) -> Option<Ending> {
        let first = *self.heap.first()?;
        if first.time > time {
            return None;
        }
        let last = self.heap.pop()?;
        if !self.heap.is_empty() {
            self.sink(last);
        }
        Some(first)
    }

    /// Puts an end in place of the first one.
    fn sink(&mut self, ending: Ending) {
        let mut at = 0;
        loop {
            let from = at * CHILDREN + 1;
            let to = self.heap.len().min(from + CHILDREN);
            let Some(children) = self.heap.get(from..to).filter(|all| !all.is_empty()) else {
                break;
            };
            let mut earliest = 0;
            for nth in 1..children.len() {
                if children[nth].is_before(&children[earliest]) {
                    earliest = nth;
                }
            }
            let child = children[earliest];
            if !child.is_before(&ending) {
                break;
            }
            self.heap[at] = child;
            at = from + earliest;
        }
        self.heap[at] = ending;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_come_in_order() {
        let mut queue = EndingQueue::default();
        let mut expected = Vec::new();
        let mut number = 1_u64;
        for nth in 0..1000 {
            number = number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let time = ((number >> 40) % 64) as f64 - 32.0;
            let ending = match nth % 3 {
                0 => Ending::message(time, nth, nth as u32),
                _ => Ending::state(time, nth, nth as u32),
            };
            queue.push(ending);
            // Messages before states, and of these the one that began last.
            let order = match nth % 3 {
                0 => (0, nth as i64),
                _ => (1, -(nth as i64)),
            };
            expected.push((time as i64, order, nth as u32));
        }
        expected.sort_unstable();
        assert_eq!(queue.pop_until(-33.0).map(|ending| ending.index), None);
        let mut found = Vec::new();
        for until in [-5.0, 7.0, f64::INFINITY] {
            while let Some(ending) = queue.pop_until(until) {
                assert!(ending.time <= until);
                found.push(ending.index);
            }
        }
        let expected: Vec<u32> = expected.into_iter().map(|(_, _, index)| index).collect();
        assert_eq!(found, expected);
    }
}
