//! Replacements for queues and locks under loom.
//!
//! The queue promises less than crossbeam's do: what is pushed happens before it is popped, each element is popped once,
//! and that is all. It may look empty to a thread that nothing has told of a push. What holds with it holds with them.

use loom::cell::UnsafeCell;
use loom::sync::MutexGuard;
use loom::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Elements that a queue can take during one run of a model.
const CAPACITY: usize = 10;

#[derive(Debug)]
struct Slot<T> {
    value: UnsafeCell<Option<T>>,
    ready: AtomicBool,
}

/// Each slot is used once, in order.
#[derive(Debug)]
pub struct HandoverQueue<T> {
    slots: Vec<Slot<T>>,
    head: AtomicUsize,
    tail: AtomicUsize,
}

// SAFETY: a value is moved in by the one who got its slot from `tail` and out by the one who got it from `head`.
unsafe impl<T: Send> Sync for HandoverQueue<T> {}

impl<T> HandoverQueue<T> {
    pub fn new() -> Self {
        let slot = || Slot {
            value: UnsafeCell::new(None),
            ready: AtomicBool::new(false),
        };
        HandoverQueue {
            slots: std::iter::repeat_with(slot).take(CAPACITY).collect(),
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
        }
    }

    pub fn push(&self, value: T) {
        let slot = &self.slots[self.tail.fetch_add(1, Relaxed)];
        // SAFETY: nobody else has this slot; loom checks it.
        slot.value.with_mut(|at| unsafe { *at = Some(value) });
        slot.ready.store(true, Release);
    }

    pub fn pop(&self) -> Option<T> {
        loop {
            let i = self.head.load(Relaxed);
            let slot = self.slots.get(i)?;
            if !slot.ready.load(Acquire) {
                return None;
            }
            if self
                .head
                .compare_exchange(i, i + 1, Relaxed, Relaxed)
                .is_ok()
            {
                // SAFETY: as above.
                return slot.value.with_mut(|at| unsafe { (*at).take() });
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        let i = self.head.load(Relaxed);
        self.slots.get(i).is_none_or(|s| !s.ready.load(Acquire))
    }
}

/// loom's lock with the face of parking_lot's.
#[derive(Debug)]
pub struct Mutex<T>(loom::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub fn new(value: T) -> Self {
        Mutex(loom::sync::Mutex::new(value))
    }

    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0
            .lock()
            .expect("no thread of a model panics and goes on")
    }
}
