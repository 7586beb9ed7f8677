//! Matches starts with ends and sends with receives, first in, first out (`spec/slog2.md` sections 7.3 and 7.4), in
//! constant time.

use super::lines::LineNumbering;
use crate::clog2::{Clog2Msg, Clog2RecordHeader, FUNCTION_STATE_ETYPES, msg_etype};
use crate::slog2::places::{EntryOffsets, Key};
use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};
use trace_model::hash::Map as HashMap;
use trace_model::{Drawable, Topology, Vertex};

/// The data of a CARGO event.
pub(in crate::slog2) type EventCargo = [u8; 32];

/// The data of a state's end, or else of its start; empty if neither has any.
#[derive(Clone, Copy, Debug)]
pub(in crate::slog2) struct StateInfo {
    bytes: EventCargo,
    is_there: bool,
}

impl StateInfo {
    #[inline]
    fn new(cargo: Option<&EventCargo>) -> Self {
        StateInfo {
            bytes: *cargo.unwrap_or(&[0; 32]),
            is_there: cargo.is_some(),
        }
    }

    #[inline]
    pub(in crate::slog2) fn bytes(&self) -> &[u8] {
        if self.is_there { &self.bytes } else { &[] }
    }
}

/// Two records that make a drawable.
#[derive(Clone, Copy, Debug)]
pub(in crate::slog2) struct RecordPair<I> {
    pub(in crate::slog2) vertices: [Vertex; 2],
    pub(in crate::slog2) info: I,
    /// Number of drawables that were complete when the first of the two was met.
    pub(in crate::slog2) born: u64,
}

/// What becomes of a message record.
#[derive(Clone, Copy, Debug)]
pub(in crate::slog2) enum Meeting {
    /// The record is neither a send nor a receive.
    Unknown,
    /// The other end of the message has not been met yet.
    Waits,
    /// The arrow is complete; its info is tag and size.
    Complete(RecordPair<[u8; 8]>),
}

/// The records that wait for those that complete their drawables.
#[derive(Debug)]
pub(in crate::slog2) struct RecordMatching {
    states: OpenStates,
    messages: OpenMessages,
}

impl RecordMatching {
    pub(in crate::slog2) fn new() -> Self {
        RecordMatching {
            states: OpenStates::new(),
            messages: OpenMessages::new(),
        }
    }

    /// Takes a start event of this number.
    #[inline]
    pub(in crate::slog2) fn start(
        &mut self,
        (etype, category): (i32, u32),
        line: i32,
        time: f64,
        cargo: Option<&EventCargo>,
        born: u64,
    ) {
        let cargo = StateInfo::new(cargo);
        let start = OpenStart { time, cargo, born };
        self.states
            .start(category, line, start, etype >= FUNCTION_STATE_ETYPES);
    }

    /// Takes an end event. Gives the state, whose info is that of its end or else of its start.
    #[inline]
    pub(in crate::slog2) fn end(
        &mut self,
        category: u32,
        line: i32,
        time: f64,
        cargo: Option<&EventCargo>,
    ) -> Option<RecordPair<StateInfo>> {
        let OpenStart {
            time: start,
            cargo: start_cargo,
            born,
        } = self.states.end(category, line)?;
        Some(RecordPair {
            vertices: [start, time].map(|time| Vertex { time, line }),
            info: match cargo {
                Some(_) => StateInfo::new(cargo),
                None => start_cargo,
            },
            born,
        })
    }

