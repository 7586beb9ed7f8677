//! The outstanding operations of request handles.
//!
//! MPI libraries hand out one and the same handle for several operations that were complete when they began: MPICH for small
//! sends, Open MPI for everything with MPI_PROC_NULL. So a handle has a queue of operations, first in, first out.
//!
//! With several threads a handle may be handed out again before the call that completed its last operation has ended, and so
//! before that call stands in the order of completion. The old operation is then superseded. Times tell which call completes which: a
//! call that began before the handle was handed out again completes the old operation, one that began afterwards the new one. All
//! steps take constant time, but for the few operations that such a queue has to look through.

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

/// A call that makes, starts, completes or frees operations. Times are those of one clock of the process, in any unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestCall {
    /// Number of the calling thread.
    pub thread: i32,
    /// When the call began.
    pub start: i64,
    /// When the call returned.
    pub stop: i64,
}

/// Time at which an operation is superseded whose handle was not handed out again.
const NEVER: i64 = i64::MAX;

#[derive(Clone, Copy, Debug)]
struct RequestOperation<T> {
    value: T,
    thread: i32,
    handle_use: RequestUse,
    active: bool,
    /// When the call returned that made the operation.
    made: i64,
    /// When the call returned that was given the handle for another operation; [`NEVER`] if none was.
    superseded: i64,
}

impl<T> RequestOperation<T> {
    fn is_current(&self) -> bool {
        self.superseded == NEVER
    }

    /// Whether the call can have had the request as an argument: it began after the operation was made.
    fn is_known_to(&self, call: RequestCall) -> bool {
        self.thread == call.thread || self.made <= call.start
    }
}

/// The operations of one handle, the oldest first: superseded ones, then those that the handle stands for.
#[derive(Clone, Debug)]
struct HandleOperations<T> {
    first: RequestOperation<T>,
    more: VecDeque<RequestOperation<T>>,
}

/// All requests of a process; `T` is what is to be remembered of each operation.
#[derive(Clone, Debug)]
pub struct OutstandingRequests<T> {
    by_handle: Map<u64, HandleOperations<T>>,
}

impl<T> Default for OutstandingRequests<T> {
    fn default() -> Self {
        OutstandingRequests {
            by_handle: Map::default(),
        }
    }
}

/// Operations that are looked at to find one of the thread's own.
const LOOKED_AT: usize = 64;

/// Superseded operations that are kept of a handle. Each waits for the end of the call that completed it, which a thread other than the one
/// that was given the handle is in; so there are no more than threads, unless calls are missing.
const MAX_SUPERSEDED: usize = 64;

impl<T: Copy> HandleOperations<T> {
    fn new(first: RequestOperation<T>) -> Self {
        let more = VecDeque::new();
        HandleOperations { first, more }
    }

    fn iter(&self) -> impl Iterator<Item = &RequestOperation<T>> {
        std::iter::once(&self.first).chain(&self.more)
    }

    /// Place of the operation that the call starts, completes or frees, 0 being the first. Of several that share the handle, the oldest one that
    /// the thread began itself, or else the oldest. `None` if it is not known.
    #[inline]
    fn of(&self, call: RequestCall) -> Option<usize> {
        if self.first.is_current() && self.first.thread == call.thread {
            return Some(0);
        }
        self.search(call)
    }

