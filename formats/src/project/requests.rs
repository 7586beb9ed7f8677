//! What request handles stand for.
//!
//! MPI libraries hand out one and the same handle for several operations that were complete when they began: MPICH for small
//! sends, Open MPI for everything with MPI_PROC_NULL. So a handle has a queue of operations, first in, first out. Such an
//! operation never shares its handle with one that still had to wait. All steps take constant time.

use super::hash::Map;
use std::collections::VecDeque;

/// How the handle of an operation may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// May stand for several operations at once: sends, and receives from MPI_PROC_NULL.
    Shared,
    /// Stands for this operation alone until it is complete. What was known of the handle before is out of date.
    Own,
    /// Stays after completion, until it is freed; begins inactive.
    Persistent,
}

#[derive(Clone, Copy, Debug)]
struct Operation<T> {
    value: T,
    handle_use: Use,
    active: bool,
}

/// The outstanding operations of one handle. `first` is the oldest.
#[derive(Clone, Debug)]
struct Queue<T> {
    first: Operation<T>,
    more: VecDeque<Operation<T>>,
}

/// All requests of a process; `T` is what is to be remembered of each operation.
#[derive(Clone, Debug)]
pub struct Requests<T> {
    by_handle: Map<u64, Queue<T>>,
}

impl<T> Default for Requests<T> {
    fn default() -> Self {
        Requests {
            by_handle: Map::default(),
        }
    }
}

impl<T: Copy> Requests<T> {
    /// A call has returned `handle` for a new operation.
    pub fn insert(&mut self, handle: u64, value: T, handle_use: Use) {
        let operation = Operation {
            value,
            handle_use,
            active: handle_use != Use::Persistent,
        };
        match self.by_handle.get_mut(&handle) {
            Some(queue) if handle_use == Use::Shared && queue.first.handle_use == Use::Shared => {
                queue.more.push_back(operation);
            }
            Some(queue) => {
                queue.more.clear();
                queue.first = operation;
            }
            None => {
                let more = VecDeque::new();
                let queue = Queue {
                    first: operation,
                    more,
                };
                self.by_handle.insert(handle, queue);
            }
        }
    }

    /// A call has returned `handle` for something that is not kept here: what was known of it is out of date.
    pub fn forget(&mut self, handle: u64) {
        self.by_handle.remove(&handle);
    }

    /// What the handle stands for: the oldest operation.
    #[inline]
    pub fn get(&self, handle: u64) -> Option<T> {
        self.by_handle.get(&handle).map(|queue| queue.first.value)
    }

    /// A persistent operation is started.
    pub fn start(&mut self, handle: u64) -> Option<T> {
        let operation = &mut self.by_handle.get_mut(&handle)?.first;
        operation.active = true;
        Some(operation.value)
    }

    /// An operation was completed. `None` if the handle is not known or the operation was not active.
    pub fn complete(&mut self, handle: u64) -> Option<T> {
        let queue = self.by_handle.get_mut(&handle)?;
        if queue.first.handle_use != Use::Persistent {
            return self.free(handle);
        }
        std::mem::take(&mut queue.first.active).then_some(queue.first.value)
    }

    /// MPI_Request_free: the handle no longer stands for the operation, whatever became of it.
    pub fn free(&mut self, handle: u64) -> Option<T> {
        let queue = self.by_handle.get_mut(&handle)?;
        let value = queue.first.value;
        match queue.more.pop_front() {
            Some(next) => queue.first = next,
            None => {
                self.by_handle.remove(&handle);
            }
        }
        Some(value)
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
        let mut r = Requests::default();
        for value in 1..=3 {
            r.insert(9, value, Use::Shared);
        }
        r.insert(8, 7, Use::Own);
        assert_eq!(r.get(9), Some(1));
        let order: Vec<_> = std::iter::from_fn(|| r.complete(9)).collect();
        assert_eq!(order, [1, 2, 3]);
        assert_eq!(r.complete(8), Some(7));
        assert_eq!(r.complete(8), None);
        assert!(r.is_empty());
    }

    #[test]
    fn an_operation_of_its_own_replaces_what_was_left_over() {
        let mut r = Requests::default();
        r.insert(9, 1, Use::Shared);
        r.insert(9, 2, Use::Shared);
        r.insert(9, 3, Use::Own);
        r.insert(9, 4, Use::Own);
        assert_eq!(r.complete(9), Some(4));
        r.insert(9, 5, Use::Own);
        r.insert(9, 6, Use::Shared);
        assert_eq!(r.complete(9), Some(6));
        assert_eq!(r.complete(9), None);
        r.insert(9, 7, Use::Own);
        r.forget(9);
        assert_eq!(r.get(9), None);
    }

    #[test]
    fn persistent_operations_stay_until_freed() {
        let mut r = Requests::default();
        r.insert(5, 1, Use::Persistent);
        assert_eq!(r.complete(5), None);
        for _ in 0..2 {
            assert_eq!(r.start(5), Some(1));
            assert_eq!(r.complete(5), Some(1));
            assert_eq!(r.complete(5), None);
        }
        assert_eq!(r.free(5), Some(1));
        assert_eq!(r.start(5), None);
    }
}