    /// Takes a message record, and by how many places a receive is ahead of its turn in its channel.
    #[inline]
    pub(in crate::slog2) fn message(
        &mut self,
        lines: &LineNumbering,
        header: &Clog2RecordHeader,
        (msg, ahead): (&Clog2Msg, i32),
        born: u64,
    ) -> Meeting {
        let Some(endpoint) = MessageEndpoint::of(lines, header, msg) else {
            return Meeting::Unknown;
        };
        let side = match endpoint.is_send {
            true => MessageSide::Send,
            false => MessageSide::Receive,
        };
        let route = MessageRoute {
            tag: endpoint.tag,
            sender: endpoint.sender,
            receiver: endpoint.receiver,
        };
        let end = MessageEnd {
            time: endpoint.time,
            line: endpoint.line,
            size: endpoint.size,
            born,
        };
        let Some(other) = self.messages.meet(route, (side, ahead), end) else {
            return Meeting::Waits;
        };
        // The original knows the size, which is the sender's, only if the send came first.
        let (send, receive, size) = match side {
            MessageSide::Send => (end, other, 0),
            MessageSide::Receive => (other, end, other.size),
        };
        Meeting::Complete(RecordPair {
            vertices: [send, receive].map(|MessageEnd { time, line, .. }| Vertex { time, line }),
            info: message_info(endpoint.tag, size),
            born: other.born,
        })
    }
}

/// Tag and size of a message as the info of its arrow.
fn message_info(tag: i32, size: i32) -> [u8; 8] {
    (u64::from(tag as u32) << 32 | u64::from(size as u32)).to_be_bytes()
}

/// One end of a message, as a log has it: the send or the receive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MessageEndpoint {
    /// Whether it is the send.
    pub is_send: bool,
    /// Process line of the sender: lines of its first thread, divided by the number of threads.
    pub sender: i32,
    /// Process line of the receiver.
    pub receiver: i32,
    /// Tag of the message.
    pub tag: i32,
    /// When it was sent or had arrived, seconds.
    pub time: f64,
    /// Line of the end of the arrow.
    pub line: i32,
    /// Bytes, as this side knows them.
    pub size: i32,
}

impl MessageEndpoint {
    /// The end that a record tells of; `None` if it is neither a send nor a receive.
    #[inline]
    pub(super) fn of(
        lines: &LineNumbering,
        header: &Clog2RecordHeader,
        msg: &Clog2Msg,
    ) -> Option<MessageEndpoint> {
        let own = lines.process(header.icomm, header.rank);
        let partner = lines.process(msg.icomm, msg.rank);
        let (is_send, sender, receiver) = match msg.etype {
            msg_etype::SEND => (true, own, partner),
            msg_etype::RECV => (false, partner, own),
            _ => return None,
        };
        Some(MessageEndpoint {
            is_send,
            sender,
            receiver,
            tag: msg.tag,
            time: header.time,
            line: lines.line(header),
            size: msg.size,
        })
    }
}

/// The arrow of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogArrow {
    /// The send, then the receive.
    pub vertices: [Vertex; 2],
    /// Tag and size.
    info: [u8; 8],
}

impl LogArrow {
    /// Of the two ends of a message. The original knows the size, which is the sender's, only if the send comes first in the log.
    #[inline]
    pub fn new(send: &MessageEndpoint, receive: &MessageEndpoint, send_is_first: bool) -> LogArrow {
        let size = if send_is_first { send.size } else { 0 };
        LogArrow {
            vertices: [send, receive].map(|end| Vertex {
                time: end.time,
                line: end.line,
            }),
            info: message_info(send.tag, size),
        }
    }

    /// The arrow as a drawable of the category of messages.
    #[inline]
    pub fn drawable(&self) -> Drawable<'_> {
        Drawable {
            topology: Topology::Arrow,
            category: MESSAGE_CATEGORY,
            info: &self.info,
            vertices: &self.vertices,
        }
    }
}

/// Index of the category of messages ([`trace_model::Category::message`]).
const MESSAGE_CATEGORY: i32 = 0;

/// End of a chain of indices.
const NONE: u32 = u32::MAX;

/// A start event that waits for its end.
#[derive(Clone, Copy, Debug)]
struct OpenStart {
    time: f64,
    /// The data, if it was a CARGO event.
    cargo: StateInfo,
    /// See [`RecordPair::born`].
    born: u64,
}

/// A send or receive that waits for its other end.
#[derive(Clone, Copy, Debug)]
struct MessageEnd {
    time: f64,
    line: i32,
    size: i32,
    /// See [`RecordPair::born`].
    born: u64,
}

/// First and last of a queue.
#[derive(Clone, Copy, Debug)]
struct QueueEnds {
    first: u32,
    last: u32,
}