    fn search(&self, call: RequestCall) -> Option<usize> {
        let is_possible = |o: &RequestOperation<T>| o.is_current() && o.is_known_to(call);
        let own = |o: &RequestOperation<T>| is_possible(o) && o.thread == call.thread;
        let was_possible =
            |o: &RequestOperation<T>| o.is_known_to(call) && o.superseded > call.start;
        let operations = || self.iter().take(MAX_SUPERSEDED + LOOKED_AT);
        let found = operations().position(own);
        let found = found.or_else(|| operations().position(is_possible));
        let found = found.or_else(|| operations().position(|o| !o.is_current() && was_possible(o)));
        // Operations that share a handle were complete when they began: any of them may stand for another.
        let shares = |o: &RequestOperation<T>| o.is_current() && o.handle_use == RequestUse::Shared;
        found.or_else(|| operations().position(shares))
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

    /// The handle stands for something else from `time` on.
    fn supersede(&mut self, time: i64) {
        let operations = std::iter::once(&mut self.first).chain(&mut self.more);
        for operation in operations.filter(|o| o.is_current()) {
            operation.superseded = time;
        }
        while self.more.len() >= MAX_SUPERSEDED {
            self.remove(0);
        }
    }
}

/// Takes an operation out of the queue of a handle, and the handle with the last one.
fn take<T: Copy>(mut queue: OccupiedEntry<'_, u64, HandleOperations<T>>, place: usize) -> T {
    let operations = queue.get_mut();
    let value = operations.get_mut(place).value;
    if !operations.remove(place) {
        queue.remove();
    }
    value
}

impl<T: Copy> OutstandingRequests<T> {
    /// `call` has returned `handle` for a new operation.
    pub fn insert(&mut self, handle: u64, value: T, handle_use: RequestUse, call: RequestCall) {
        let operation = RequestOperation {
            value,
            thread: call.thread,
            handle_use,
            active: handle_use != RequestUse::Persistent,
            made: call.stop,
            superseded: NEVER,
        };
        match self.by_handle.entry(handle) {
            Entry::Occupied(mut queue) => {
                let queue = queue.get_mut();
                let shares =
                    |o: &RequestOperation<T>| o.is_current() && o.handle_use == RequestUse::Shared;
                let is_shared = shares(queue.more.back().unwrap_or(&queue.first));
                if handle_use != RequestUse::Shared || !is_shared {
                    queue.supersede(call.stop);
                }
                queue.more.push_back(operation);
            }
            Entry::Vacant(nothing) => {
                nothing.insert(HandleOperations::new(operation));
            }
        }
    }

    /// `call` has returned `handle` for something that is not kept here: what it stood for before is out of date.
    pub fn forget(&mut self, handle: u64, call: RequestCall) {
        if let Some(queue) = self.by_handle.get_mut(&handle) {
            queue.supersede(call.stop);
        }
    }

    /// The operation that `call` has to do with, which completes nothing; `None` if it is not known.
    #[inline]
    pub fn get(&self, handle: u64, call: RequestCall) -> Option<T> {
        let queue = self.by_handle.get(&handle)?;
        let operation = queue.iter().nth(queue.of(call)?);
        operation.map(|operation| operation.value)
    }

    /// The oldest operation that the handle stands for; `None` if there is none.
    pub fn current(&self, handle: u64) -> Option<T> {
        let mut operations = self.by_handle.get(&handle)?.iter();
        let current = operations.find(|operation| operation.is_current());
        current.map(|operation| operation.value)
    }

    /// Takes the oldest operation that the handle stands for.
    pub fn take_current(&mut self, handle: u64) -> Option<T> {
        let Entry::Occupied(queue) = self.by_handle.entry(handle) else {
            return None;
        };
        let place = queue.get().iter().position(RequestOperation::is_current)?;
        Some(take(queue, place))
    }

    /// A persistent operation is started. `change` may change what is remembered of it.
    pub fn start(
        &mut self,
        handle: u64,
        call: RequestCall,
        change: impl FnOnce(&mut T),
    ) -> Option<T> {
        let queue = self.by_handle.get_mut(&handle)?;
        let place = queue.of(call)?;
        let operation = queue.get_mut(place);
        operation.active = true;
        change(&mut operation.value);
        Some(operation.value)
    }

    /// `change` may change what is remembered of the operation that `call` has to do with, which neither starts nor completes it.
    pub fn change(&mut self, handle: u64, call: RequestCall, change: impl FnOnce(&mut T)) {
        if let Some(queue) = self.by_handle.get_mut(&handle)
            && let Some(place) = queue.of(call)
        {
            change(&mut queue.get_mut(place).value);
        }
    }

