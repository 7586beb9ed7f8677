//! Messages: sends and receives of a channel in order, so that what was sent and never received is left, and receives that are too small are found.

use super::call::{CallPlace, CommKey};
use super::posted::{PostedReceive, PostedReceives};
use std::collections::{HashMap, VecDeque};
use trace_model::hash::Map;

/// Sends and receives that are kept until their other end comes.
const MAX_PENDING: usize = 1 << 22;
/// Kinds of findings about messages that are kept.
const MAX_KEPT: usize = 1 << 12;

/// Ranks in MPI_COMM_WORLD, and the tag, between which messages keep their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct MessageChannel {
    pub comm: CommKey,
    pub from: u32,
    pub to: u32,
    pub tag: i32,
}

/// An end of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageEnd {
    pub place: CallPlace,
    /// Bytes that were sent, or that there was room for.
    pub bytes: Option<u64>,
    /// Whether the call failed.
    pub failed: bool,
}

/// Ends whose other ends have not come: all of one side.
#[derive(Debug)]
struct PendingEnds {
    are_sends: bool,
    ends: VecDeque<MessageEnd>,
}

/// A message that was larger than the room for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Truncation {
    pub channel: MessageChannel,
    pub send: MessageEnd,
    pub receive: MessageEnd,
    /// Messages of the same two functions and ranks.
    pub count: u64,
}

/// A message that was sent and not received.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SentMessage {
    /// The sender in MPI_COMM_WORLD.
    pub from: u32,
    /// Tag; `None` if it is not known.
    pub tag: Option<i32>,
    /// Begin of the call that sends it, seconds.
    pub sent: f64,
}

/// By communicator and receiver, the messages that it has not received.
pub(super) type UnderWay = HashMap<(CommKey, u32), Vec<SentMessage>>;

/// Matches the messages of all channels.
#[derive(Debug, Default)]
pub(super) struct MessageMatcher {
    channels: Map<MessageChannel, PendingEnds>,
    pending: usize,
    pub truncations: Vec<Truncation>,
    /// Messages of which both ends came.
    pub matched: u64,
    /// By communicator and receiver, receives of which is not known whose message they got.
    unknown: HashMap<(CommKey, u32), u64>,
    /// Ends that were not kept.
    pub forgotten: u64,
}

impl MessageMatcher {
    /// A message is sent or received.
    pub(super) fn add(&mut self, channel: MessageChannel, end: MessageEnd, is_send: bool) {
        let Some(known) = self.channels.get_mut(&channel) else {
            if self.pending >= MAX_PENDING {
                self.forgotten += 1;
                return;
            }
            self.pending += 1;
            let ends = VecDeque::from([end]);
            let are_sends = is_send;
            self.channels
                .insert(channel, PendingEnds { are_sends, ends });
            return;
        };
        if known.are_sends == is_send {
            if self.pending >= MAX_PENDING {
                self.forgotten += 1;
                return;
            }
            self.pending += 1;
            known.ends.push_back(end);
            return;
        }
        let other = known.ends.pop_front();
        if known.ends.is_empty() {
            self.channels.remove(&channel);
        }
        let Some(other) = other else {
            return;
        };
        self.pending -= 1;
        self.matched += 1;
        let (send, receive) = match is_send {
            true => (end, other),
            false => (other, end),
        };
        // A receive that worked has got all of its message, whatever the order in which receives were completed.
        let is_larger = |(sent, room)| sent > room;
        if receive.failed && send.bytes.zip(receive.bytes).is_some_and(is_larger) {
            self.truncate(Truncation {
                channel,
                send,
                receive,
                count: 1,
            });
        }
    }

    fn truncate(&mut self, found: Truncation) {
        let is_same = |other: &&mut Truncation| {
            let functions = |it: &Truncation| (it.send.place.function, it.receive.place.function);
            (other.channel.from, other.channel.to) == (found.channel.from, found.channel.to)
                && functions(other) == functions(&found)
        };
        if let Some(known) = self.truncations.iter_mut().find(is_same) {
            known.count += 1;
        } else if self.truncations.len() < MAX_KEPT {
            self.truncations.push(found);
        }
    }

    /// A send was cancelled: the latest one of the channel that is still there.
    pub(super) fn cancel(&mut self, channel: MessageChannel) {
        let Some(known) = self.channels.get_mut(&channel) else {
            return;
        };
        if known.are_sends && known.ends.pop_back().is_some() {
            self.pending -= 1;
        }
        if known.ends.is_empty() {
            self.channels.remove(&channel);
        }
    }