const EMPTY: QueueEnds = QueueEnds {
    first: NONE,
    last: NONE,
};

/// Memory of many queues in one.
#[derive(Debug)]
struct QueuePool<T> {
    slots: Vec<(T, u32)>,
    /// Chain of the slots that are free.
    free: u32,
}

impl<T: Copy> QueuePool<T> {
    fn new() -> Self {
        QueuePool {
            slots: Vec::new(),
            free: NONE,
        }
    }

    #[inline]
    fn push(&mut self, queue: &mut QueueEnds, item: T) {
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

    /// Puts an item in front of all others.
    fn push_front(&mut self, queue: &mut QueueEnds, item: T) {
        let mut own = EMPTY;
        self.push(&mut own, item);
        if let Some(slot) = self.slots.get_mut(own.first as usize) {
            slot.1 = queue.first;
        }
        if queue.first == NONE {
            queue.last = own.last;
        }
        queue.first = own.first;
    }

    #[inline]
    fn pop(&mut self, queue: &mut QueueEnds) -> Option<T> {
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
struct OpenStates {
    /// Each with its key. A queue stays when it gets empty, since the next state of its kind is likely to come: there is
    /// one per category and line at most.
    queues: Vec<(Key, QueueEnds)>,
    places: EntryOffsets,
    pool: QueuePool<OpenStart>,
}

impl OpenStates {
    fn new() -> Self {
        OpenStates {
            queues: Vec::new(),
            places: EntryOffsets::default(),
            pool: QueuePool::new(),
        }
    }

    #[inline]
    fn key(category: u32, line: i32) -> Key {
        Key(u64::from(line as u32), category)
    }

    #[inline]
    fn start(&mut self, category: u32, line: i32, start: OpenStart, nests: bool) {
        let key = Self::key(category, line);
        let at = match self.places.find(key, |at| self.queues[at].0 == key) {
            Some(found) => found,
            None => self.add(key),
        };
        let queue = &mut self.queues[at as usize].1;
        if nests {
            self.pool.push_front(queue, start);
        } else {
            self.pool.push(queue, start);
        }
    }

    #[cold]
    fn add(&mut self, key: Key) -> u32 {
        let new = self.queues.len() as u32;
        self.queues.push((key, EMPTY));
        self.places.insert(key, new, |at| self.queues[at].0);
        new
    }

    /// Takes the oldest open state, or of those that nest the newest one.
    #[inline]
    fn end(&mut self, category: u32, line: i32) -> Option<OpenStart> {
        let key = Self::key(category, line);
        let at = self.places.find(key, |at| self.queues[at].0 == key)?;
        self.pool.pop(&mut self.queues[at as usize].1)
    }
}

/// What two ends of a message have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MessageRoute {
    tag: i32,
    /// Process line of the sender.
    sender: i32,
    /// Process line of the receiver.
    receiver: i32,
}

impl Hash for MessageRoute {
    /// In as few steps as there can be.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let word = |number| u128::from(number as u32);
        state.write_u128(word(self.tag) << 64 | word(self.sender) << 32 | word(self.receiver));
    }
}

/// Queues of messages that stay when they get empty: a program may use each tag once.
const KEPT_QUEUES: usize = 1 << 12;

/// The unmatched ends of messages. Of one route, only sends or only receives can be waiting, as long as no receive is out of its turn.
#[derive(Debug)]
struct OpenMessages {
    queues: HashMap<MessageRoute, (MessageSide, QueueEnds)>,
    pool: QueuePool<MessageEnd>,
    /// The routes on which a receive was out of its turn.
    numbered: HashMap<MessageRoute, NumberedMessages>,
}

/// The messages of a route by their numbers: the place of the send in the order of sends.
#[derive(Debug, Default)]
struct NumberedMessages {
    /// Number of the next send, and number of the next receive if that is in its turn.
    next: [i64; 2],
    waiting: HashMap<i64, (MessageSide, MessageEnd)>,
}

impl NumberedMessages {
    /// Takes the other end of an end's message and gives it back, or lets this one wait.
    fn meet(&mut self, (side, ahead): (MessageSide, i32), end: MessageEnd) -> Option<MessageEnd> {
        let next = &mut self.next[side as usize];
        let number = *next + i64::from(ahead);
        *next += 1;
        match self.waiting.entry(number) {
            Entry::Occupied(other) if other.get().0 != side => Some(other.remove().1),
            Entry::Occupied(_) => None,
            Entry::Vacant(room) => {
                room.insert((side, end));
                None
            }
        }
    }
}

/// The two sides of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessageSide {
    Send,
    Receive,
}

