//! Sends and receives put together as MPI does it: messages of one sender, receiver, communicator and tag arrive in the order in which the
//! receives were posted.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use trace_model::Losses;
use trace_model::hash::Map;

/// Completed receives of a rank that wait for one posted before them to be complete, at most: a receive that nobody completes must not stop
/// all others.
const MAX_WAITING: usize = 1 << 12;

/// What the two ends of a message share: reference of the communicator, ranks in MPI_COMM_WORLD, tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Channel {
    pub comm: u32,
    pub sender: i32,
    pub receiver: i32,
    pub tag: u32,
}

/// One end of a message, in ticks on a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct End {
    pub time: u64,
    pub line: i32,
    pub bytes: u64,
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MatchedMessage {
    pub send: End,
    pub receive: End,
    pub tag: u32,
}

/// Receives of a rank.
#[derive(Debug, Default)]
struct Receives {
    /// Number of those that were posted.
    count: u64,
    /// Posted receives by request.
    posted: Map<u64, u64>,
    open: BTreeSet<u64>,
    complete: BTreeMap<u64, (Channel, End)>,
}

/// The messages under way.
#[derive(Debug, Default)]
pub(super) struct Messages {
    sends: Map<Channel, VecDeque<End>>,
    receives: Map<Channel, VecDeque<End>>,
    by_rank: Map<i32, Receives>,
    /// Messages that are complete, for the caller to take.
    pub arrows: Vec<MatchedMessage>,
}

impl Messages {
    pub(super) fn send(&mut self, channel: Channel, end: End) {
        self.sends.entry(channel).or_default().push_back(end);
        self.settle(channel);
    }

    /// A receive is posted.
    pub(super) fn post(&mut self, rank: i32, request: u64) {
        let receives = self.by_rank.entry(rank).or_default();
        receives.count += 1;
        // A request that comes again stands for its latest receive.
        if let Some(before) = receives.posted.insert(request, receives.count) {
            receives.open.remove(&before);
        }
        receives.open.insert(receives.count);
        self.release(rank);
    }

    /// A receive is given up.
    pub(super) fn cancel(&mut self, rank: i32, request: u64) {
        let receives = self.by_rank.entry(rank).or_default();
        if let Some(number) = receives.posted.remove(&request) {
            receives.open.remove(&number);
        }
        self.release(rank);
    }

    /// A message has arrived, for a receive that was posted with this request or that is posted and complete at once.
    pub(super) fn receive(&mut self, channel: Channel, end: End, request: Option<u64>) {
        let receives = self.by_rank.entry(channel.receiver).or_default();
        let posted = request.and_then(|request| receives.posted.remove(&request));
        let number = posted.unwrap_or_else(|| {
            receives.count += 1;
            receives.count
        });
        receives.open.remove(&number);
        receives.complete.insert(number, (channel, end));
        self.release(channel.receiver);
    }

    /// Gives complete receives to their channels as far as all that were posted before are complete.
    fn release(&mut self, rank: i32) {
        while let Some(receives) = self.by_rank.get_mut(&rank) {
            if receives.complete.len() > MAX_WAITING {
                receives.open.pop_first();
            }
            let Some(entry) = receives.complete.first_entry() else {
                return;
            };
            if receives.open.first().is_some_and(|open| open < entry.key()) {
                return;
            }
            let (channel, end) = entry.remove();
            self.receives.entry(channel).or_default().push_back(end);
            self.settle(channel);
        }
    }

    /// Makes messages of what can be put together.
    fn settle(&mut self, channel: Channel) {
        let (Some(sends), Some(receives)) = (
            self.sends.get_mut(&channel),
            self.receives.get_mut(&channel),
        ) else {
            return;
        };
        while let (Some(&send), Some(&receive)) = (sends.front(), receives.front()) {
            sends.pop_front();
            receives.pop_front();
            let tag = channel.tag;
            self.arrows.push(MatchedMessage { send, receive, tag });
        }
        if sends.is_empty() {
            self.sends.remove(&channel);
        }
        if receives.is_empty() {
            self.receives.remove(&channel);
        }
    }

    /// Puts the rest together at the end: receives that were never complete stop nothing any more.
    pub(super) fn finish(&mut self) {
        let mut ranks: Vec<i32> = self.by_rank.keys().copied().collect();
        ranks.sort_unstable();
        for rank in ranks {
            if let Some(receives) = self.by_rank.get_mut(&rank) {
                receives.open.clear();
            }
            self.release(rank);
        }
    }

    /// Ends that found no other end.
    pub(super) fn losses(&self, losses: &mut Losses) {
        let left =
            |ends: &Map<Channel, VecDeque<End>>| ends.values().map(|ends| ends.len() as u64).sum();
        losses.add("message without a receive", left(&self.sends));
        losses.add("receive without a message", left(&self.receives));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_go_to_receives_in_the_order_in_which_those_were_posted() {
        let channel = Channel {
            comm: 0,
            sender: 0,
            receiver: 1,
            tag: 7,
        };
        let end = |time| End {
            time,
            line: 0,
            bytes: 8,
        };
        let mut messages = Messages::default();
        messages.send(channel, end(1));
        messages.send(channel, end(2));
        messages.post(1, 10);
        messages.post(1, 11);
        // The second one is complete first.
        messages.receive(channel, end(5), Some(11));
        assert!(messages.arrows.is_empty());
        messages.receive(channel, end(6), Some(10));
        let times: Vec<_> = messages
            .arrows
            .iter()
            .map(|m| (m.send.time, m.receive.time))
            .collect();
        assert_eq!(times, [(1, 6), (2, 5)]);
        // One that is never complete stops the others until the end, or until it is given up.
        messages.post(1, 12);
        messages.receive(channel, end(7), None);
        messages.send(channel, end(3));
        assert_eq!(messages.arrows.len(), 2);
        messages.cancel(1, 12);
        assert_eq!(messages.arrows.len(), 3);
        messages.post(1, 13);
        messages.receive(channel, end(9), None);
        messages.send(channel, end(8));
        messages.finish();
        assert_eq!(messages.arrows.len(), 4);
        let mut losses = Losses::default();
        messages.losses(&mut losses);
        assert!(losses.is_empty());
    }
}
