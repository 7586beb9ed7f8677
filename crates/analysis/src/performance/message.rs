//! Messages on their way: who sent them from which call, and who waits for them to be received.

use super::clocks::ReplayClocks;
use super::wait::CallPlace;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Messages on their way that are looked at to know which one a call found.
const MAX_PROBED: usize = 256;
/// Posted receives that are looked at then.
const MAX_POSTED: usize = 256;

/// A call that has ended before it was known when the receive of its message was posted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct EndedCall {
    pub place: CallPlace,
    pub enter: f64,
    pub leave: f64,
    /// Until when it is known to have waited.
    pub waited_until: f64,
    /// When the last message was sent that it received; before all times if it received none.
    pub sent: f64,
}

/// Part of the wait for a message by which a receive may be posted later than the message was sent by chance.
const CHANCE: f64 = 0.05;

/// Whether a call that begins at `enter`, and waits until `sent` for messages that it receives, also waits for a receive of what it sends that is posted at
/// `posted`. The call needs its messages for certain; whether it needs the receive is not known, so one that is posted hardly later counts for nothing.
/// `sent` is before all times if the call receives nothing.
pub(super) fn is_clearly_later(posted: f64, enter: f64, sent: f64) -> bool {
    posted - sent > CHANCE * (sent - enter).max(0.0)
}

/// What a message is told from others by, or what a receive or probe asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageEnvelope {
    /// Place of the receiver's communicator among those of the trace; `None` for a receive of which the trace does not tell it.
    pub comm: Option<u32>,
    /// Rank of the sender in the communicator; negative for any, or if that is not known.
    pub source: i32,
    /// Tag; negative for any, or if that is not known.
    pub tag: i32,
}

impl MessageEnvelope {
    /// The likeness of a message to a receive that asked for this message alone.
    pub(super) const SAME: i32 = 3;
    /// Likeness that a message lacks which is on another communicator: all receives on its own are more like it.
    const OTHER_COMM: i32 = -4;

    /// How much of what is asked for a message is known to have; `None` if it has another sender or tag.
    pub(super) fn likeness(&self, message: &MessageEnvelope) -> Option<i32> {
        let part = |asked: i32, got: i32| match asked < 0 || got < 0 {
            true => Some(0),
            false => (asked == got).then_some(1),
        };
        let comm = match (self.comm, message.comm) {
            (Some(asked), Some(got)) if asked != got => Self::OTHER_COMM,
            // What is not told is taken to be the same: most programs have all receives of one completion on one.
            _ => 1,
        };
        Some(comm + part(self.source, message.source)? + part(self.tag, message.tag)?)
    }

    /// Whether a receive asks for such a message, as far as it tells what it asks for.
    fn is_asked_by(&self, asked: &MessageEnvelope) -> bool {
        asked.likeness(self).is_some_and(|likeness| likeness > 0)
    }

    /// Whether a call that looks for a message may find this one.
    pub(super) fn is_found_by(&self, asked: Option<&MessageEnvelope>) -> bool {
        asked.is_none_or(|asked| self.is_asked_by(asked))
    }
}

/// A receive that a call has posted.
#[derive(Clone, Copy, Debug)]
pub(super) struct PostedReceive {
    pub time: f64,
    pub clocks: ReplayClocks,
    /// What it asks for; `None` if the trace does not tell that.
    pub asked: Option<MessageEnvelope>,
}

/// The call that is over when the message is: a blocking send, or the one that completes its request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum SenderCall {
    /// None, or one that the trace does not tell.
    #[default]
    Unknown,
    /// Running on this lane, with this serial number.
    Open(u32, u64),
    /// Over.
    Ended(EndedCall),
}

/// A message on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct TravellingMessage {
    pub from: u32,
    pub to: u32,
    /// When the call began that sends it.
    pub sent: f64,
    pub envelope: MessageEnvelope,
    pub clocks: ReplayClocks,
    pub sender: SenderCall,
    /// The request that stands for sending it.
    pub request: Option<u32>,
    /// Number of the use of this place, so that others know whether it is still the same message.
    pub generation: u32,
}

/// All messages on their way, at places that are used again.
#[derive(Clone, Debug, Default)]
pub(super) struct TravellingMessages {
    messages: Vec<TravellingMessage>,
}

impl TravellingMessages {
    /// A message gets this place: a new one behind all others, or that of one which has arrived.
    pub(super) fn put(&mut self, at: u32, message: TravellingMessage) {
        match self.messages.get_mut(at as usize) {
            Some(place) => {
                let generation = place.generation.wrapping_add(1);
                *place = TravellingMessage {
                    generation,
                    ..message
                };
            }
            None => self.messages.push(message),
        }
    }

    pub(super) fn get(&self, at: u32) -> &TravellingMessage {
        &self.messages[at as usize]
    }

    pub(super) fn get_mut(&mut self, at: u32) -> &mut TravellingMessage {
        &mut self.messages[at as usize]
    }

    pub(super) fn remove(&mut self, at: u32) -> TravellingMessage {
        let message = self.messages[at as usize];
        let place = &mut self.messages[at as usize];
        place.generation = place.generation.wrapping_add(1);
        message
    }

    /// The focus begins anew: clocks start at zero.
    pub(super) fn restart(&mut self) {
        for message in &mut self.messages {
            message.clocks = ReplayClocks::default();
        }
    }