impl OpenMessages {
    fn new() -> Self {
        OpenMessages {
            queues: HashMap::default(),
            pool: QueuePool::new(),
            numbered: HashMap::default(),
        }
    }

    /// Takes the other end of an end's message and gives it back, or lets this one wait. That is the oldest one that waits, unless a receive is ahead of
    /// its turn.
    #[inline]
    fn meet(
        &mut self,
        route: MessageRoute,
        (side, ahead): (MessageSide, i32),
        end: MessageEnd,
    ) -> Option<MessageEnd> {
        if ahead != 0 || !self.numbered.is_empty() {
            if ahead != 0 {
                self.number(route);
            }
            if let Some(messages) = self.numbered.get_mut(&route) {
                return messages.meet((side, ahead), end);
            }
        }
        let is_crowded = self.queues.len() > KEPT_QUEUES;
        let Some((waiting, queue)) = self.queues.get_mut(&route) else {
            let mut queue = EMPTY;
            self.pool.push(&mut queue, end);
            self.queues.insert(route, (side, queue));
            return None;
        };
        if *waiting == side || queue.first == NONE {
            *waiting = side;
            self.pool.push(queue, end);
            return None;
        }
        let other = self.pool.pop(queue);
        if is_crowded && queue.first == NONE {
            self.queues.remove(&route);
        }
        other
    }

    /// From here on the messages of a route have numbers.
    #[cold]
    fn number(&mut self, route: MessageRoute) {
        let Entry::Vacant(room) = self.numbered.entry(route) else {
            return;
        };
        let messages = room.insert(NumberedMessages::default());
        if let Some((side, mut queue)) = self.queues.remove(&route) {
            while let Some(end) = self.pool.pop(&mut queue) {
                messages.meet((side, 0), end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the ends of one route meet, in order: side, by how many places it is ahead, and its time.
    fn met(ends: &[(MessageSide, i32, f64)]) -> Vec<Option<f64>> {
        let route = MessageRoute {
            tag: 7,
            sender: 0,
            receiver: 1,
        };
        let mut messages = OpenMessages::new();
        let meet = |&(side, ahead, time): &(MessageSide, i32, f64)| {
            let end = MessageEnd {
                time,
                line: 0,
                size: 0,
                born: 0,
            };
            Some(messages.meet(route, (side, ahead), end)?.time)
        };
        ends.iter().map(meet).collect()
    }

    #[test]
    fn receives_ahead_of_their_turn_meet_later_sends() {
        use MessageSide::{Receive, Send};
        let sent = [(Send, 0, 1.0), (Send, 0, 2.0), (Send, 0, 3.0)];
        let received = [(Receive, 2, 4.0), (Receive, 0, 5.0), (Receive, -2, 6.0)];
        let all = [&sent[..], &received, &[(Receive, 0, 7.0), (Send, 0, 8.0)]].concat();
        let expected = [
            None,
            None,
            None,
            Some(3.0),
            Some(2.0),
            Some(1.0),
            None,
            Some(7.0),
        ];
        assert_eq!(met(&all), expected);
        // Before the sends, as far as clocks differ; and behind messages in their turn.
        let ends = [
            (Send, 0, 0.0),
            (Receive, 0, 0.5),
            (Receive, 1, 1.0),
            (Receive, -1, 2.0),
        ];
        let all = [&ends[..], &[(Send, 0, 3.0), (Send, 0, 4.0)]].concat();
        assert_eq!(
            met(&all),
            [None, Some(0.0), None, None, Some(2.0), Some(1.0)]
        );
    }
}