    /// An operation was completed by `call`. `None` if the operation is not known or was not active.
    pub fn complete(&mut self, handle: u64, call: RequestCall) -> Option<T> {
        let Entry::Occupied(mut queue) = self.by_handle.entry(handle) else {
            return None;
        };
        let place = queue.get().of(call)?;
        let operation = queue.get_mut().get_mut(place);
        if operation.handle_use != RequestUse::Persistent {
            return Some(take(queue, place));
        }
        std::mem::take(&mut operation.active).then_some(operation.value)
    }

    /// Whether the operation that `call` would complete or free is active.
    pub fn is_active(&self, handle: u64, call: RequestCall) -> bool {
        let queue = self.by_handle.get(&handle);
        queue.is_some_and(|queue| {
            let place = queue.of(call);
            place.is_some_and(|place| queue.iter().nth(place).is_some_and(|o| o.active))
        })
    }

    /// MPI_Request_free as `call`: the handle no longer stands for the operation, whatever became of it.
    pub fn free(&mut self, handle: u64, call: RequestCall) -> Option<T> {
        let Entry::Occupied(queue) = self.by_handle.entry(handle) else {
            return None;
        };
        let place = queue.get().of(call)?;
        Some(take(queue, place))
    }

    /// What is remembered of all operations, persistent ones that are not active among them, in no order. Superseded operations are not
    /// among them.
    pub fn values(&self) -> impl Iterator<Item = T> {
        self.operations().map(|operation| operation.value)
    }

    /// What is remembered of the operations that are active, in no order.
    pub fn active(&self) -> impl Iterator<Item = T> {
        let active = self.operations().filter(|operation| operation.active);
        active.map(|operation| operation.value)
    }

    fn operations(&self) -> impl Iterator<Item = &RequestOperation<T>> {
        let operations = self.by_handle.values().flat_map(HandleOperations::iter);
        operations.filter(|operation| operation.is_current())
    }