    fn is_alive(&self, incoming: &Incoming) -> bool {
        self.get(incoming.at).generation == incoming.generation
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Incoming {
    /// Order of sending.
    serial: u64,
    at: u32,
    generation: u32,
}

/// What a call found that looked for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Probed {
    /// Nothing that was sent while it looked.
    Nothing,
    /// The message at this place.
    Message(u32),
    /// One of several that were sent meanwhile.
    OneOfSeveral,
}

/// The messages to one thread by order of sending.
#[derive(Clone, Debug, Default)]
pub(super) struct IncomingMessages {
    waiting: BinaryHeap<Reverse<Incoming>>,
    alive: usize,
}

impl IncomingMessages {
    pub(super) fn add(&mut self, serial: u64, at: u32, messages: &TravellingMessages) {
        if self.waiting.len() > 64 && self.waiting.len() > 2 * self.alive {
            self.waiting
                .retain(|Reverse(incoming)| messages.is_alive(incoming));
            self.alive = self.waiting.len();
        }
        let generation = messages.get(at).generation;
        self.waiting.push(Reverse(Incoming {
            serial,
            at,
            generation,
        }));
        self.alive += 1;
    }

    pub(super) fn remove_one(&mut self) {
        self.alive = self.alive.saturating_sub(1);
    }

    /// When the first of the messages was sent that are still on their way.
    pub(super) fn earliest(&mut self, messages: &TravellingMessages) -> Option<f64> {
        while let Some(Reverse(first)) = self.waiting.peek() {
            if messages.is_alive(first) {
                return Some(messages.get(first.at).sent);
            }
            self.waiting.pop();
        }
        None
    }

    /// What a call found that looked for a message during this time. Of what one sender sends to it with a tag that it asks for, it finds the first. Of
    /// several senders, a message that had been there most of the time did not end the call if another one came just before the end. What receives get
    /// that were `posted` before it does not find.
    pub(super) fn probed<'p>(
        &self,
        messages: &TravellingMessages,
        asked: Option<&MessageEnvelope>,
        (enter, leave): (f64, f64),
        posted: impl Iterator<Item = &'p PostedReceive>,
    ) -> Probed {
        let recent = self.waiting.iter().rev().take(MAX_PROBED);
        let alive = recent.filter(|Reverse(incoming)| messages.is_alive(incoming));
        let mut coming: Vec<(f64, u32)> = alive
            .map(|Reverse(incoming)| (messages.get(incoming.at).sent, incoming.at))
            .filter(|&(sent, _)| sent < leave)
            .collect();
        let mut posted: Vec<(f64, &MessageEnvelope)> = posted
            .filter(|receive| receive.time < enter)
            .take(MAX_POSTED)
            .filter_map(|receive| Some((receive.time, receive.asked.as_ref()?)))
            .collect();
        if !posted.is_empty() {
            coming.sort_by(|a, b| a.0.total_cmp(&b.0));
            posted.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (_, receive) in posted {
                let mut sent = coming.iter();
                let is_taken =
                    |&(_, at): &(f64, u32)| messages.get(at).envelope.is_asked_by(receive);
                if let Some(place) = sent.position(is_taken) {
                    coming.remove(place);
                }
            }
        }
        let sent = coming
            .into_iter()
            .filter(|&(_, at)| messages.get(at).envelope.is_found_by(asked));
        if asked.is_some_and(|asked| asked.source >= 0) {
            let first = sent
                .filter(|&(sent, _)| sent > enter && sent < leave)
                .min_by(|a, b| a.0.total_cmp(&b.0));
            return first.map_or(Probed::Nothing, |(_, at)| Probed::Message(at));
        }
        let mut latest: Option<(f64, u32)> = None;
        let mut second = f64::NEG_INFINITY;
        for (sent, at) in sent.filter(|&(sent, _)| sent > enter && sent < leave) {
            match latest {
                Some((before, _)) if before >= sent => second = second.max(sent),
                _ => {
                    second = latest.map_or(second, |(before, _)| before);
                    latest = Some((sent, at));
                }
            }
        }
        let Some((sent, at)) = latest else {
            return Probed::Nothing;
        };
        let had_been_there = leave - second;
        let is_certain = had_been_there > second - enter && had_been_there > 4.0 * (leave - sent);
        match is_certain {
            true => Probed::Message(at),
            false => Probed::OneOfSeveral,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_looked_found_what_came_before_its_end() {
        let found = |times: &[f64]| {
            let mut messages = TravellingMessages::default();
            let mut incoming = IncomingMessages::default();
            for (at, &sent) in (0..).zip(times) {
                let message = TravellingMessage {
                    from: 1,
                    to: 0,
                    sent,
                    envelope: MessageEnvelope {
                        comm: Some(0),
                        source: 1,
                        tag: 7,
                    },
                    clocks: ReplayClocks::default(),
                    sender: SenderCall::Unknown,
                    request: None,
                    generation: 0,
                };
                messages.put(at, message);
                incoming.add(u64::from(at), at, &messages);
            }
            incoming.probed(&messages, None, (10.0, 40.0), std::iter::empty())
        };
        assert_eq!(found(&[1.0, 9.0, 41.0]), Probed::Nothing);
        assert_eq!(found(&[1.0, 11.0, 41.0]), Probed::Message(1));
        assert_eq!(found(&[11.0, 12.0, 39.0]), Probed::Message(2));
        assert_eq!(found(&[11.0, 38.0, 39.0]), Probed::OneOfSeveral);
        assert_eq!(found(&[30.0, 39.0]), Probed::OneOfSeveral);
    }
}
