//! Operations that are not complete, by their requests.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use trace_model::hash::Map;

use super::event::CollectiveEnd;

/// Receives of a call that are compared with a message at most, to find the one that has asked for it.
const LOOKED_AT: usize = 64;

/// An operation that a request stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operation {
    /// Send whose message has been sent.
    Send,
    /// Receive, with sender and tag if it asks for certain ones.
    Receive {
        source: Option<i32>,
        tag: Option<i32>,
    },
    Collective(CollectiveEnd),
}

/// A request of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    process: usize,
    request: u32,
    /// A call that sends and receives has one request for both.
    is_receive: bool,
}

/// Operations of all processes that are not complete, each with a number that no other operation of its process has.
#[derive(Debug, Default)]
pub(super) struct RequestTable {
    operations: Map<Key, (u64, Operation)>,
    /// The greatest request so far, by process and whether it is a receive.
    greatest: Map<(usize, bool), u32>,
    /// By process its operations whose request was not greater than those before.
    repeated: Map<usize, u64>,
}

/// Bits of the number of an operation that tell its request.
const REQUEST_BITS: u32 = 33;

/// Number in an archive of an operation of a process: twice that of its request in infos, and one more for a receive. Above these bits stands a
/// number by which operations of one request differ; the first one has 0.
pub(super) fn request_id(request: u32, is_receive: bool, repeated: u64) -> u64 {
    (repeated << REQUEST_BITS) + 2 * u64::from(request) + u64::from(is_receive)
}

/// Number of the request in infos that stands for the operation with this number in an archive.
pub(super) fn request_of_id(id: u64) -> u32 {
    (id >> 1) as u32
}

impl RequestTable {
    fn key(process: usize, request: u32, operation: &Operation) -> Key {
        Key {
            process,
            request,
            is_receive: matches!(operation, Operation::Receive { .. }),
        }
    }

    /// Begins an operation, and gives its number.
    pub(super) fn begin(&mut self, process: usize, request: u32, operation: Operation) -> u64 {
        let key = RequestTable::key(process, request, &operation);
        let mut repeated = 0;
        match self.greatest.entry((process, key.is_receive)) {
            Entry::Vacant(entry) => _ = entry.insert(request),
            Entry::Occupied(mut entry) if request > *entry.get() => _ = entry.insert(request),
            Entry::Occupied(_) => {
                let count = self.repeated.entry(process).or_default();
                *count += 1;
                repeated = *count;
            }
        }
        let id = request_id(request, key.is_receive, repeated);
        self.operations.insert(key, (id, operation));
        id
    }

    /// Whether a request stands for an operation of which events tell.
    pub(super) fn is_told(&self, process: usize, request: u32) -> bool {
        [false, true].into_iter().any(|is_receive| {
            self.operations.contains_key(&Key {
                process,
                request,
                is_receive,
            })
        })
    }

    /// Takes out what a request stands for: a send or a collective operation, and a receive.
    pub(super) fn complete(
        &mut self,
        process: usize,
        request: u32,
    ) -> [Option<(u64, Operation)>; 2] {
        [false, true].map(|is_receive| {
            let key = Key {
                process,
                request,
                is_receive,
            };
            self.operations.remove(&key)
        })
    }

    /// Of some requests those that stand for receives.
    pub(super) fn receives(&self, process: usize, requests: &[u32]) -> VecDeque<u32> {
        let is_receive = |request: &u32| {
            let request = *request;
            let is_receive = true;
            self.operations.contains_key(&Key {
                process,
                request,
                is_receive,
            })
        };
        requests.iter().copied().filter(is_receive).collect()
    }

    /// Takes out, of the receives with these requests, the one that a message with this sender and tag belongs to: the first one that has asked
    /// for it, or else the first one. Gives its number, and takes the request out of the list.
    pub(super) fn received(
        &mut self,
        process: usize,
        requests: &mut VecDeque<u32>,
        sender: i32,
        message_tag: i32,
    ) -> Option<u64> {
        let asked_for = |request: &u32| {
            let key = Key {
                process,
                request: *request,
                is_receive: true,
            };
            let Some((_, Operation::Receive { source, tag })) = self.operations.get(&key) else {
                return false;
            };
            source.is_none_or(|source| source == sender) && tag.is_none_or(|tag| tag == message_tag)
        };
        let at = requests.iter().take(LOOKED_AT).position(asked_for);
        let request = requests.remove(at.unwrap_or(0))?;
        let key = Key {
            process,
            request,
            is_receive: true,
        };
        self.operations.remove(&key).map(|(id, _)| id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_goes_to_the_receive_that_asked_for_it() {
        let mut table = RequestTable::default();
        let receive = |source, tag| Operation::Receive { source, tag };
        let a = table.begin(0, 1, receive(Some(3), None));
        let b = table.begin(0, 2, receive(Some(4), Some(7)));
        let c = table.begin(0, 3, receive(None, None));
        assert_eq!([a, b, c], [3, 5, 7]);
        // Another process has requests of its own.
        assert_eq!(table.complete(1, 1), [None, None]);
        let mut requests = table.receives(0, &[1, 2, 9, 3]);
        assert_eq!(requests, [1, 2, 3]);
        assert_eq!(table.received(0, &mut requests, 4, 7), Some(b));
        assert_eq!(table.received(0, &mut requests, 9, 1), Some(c));
        // Nobody has asked for this one.
        assert_eq!(table.received(0, &mut requests, 9, 1), Some(a));
        assert_eq!(table.received(0, &mut requests, 9, 1), None);
        assert!(requests.is_empty());
    }

    #[test]
    fn a_request_can_stand_for_a_send_and_a_receive() {
        let mut table = RequestTable::default();
        let send = table.begin(0, 1, Operation::Send);
        let source = None;
        let receive = table.begin(0, 1, Operation::Receive { source, tag: None });
        let mut requests = table.receives(0, &[1]);
        assert_eq!(table.received(0, &mut requests, 0, 0), Some(receive));
        assert_eq!((send, receive), (2, 3));
        // A request that comes again before its operation is complete.
        let again = table.begin(0, 1, Operation::Send);
        assert!(again > u64::from(u32::MAX));
        assert_eq!([send, receive, again].map(request_of_id), [1, 1, 1]);
        let send = again;
        let left = [Some((send, Operation::Send)), None];
        assert_eq!(table.complete(0, 1), left);
        // Nor has one that comes later the number of another one.
        assert!(table.begin(0, 1, Operation::Send) > again);
    }
}