    /// Whether no operation is kept.
    pub fn is_empty(&self) -> bool {
        self.by_handle.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call of the thread from `start` to `stop`.
    fn call(thread: i32, start: i64, stop: i64) -> RequestCall {
        RequestCall {
            thread,
            start,
            stop,
        }
    }

    /// A call of the only thread, whose calls do not overlap, at a time of no matter.
    fn only() -> RequestCall {
        call(0, 0, 0)
    }

    #[test]
    fn a_shared_handle_gives_its_operations_in_order() {
        let mut r = OutstandingRequests::default();
        for value in 1..=3 {
            r.insert(9, value, RequestUse::Shared, only());
        }
        r.insert(8, 7, RequestUse::Own, only());
        assert_eq!(r.current(9), Some(1));
        let order: Vec<_> = std::iter::from_fn(|| r.complete(9, only())).collect();
        assert_eq!(order, [1, 2, 3]);
        assert_eq!(r.complete(8, only()), Some(7));
        assert_eq!(r.complete(8, only()), None);
        assert!(r.is_empty());
    }

    #[test]
    fn an_operation_of_its_own_replaces_what_was_left_over() {
        let mut r = OutstandingRequests::default();
        r.insert(9, 1, RequestUse::Shared, only());
        r.insert(9, 2, RequestUse::Shared, only());
        r.insert(9, 3, RequestUse::Own, only());
        r.insert(9, 4, RequestUse::Own, only());
        assert_eq!(r.complete(9, only()), Some(4));
        r.insert(9, 5, RequestUse::Own, only());
        r.insert(9, 6, RequestUse::Shared, only());
        assert_eq!(r.complete(9, only()), Some(6));
        assert_eq!(r.complete(9, only()), None);
        r.insert(9, 7, RequestUse::Own, only());
        r.forget(9, only());
        assert_eq!(r.current(9), None);
    }

    #[test]
    fn persistent_operations_stay_until_freed() {
        let mut r = OutstandingRequests::default();
        r.insert(5, 1, RequestUse::Persistent, only());
        assert_eq!(r.complete(5, only()), None);
        assert_eq!(r.values().collect::<Vec<_>>(), [1]);
        assert_eq!(r.active().count(), 0);
        for _ in 0..2 {
            assert_eq!(r.start(5, only(), |_| {}), Some(1));
            assert_eq!(r.active().collect::<Vec<_>>(), [1]);
            assert_eq!(r.complete(5, only()), Some(1));
            assert_eq!(r.complete(5, only()), None);
        }
        assert_eq!(r.free(5, only()), Some(1));
        assert_eq!(r.start(5, only(), |_| {}), None);
    }

    /// The times of two threads: thread 0 posts, thread 1 waits, and a handle comes back before the wait for it has ended.
    #[test]
    fn a_late_wait_completes_the_operation_that_was_there_when_it_began() {
        let own = RequestUse::Own;
        let mut r = OutstandingRequests::default();
        r.insert(9, 1, own, call(0, 0, 10));
        r.insert(9, 2, own, call(0, 20, 30));
        r.insert(9, 3, own, call(0, 40, 50));
        assert_eq!(r.current(9), Some(3));
        assert_eq!(r.values().collect::<Vec<_>>(), [3]);
        // The wait for the third operation ends first.
        assert_eq!(r.complete(9, call(2, 50, 60)), Some(3));
        assert_eq!(r.current(9), None);
        assert_eq!(r.complete(9, call(1, 11, 61)), Some(1));
        assert_eq!(r.complete(9, call(3, 45, 62)), Some(2));
        assert!(r.is_empty());
        // Nor does a wait complete what was made after it began: that of an operation which is not known.
        r.insert(9, 4, own, call(0, 70, 80));
        assert_eq!(r.complete(9, call(1, 75, 90)), None);
        assert_eq!(r.complete(9, call(1, 95, 96)), Some(4));
    }

    #[test]
    fn a_persistent_request_freed_late_is_not_the_one_that_came_after_it() {
        let mut r = OutstandingRequests::default();
        r.insert(9, 1, RequestUse::Persistent, call(0, 0, 10));
        r.insert(9, 2, RequestUse::Persistent, call(0, 20, 30));
        assert_eq!(r.free(9, call(1, 15, 35)), Some(1));
        assert_eq!(r.start(9, call(1, 40, 41), |_| {}), Some(2));
        assert!(r.is_active(9, call(0, 50, 51)));
        assert_eq!(r.complete(9, call(0, 50, 51)), Some(2));
    }

    #[test]
    fn threads_complete_their_own_operations_of_a_shared_handle() {
        let mut r = OutstandingRequests::default();
        r.insert(9, 1, RequestUse::Shared, call(0, 0, 10));
        r.insert(9, 2, RequestUse::Shared, call(1, 0, 11));
        assert_eq!(r.complete(9, call(1, 20, 21)), Some(2));
        assert_eq!(r.complete(9, call(1, 20, 21)), Some(1));
        // What shares a handle stands for one another, where no order of times fits.
        r.insert(9, 3, RequestUse::Shared, call(0, 30, 40));
        assert_eq!(r.complete(9, call(1, 35, 41)), Some(3));
    }

    #[test]
    fn what_is_never_completed_is_not_kept_for_ever() {
        let mut r = OutstandingRequests::default();
        for value in 0..1000 {
            r.insert(9, value, RequestUse::Own, call(0, value, value));
        }
        let kept = std::iter::from_fn(|| r.complete(9, call(1, i64::MAX - 1, i64::MAX)));
        assert_eq!(kept.collect::<Vec<_>>(), [999]);
        assert!(r.by_handle[&9].more.len() <= MAX_SUPERSEDED);
    }
}
