//! Matches starts with ends and sends with receives, first in, first out (sections 7.3 and 7.4), in constant time.

use std::collections::hash_map::Entry;

use super::HashMap;

/// End of a chain of indices.
const NONE: u32 = u32::MAX;

/// A start event that waits for its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) time: f64,
    /// The data, if it was a CARGO event.
    pub(super) cargo: Option<[u8; 32]>,
}

/// A send or receive that waits for its other end.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageEnd {
    pub(super) time: f64,
    pub(super) line: i32,
    pub(super) size: i32,
}

/// First and last of a queue.
#[derive(Clone, Copy, Debug)]
struct Queue {
    first: u32,
    last: u32,
}

const EMPTY: Queue = Queue {
    first: NONE,
    last: NONE,
};

/// Memory of many queues in one.
#[derive(Debug)]
struct Pool<T> {
    slots: Vec<(T, u32)>,
    /// Chain of the slots that are free.
    free: u32,
}

impl<T: Copy> Pool<T> {
    fn new() -> Self {
        Pool {
            slots: Vec::new(),
            free: NONE,
        }
    }

    #[inline]
    fn push(&mut self, queue: &mut Queue, item: T) {
        let at = match self.slots.get_mut(self.free as usize) {
            Some(slot) => {
                let at = self.free;
                self.free = slot.1;
                *slot = (item, NONE);
                at
            }
            None => {
                self.slots.push((item, NONE));
                self.slots.len() as u32 - 1
            }
        };
        match self.slots.get_mut(queue.last as usize) {
            Some(last) => last.1 = at,
            None => queue.first = at,
        }
        queue.last = at;
    }

    #[inline]
    fn pop(&mut self, queue: &mut Queue) -> Option<T> {
        let at = queue.first;
        let slot = self.slots.get_mut(at as usize)?;
        queue.first = slot.1;
        if queue.first == NONE {
            queue.last = NONE;
        }
        slot.1 = self.free;
        self.free = at;
        Some(slot.0)
    }
}

/// The open states of each category on each line.
#[derive(Debug)]
pub(super) struct OpenStates {
    /// A queue stays when it gets empty, since the next state of its kind is likely to come: there is one per category
    /// and line at most.
    queues: HashMap<u64, Queue>,
    pool: Pool<Start>,
}

impl OpenStates {
    pub(super) fn new() -> Self {
        OpenStates {
            queues: HashMap::default(),
            pool: Pool::new(),
        }
    }

    #[inline]
    fn key(category: u32, line: i32) -> u64 {
        u64::from(category) << 32 | u64::from(line as u32)
    }

    #[inline]
    pub(super) fn start(&mut self, category: u32, line: i32, start: Start) {
        let queue = self
            .queues
            .entry(Self::key(category, line))
            .or_insert(EMPTY);
        self.pool.push(queue, start);
    }

    /// Takes the oldest open state.
    #[inline]
    pub(super) fn end(&mut self, category: u32, line: i32) -> Option<Start> {
        self.pool
            .pop(self.queues.get_mut(&Self::key(category, line))?)
    }
}

/// What two ends of a message have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Route {
    pub(super) tag: i32,
    /// Process line of the sender.
    pub(super) sender: i32,
    /// Process line of the receiver.
    pub(super) receiver: i32,
}

/// The unmatched ends of messages. Of one route, only sends or only receives can be waiting.
#[derive(Debug)]
pub(super) struct OpenMessages {
    queues: HashMap<Route, (Side, Queue)>,
    pool: Pool<MessageEnd>,
}

/// The two sides of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Send,
    Receive,
}

impl OpenMessages {
    pub(super) fn new() -> Self {
        OpenMessages {
            queues: HashMap::default(),
            pool: Pool::new(),
        }
    }

    /// Takes the oldest waiting other end and gives it back, or lets this one wait.
    #[inline]
    pub(super) fn meet(&mut self, route: Route, side: Side, end: MessageEnd) -> Option<MessageEnd> {
        match self.queues.entry(route) {
            Entry::Vacant(vacant) => {
                let (_, queue) = vacant.insert((side, EMPTY));
                self.pool.push(queue, end);
                None
            }
            Entry::Occupied(mut occupied) => {
                let (waiting, queue) = occupied.get_mut();
                if *waiting == side {
                    self.pool.push(queue, end);
                    return None;
                }
                let other = self.pool.pop(queue);
                // Programs may use each tag once, so empty queues must go.
                if queue.first == NONE {
                    occupied.remove();
                }
                other
            }
        }
    }
}
