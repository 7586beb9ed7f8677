//! The order in which a process posts its receives. Of the receives of one channel, the one that was posted first gets the message that was sent first,
//! whichever of them the program sees completed first.
//!
//! Merged records tell of a receive where it is completed, and the n-th send of a channel is drawn to its n-th receive. So a receive says by how many
//! places it is ahead of its turn: none, nearly always.

use std::collections::VecDeque;
use trace_model::hash::Map;
use unify::comms::CommId;
use unify::wildcards::{ReceivedMessage, RequestStart};

/// Receives that are looked at which were posted before one that is completed; of more than that, the order of completion counts.
const LOOKED_AT: usize = 1024;

/// Receives that are remembered. Programs that free their requests, or lose them, leave any number of them.
const MAX_UNDER_WAY: usize = 1 << 16;

/// A receive that was posted, and not seen to be completed.
#[derive(Clone, Copy, Debug)]
struct PostedReceive {
    /// Number of the receive in the order of posting.
    number: u64,
    comm: Option<CommId>,
    /// As the call asked for them; negative are wildcards.
    wanted: ReceivedMessage,
    start: RequestStart,
    /// MPI_Cancel was called for it.
    is_cancelled: bool,
    /// Receives of its channel that were posted later and completed earlier.
    overtaken: i32,
}

/// A receive that is completed, and what it got.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompletedReceive {
    /// Number of the receive in the order of posting; `None` if it is posted and completed by one call.
    pub posted: Option<u64>,
    pub comm: Option<CommId>,
    pub got: ReceivedMessage,
}

/// The receives of a process that are under way, in the order in which they were posted. Those that are never seen to be completed stay: they got
/// messages that nobody else can get.
#[derive(Debug, Default)]
pub(super) struct PostedReceives {
    under_way: VecDeque<PostedReceive>,
    posted: u64,
}

impl PostedReceives {
    /// A receive is posted. Gives its number, from 1.
    #[inline]
    pub fn post(
        &mut self,
        comm: Option<CommId>,
        wanted: ReceivedMessage,
        start: RequestStart,
    ) -> u64 {
        self.posted += 1;
        if self.under_way.len() >= MAX_UNDER_WAY {
            self.under_way.pop_front();
        }
        self.under_way.push_back(PostedReceive {
            number: self.posted,
            comm,
            wanted,
            start,
            is_cancelled: false,
            overtaken: 0,
        });
        self.posted
    }

    fn place(&self, number: u64) -> Option<usize> {
        if self.under_way.front()?.number == number {
            return Some(0);
        }
        let by_number = |receive: &PostedReceive| receive.number.cmp(&number);
        self.under_way.binary_search_by(by_number).ok()
    }

    /// MPI_Cancel is called for a receive. If it has not been overtaken, it gets no message.
    pub fn cancel(&mut self, number: u64) {
        let receive = self.place(number).and_then(|at| self.under_way.get_mut(at));
        if let Some(receive) = receive {
            receive.is_cancelled = true;
        }
    }

    /// A receive has got nothing, or it is not known what.
    pub fn remove(&mut self, number: u64) {
        if let Some(at) = self.place(number) {
            self.under_way.remove(at);
        }
    }

