//! The outstanding operations of request handles.
//!
//! MPI libraries hand out one and the same handle for several operations that were complete when they began: MPICH for small
//! sends, Open MPI for everything with MPI_PROC_NULL. So a handle has a queue of operations, first in, first out.
//!
//! With several threads a handle may be handed out again before the call that completed its last operation has ended, and so
//! before that call stands in the order of completion. The new operation then waits behind the old one, and each thread's
//! completions take the operations that this thread began, as far as there are any. All steps take constant time, but for
//! the few operations that such a queue has to look through.

use super::hash::Map;
use std::collections::VecDeque;
use std::collections::hash_map::{Entry, OccupiedEntry};

/// Permitted use of a request handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestUse {
    /// May stand for several operations at once: sends, and receives from MPI_PROC_NULL.
    Shared,
    /// Stands for this operation alone until it is complete. What the same thread did with the handle before is out of
    /// date.
    Own,
    /// Stays after completion, until it is freed; begins inactive.
    Persistent,
}

#[derive(Clone, Copy, Debug)]
struct RequestOperation<T> {
    value: T,
    thread: i32,
    handle_use: RequestUse,
    active: bool,
}

/// The outstanding operations of one handle. `first` is the oldest.
#[derive(Clone, Debug)]
struct OutstandingOperations<T> {
    first: RequestOperation<T>,
    more: VecDeque<RequestOperation<T>>,
}

/// All requests of a process; `T` is what is to be remembered of each operation.
#[derive(Clone, Debug)]
pub struct OutstandingRequests<T> {
    by_handle: Map<u64, OutstandingOperations<T>>,
}

impl<T> Default for OutstandingRequests<T> {
    fn default() -> Self {
        OutstandingRequests {
            by_handle: Map::default(),
        }
    }
}

/// Operations of other threads that are passed over to find one of the thread's own.
const LOOKED_AT: usize = 64;

impl<T: Copy> OutstandingOperations<T> {
    /// Place of the oldest operation that `thread` began, 0 being the first; the first where there is none.
    fn of(&self, thread: i32) -> usize {
        if self.first.thread == thread {
            return 0;
        }
        let mut others = self.more.iter().take(LOOKED_AT);
        others.position(|o| o.thread == thread).map_or(0, |i| i + 1)
    }

    fn get_mut(&mut self, place: usize) -> &mut RequestOperation<T> {
        match place.checked_sub(1).and_then(|i| self.more.get_mut(i)) {
            Some(operation) => operation,
            None => &mut self.first,
        }
    }

    /// Takes an operation out. False when it was the last one, which stays.
    fn remove(&mut self, place: usize) -> bool {
        if let Some(i) = place.checked_sub(1) {
            return self.more.remove(i).is_some();
        }
        let next = self.more.pop_front();
        let more = next.is_some();
        self.first = next.unwrap_or(self.first);
        more
    }
}

/// Takes an operation out of the queue of a handle, and the handle with the last one.
fn take<T: Copy>(mut queue: OccupiedEntry<'_, u64, OutstandingOperations<T>>, place: usize) -> T {
    let operations = queue.get_mut();
    let value = operations.get_mut(place).value;
    if !operations.remove(place) {
        queue.remove();
    }
    value
}

impl<T: Copy> OutstandingRequests<T> {
    /// A call of `thread` has returned `handle` for a new operation.
    pub fn insert(&mut self, handle: u64, value: T, handle_use: RequestUse, thread: i32) {
        let operation = RequestOperation {
            value,
            thread,
            handle_use,
            active: handle_use != RequestUse::Persistent,
        };
        // Handles are looked up as rarely as can be: most stand for nothing when they are handed out.
        if let Some(queue) = self.by_handle.get_mut(&handle) {
            if handle_use == RequestUse::Shared && queue.first.handle_use == RequestUse::Shared {
                queue.more.push_back(operation);
                return;
            }
            self.forget(handle, thread);
        }
        match self.by_handle.entry(handle) {
            Entry::Occupied(mut queue) => queue.get_mut().more.push_back(operation),
            Entry::Vacant(nothing) => {
                nothing.insert(OutstandingOperations {
                    first: operation,
                    more: VecDeque::new(),
                });
            }
        }
    }

    /// A call of `thread` has returned `handle` for something that is not kept here: what it did with it before is out of
    /// date.
    pub fn forget(&mut self, handle: u64, thread: i32) {
        let Entry::Occupied(mut queue) = self.by_handle.entry(handle) else {
            return;
        };
        queue.get_mut().more.retain(|o| o.thread != thread);
        if queue.get().first.thread == thread {
            take(queue, 0);
        }
    }

    /// The oldest outstanding operation of the handle; `None` if there is none.
    #[inline]
    pub fn get(&self, handle: u64) -> Option<T> {
        self.by_handle.get(&handle).map(|queue| queue.first.value)
    }

    /// A persistent operation is started. `change` may change what is remembered of it.
    pub fn start(&mut self, handle: u64, thread: i32, change: impl FnOnce(&mut T)) -> Option<T> {
        let queue = self.by_handle.get_mut(&handle)?;
        let place = queue.of(thread);
        let operation = queue.get_mut(place);
        operation.active = true;
        change(&mut operation.value);
        Some(operation.value)
    }

