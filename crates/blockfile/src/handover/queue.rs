//! A queue that takes no memory for its first thousand elements: a thread gives blocks back and takes some wherever it is, also
//! in a signal handler that has interrupted the allocator.

use crossbeam_queue::{ArrayQueue, SegQueue};

/// Elements that have their places from the beginning.
const PLACES: usize = 1024;

/// Any order of elements will do, so that those beyond come out when the places are empty.
#[derive(Debug)]
pub struct HandoverQueue<T> {
    places: ArrayQueue<T>,
    beyond: SegQueue<T>,
}

impl<T> HandoverQueue<T> {
    pub fn new() -> Self {
        HandoverQueue {
            places: ArrayQueue::new(PLACES),
            beyond: SegQueue::new(),
        }
    }

    pub fn push(&self, value: T) {
        if let Err(value) = self.places.push(value) {
            self.beyond.push(value);
        }
    }

    pub fn pop(&self) -> Option<T> {
        self.places.pop().or_else(|| self.beyond.pop())
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty() && self.beyond.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn what_finds_no_place_is_kept() {
        let queue = HandoverQueue::new();
        let n = 3 * PLACES;
        (0..n).for_each(|i| queue.push(i));
        let out: BTreeSet<usize> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(out.len(), n);
        assert!(queue.is_empty());
    }
}