    /// A receive is completed. Gives by how many places it is ahead of its turn in its channel; a negative number is how many it is behind.
    /// `wildcards` gives what receives with wildcards get in the end.
    #[inline]
    pub fn complete<'w>(
        &mut self,
        receive: CompletedReceive,
        wildcards: impl FnOnce() -> &'w Map<RequestStart, ReceivedMessage>,
    ) -> i32 {
        let Some(number) = receive.posted else {
            return self.overtake(self.under_way.len(), receive, wildcards);
        };
        let Some(at) = self.place(number) else {
            return 0;
        };
        let overtaken = self.under_way.remove(at).map_or(0, |own| own.overtaken);
        self.overtake(at, receive, wildcards) - overtaken
    }

    /// The receive overtakes those of its channel among the first `earlier`. Gives their number.
    #[inline]
    fn overtake<'w>(
        &mut self,
        earlier: usize,
        receive: CompletedReceive,
        wildcards: impl FnOnce() -> &'w Map<RequestStart, ReceivedMessage>,
    ) -> i32 {
        if earlier == 0 {
            return 0;
        }
        let mut wildcards = Some(wildcards);
        let mut found = None;
        let mut ahead = 0;
        let fits = |wanted: i64, got: i64| wanted < 0 || wanted == got;
        for other in self.under_way.iter_mut().take(earlier.min(LOOKED_AT)) {
            let (wanted, got) = (other.wanted, receive.got);
            let may_be_first = other.comm == receive.comm
                && fits(wanted.source, got.source)
                && fits(wanted.tag, got.tag)
                && !(other.is_cancelled && other.overtaken == 0);
            if !may_be_first {
                continue;
            }
            let is_first = wanted == got || {
                let found = *found.get_or_insert_with(|| wildcards.take().map(|make| make()));
                found.and_then(|found| found.get(&other.start)) == Some(&got)
            };
            if is_first {
                other.overtaken += 1;
                ahead += 1;
            }
        }
        ahead
    }

    /// What was posted before is not known any more.
    pub fn clear(&mut self) {
        self.under_way.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORLD: Option<CommId> = Some(CommId::WORLD);
    const ANY: i64 = -1;

    fn message(source: i64, tag: i64) -> ReceivedMessage {
        ReceivedMessage { source, tag }
    }

    fn got(posted: u64, source: i64, tag: i64) -> CompletedReceive {
        CompletedReceive {
            posted: (posted != 0).then_some(posted),
            comm: WORLD,
            got: message(source, tag),
        }
    }

    /// By how many places each completed receive is ahead, where the receives with wildcards get this.
    fn ahead(
        wanted: &[ReceivedMessage],
        completed: &[CompletedReceive],
        wildcards: &[(u64, ReceivedMessage)],
    ) -> Vec<i32> {
        let wildcards: Map<RequestStart, ReceivedMessage> = wildcards
            .iter()
            .map(|&(call, got)| (RequestStart::of(call), got))
            .collect();
        let mut receives = PostedReceives::default();
        for (call, &wanted) in (1..).zip(wanted) {
            assert_eq!(receives.post(WORLD, wanted, RequestStart::of(call)), call);
        }
        let complete = |&receive: &CompletedReceive| receives.complete(receive, || &wildcards);
        completed.iter().map(complete).collect()
    }

    #[test]
    fn receives_in_order_are_not_ahead() {
        let wanted = [message(1, 7), message(2, 7), message(1, 7)];
        let completed = [got(1, 1, 7), got(2, 2, 7), got(3, 1, 7), got(0, 1, 7)];
        assert_eq!(ahead(&wanted, &completed, &[]), [0; 4]);
        // Of different channels, in any order.
        let completed = [got(2, 2, 7), got(1, 1, 7), got(3, 1, 7)];
        assert_eq!(ahead(&wanted, &completed, &[]), [0; 3]);
    }

    #[test]
    fn what_is_completed_first_may_be_posted_last() {
        let wanted = [message(1, 7); 3];
        let completed = [got(3, 1, 7), got(2, 1, 7), got(1, 1, 7)];
        assert_eq!(ahead(&wanted, &completed, &[]), [2, 0, -2]);
        // A call that posts and completes, beside a receive that is never completed.
        let completed = [got(0, 1, 7), got(2, 1, 7), got(1, 1, 7), got(0, 1, 7)];
        assert_eq!(ahead(&wanted, &completed, &[]), [3, 0, -2, 1]);
    }

    #[test]
    fn receives_with_wildcards_count_where_they_get_a_message() {
        let wanted = [message(ANY, ANY), message(ANY, 7), message(1, 7)];
        let completed = [got(3, 1, 7), got(1, 1, 7), got(2, 2, 7)];
        let wildcards = [(1, message(1, 7)), (2, message(2, 7))];
        assert_eq!(ahead(&wanted, &completed, &wildcards), [1, -1, 0]);
        // One that is not known to get anything.
        assert_eq!(ahead(&wanted[..2], &[got(0, 1, 7)], &[]), [0]);
    }

    #[test]
    fn a_cancelled_receive_gets_nothing() {
        let mut receives = PostedReceives::default();
        let none = Map::default();
        receives.post(WORLD, message(1, 7), RequestStart::of(1));
        receives.cancel(1);
        assert_eq!(receives.complete(got(0, 1, 7), || &none), 0);
        receives.remove(1);
        assert!(receives.under_way.is_empty());
    }
}