    /// An operation was completed by a call of `thread`. `None` if the handle is not known or the operation was not active.
    pub fn complete(&mut self, handle: u64, thread: i32) -> Option<T> {
        let Entry::Occupied(mut queue) = self.by_handle.entry(handle) else {
            return None;
        };
        let place = queue.get().of(thread);
        let operation = queue.get_mut().get_mut(place);
        if operation.handle_use != RequestUse::Persistent {
            return Some(take(queue, place));
        }
        std::mem::take(&mut operation.active).then_some(operation.value)
    }

    /// Whether the operation that a call of `thread` would complete or free is active.
    pub fn is_active(&self, handle: u64, thread: i32) -> bool {
        let queue = self.by_handle.get(&handle);
        queue.is_some_and(|queue| match queue.of(thread).checked_sub(1) {
            None => queue.first.active,
            Some(nth) => queue
                .more
                .get(nth)
                .is_some_and(|operation| operation.active),
        })
    }

    /// MPI_Request_free by `thread`: the handle no longer stands for the operation, whatever became of it.
    pub fn free(&mut self, handle: u64, thread: i32) -> Option<T> {
        let Entry::Occupied(queue) = self.by_handle.entry(handle) else {
            return None;
        };
        let place = queue.get().of(thread);
        Some(take(queue, place))
    }

    /// What is remembered of all operations, persistent ones that are not active among them, in no order.
    pub fn values(&self) -> impl Iterator<Item = T> {
        self.operations().map(|operation| operation.value)
    }

    /// What is remembered of the operations that are active, in no order.
    pub fn active(&self) -> impl Iterator<Item = T> {
        let active = self.operations().filter(|operation| operation.active);
        active.map(|operation| operation.value)
    }

    fn operations(&self) -> impl Iterator<Item = &RequestOperation<T>> {
        let queues = self.by_handle.values();
        queues.flat_map(|queue| std::iter::once(&queue.first).chain(&queue.more))
    }

    /// Number of handles that stand for something.
    pub fn len(&self) -> usize {
        self.by_handle.len()
    }

    /// Whether no handle stands for anything.
    pub fn is_empty(&self) -> bool {
        self.by_handle.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_handle_gives_its_operations_in_order() {
        let mut r = OutstandingRequests::default();
        for value in 1..=3 {
            r.insert(9, value, RequestUse::Shared, 0);
        }
        r.insert(8, 7, RequestUse::Own, 0);
        assert_eq!(r.get(9), Some(1));
        let order: Vec<_> = std::iter::from_fn(|| r.complete(9, 0)).collect();
        assert_eq!(order, [1, 2, 3]);
        assert_eq!(r.complete(8, 0), Some(7));
        assert_eq!(r.complete(8, 0), None);
        assert!(r.is_empty());
    }

    #[test]
    fn an_operation_of_its_own_replaces_what_was_left_over() {
        let mut r = OutstandingRequests::default();
        r.insert(9, 1, RequestUse::Shared, 0);
        r.insert(9, 2, RequestUse::Shared, 0);
        r.insert(9, 3, RequestUse::Own, 0);
        r.insert(9, 4, RequestUse::Own, 0);
        assert_eq!(r.complete(9, 0), Some(4));
        r.insert(9, 5, RequestUse::Own, 0);
        r.insert(9, 6, RequestUse::Shared, 0);
        assert_eq!(r.complete(9, 0), Some(6));
        assert_eq!(r.complete(9, 0), None);
        r.insert(9, 7, RequestUse::Own, 0);
        r.forget(9, 0);
        assert_eq!(r.get(9), None);
    }

    #[test]
    fn persistent_operations_stay_until_freed() {
        let mut r = OutstandingRequests::default();
        r.insert(5, 1, RequestUse::Persistent, 0);
        assert_eq!(r.complete(5, 0), None);
        assert_eq!(r.values().collect::<Vec<_>>(), [1]);
        assert_eq!(r.active().count(), 0);
        for _ in 0..2 {
            assert_eq!(r.start(5, 0, |_| {}), Some(1));
            assert_eq!(r.active().collect::<Vec<_>>(), [1]);
            assert_eq!(r.complete(5, 0), Some(1));
            assert_eq!(r.complete(5, 0), None);
        }
        assert_eq!(r.free(5, 0), Some(1));
        assert_eq!(r.start(5, 0, |_| {}), None);
    }

    #[test]
    fn a_handle_given_out_again_too_early_keeps_both_operations() {
        let mut r = OutstandingRequests::default();
        r.insert(9, 1, RequestUse::Own, 0);
        // Thread 0's Waitall has completed it, but ends only later.
        r.insert(9, 2, RequestUse::Own, 1);
        assert_eq!(r.complete(9, 1), Some(2));
        assert_eq!(r.complete(9, 0), Some(1));
        assert!(r.is_empty());
        // A thread may complete what others began.
        r.insert(9, 3, RequestUse::Own, 0);
        assert_eq!(r.complete(9, 5), Some(3));
        // A dropped operation takes nothing away from other threads.
        r.insert(9, 4, RequestUse::Own, 0);
        r.forget(9, 1);
        assert_eq!(r.get(9), Some(4));
    }
}