    /// A rank has received a message of which the trace does not tell which one.
    pub(super) fn add_unknown_receive(&mut self, comm: CommKey, to: u32) {
        *self.unknown.entry((comm, to)).or_default() += 1;
    }

    /// Number of receives of which is not known what they received.
    pub(super) fn unknown_receives(&self) -> u64 {
        self.unknown.values().sum()
    }

    /// Messages that were sent and not received, by communicator and receiver.
    pub(super) fn under_way(&self) -> UnderWay {
        let mut by_receiver: UnderWay = HashMap::new();
        for (channel, known) in &self.channels {
            if known.are_sends {
                let sends = by_receiver.entry((channel.comm, channel.to)).or_default();
                sends.extend(known.ends.iter().map(|end| SentMessage {
                    from: channel.from,
                    tag: Some(channel.tag),
                    sent: end.place.start,
                }));
            }
        }
        by_receiver
    }

    /// Whether a message of a send that has not ended was received already, or may have been.
    pub(super) fn is_received(&self, comm: CommKey, from: u32, to: u32, tag: Option<i32>) -> bool {
        if self.unknown.contains_key(&(comm, to)) {
            return true;
        }
        let is_receive = |known: &PendingEnds| !known.are_sends;
        match tag {
            Some(tag) => {
                let channel = MessageChannel {
                    comm,
                    from,
                    to,
                    tag,
                };
                self.channels.get(&channel).is_some_and(is_receive)
            }
            None => self.channels.iter().any(|(channel, known)| {
                (channel.comm, channel.from, channel.to) == (comm, from, to) && is_receive(known)
            }),
        }
    }

    /// The message that was sent first of those to a rank that were not received and that a receive asks for.
    pub(super) fn first_sent(
        &self,
        receive: &PostedReceive,
        to: u32,
    ) -> Option<(MessageChannel, MessageEnd)> {
        let fits = |channel: &MessageChannel| {
            (channel.comm, channel.to) == (receive.comm, to)
                && receive.from.contains(&channel.from)
                && receive.tag.is_none_or(|tag| tag == channel.tag)
        };
        let sends = self.channels.iter();
        let sends = sends.filter(|(channel, known)| known.are_sends && fits(channel));
        let sends = sends.filter_map(|(channel, known)| Some((*channel, *known.ends.front()?)));
        sends.min_by(|(_, a), (_, b)| a.place.start.total_cmp(&b.place.start))
    }

    /// Receives that were posted and never waited for take messages that fit, the earliest ones.
    pub(super) fn take_posted(&mut self, posted: &PostedReceives) {
        if posted.values().all(Vec::is_empty) {
            return;
        }
        let mut by_receiver: HashMap<(CommKey, u32), Vec<MessageChannel>> = HashMap::new();
        for (channel, _) in self.channels.iter().filter(|(_, known)| known.are_sends) {
            let channels = by_receiver.entry((channel.comm, channel.to)).or_default();
            channels.push(*channel);
        }
        for (&to, receives) in posted {
            for receive in receives.iter().filter(|receive| !receive.is_probe) {
                let channels = by_receiver.get(&(receive.comm, to)).into_iter().flatten();
                let start = |channel: &&MessageChannel| {
                    let ends = self.channels.get(channel).map(|known| &known.ends);
                    let first = ends.and_then(VecDeque::front);
                    first.map_or(f64::INFINITY, |end| end.place.start)
                };
                let first = channels
                    .filter(|channel| {
                        receive.from.contains(&channel.from)
                            && receive.tag.is_none_or(|tag| tag == channel.tag)
                            && self.channels.contains_key(channel)
                    })
                    .min_by(|a, b| start(a).total_cmp(&start(b)))
                    .copied();
                if let Some(channel) = first
                    && let Some(known) = self.channels.get_mut(&channel)
                {
                    known.ends.pop_front();
                    self.pending -= 1;
                    if known.ends.is_empty() {
                        self.channels.remove(&channel);
                    }
                }
            }
        }
    }

    /// Messages that were sent and not received, as far as that is sure, in order of channels: the channel, the first of them, and how many.
    pub(super) fn unreceived(&self) -> Vec<(MessageChannel, MessageEnd, u64)> {
        let mut left: Vec<_> = self
            .channels
            .iter()
            .filter(|(channel, known)| {
                known.are_sends && !self.unknown.contains_key(&(channel.comm, channel.to))
            })
            .filter_map(|(channel, known)| {
                Some((*channel, *known.ends.front()?, known.ends.len() as u64))
            })
            .collect();
        left.sort_by_key(|(channel, ..)| *channel);
        left
    }
}
