//! Ends of messages that meet: the n-th send of a channel and its n-th receive are one message.

use std::collections::hash_map::Entry;
use trace_formats::slog2::{LogArrow, MessageEndpoint};
use trace_model::hash::Map;

/// One end of a message, with its number in its channel: sender, receiver, and tag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NumberedEndpoint {
    pub(super) end: MessageEndpoint,
    pub(super) number: u32,
}

/// First bytes of encoded ends; drawables begin with the number of their topology.
const SEND: u8 = 0x53;
const RECEIVE: u8 = 0x52;

impl NumberedEndpoint {
    /// Bytes of an encoded end.
    pub(super) const SIZE: usize = 33;

    /// Whether what begins with this byte is the end of a message.
    pub(super) fn is_one(kind: u8) -> bool {
        matches!(kind, SEND | RECEIVE)
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let MessageEndpoint {
            is_send,
            sender,
            receiver,
            tag,
            time,
            line,
            size,
        } = self.end;
        let mut bytes = [0; Self::SIZE];
        bytes[0] = if is_send { SEND } else { RECEIVE };
        bytes[1..9].copy_from_slice(&time.to_le_bytes());
        let numbers = [sender, receiver, tag, line, size, self.number as i32];
        for (to, number) in bytes[9..].chunks_exact_mut(4).zip(numbers) {
            to.copy_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&bytes);
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<NumberedEndpoint> {
        let bytes: &[u8; Self::SIZE] = bytes.first_chunk()?;
        let time = bytes[1..].first_chunk()?;
        let mut numbers = bytes[9..]
            .as_chunks()
            .0
            .iter()
            .map(|n| i32::from_le_bytes(*n));
        let mut next = || numbers.next();
        let (sender, receiver, tag, line, size) = (next()?, next()?, next()?, next()?, next()?);
        let end = MessageEndpoint {
            is_send: bytes[0] == SEND,
            sender,
            receiver,
            tag,
            time: f64::from_le_bytes(*time),
            line,
            size,
        };
        let number = next()? as u32;
        Some(NumberedEndpoint { end, number })
    }

    /// A number by which the ends of a channel come to one rank.
    pub(super) fn meeting(&self) -> u64 {
        let MessageEndpoint {
            sender,
            receiver,
            tag,
            ..
        } = self.end;
        let words = [sender, receiver, tag].map(|n| u64::from(n as u32));
        words
            .into_iter()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, word| {
                let mixed = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                mixed ^ mixed >> 29
            })
    }
}

/// Sender, receiver, tag and number of a message.
type MessageKey = (i32, i32, i32, u32);

/// Ends that wait for the other one.
#[derive(Debug, Default)]
pub(super) struct WaitingEndpoints {
    /// Each with the turn of its process in the log among records of equal time.
    ends: Map<MessageKey, (MessageEndpoint, u32)>,
}

impl WaitingEndpoints {
    /// Takes an end, of the process with this turn; gives the arrow if the other end was there. Ends of one process come in the order of
    /// its log.
    #[inline]
    pub(super) fn meet(&mut self, endpoint: &NumberedEndpoint, turn: u32) -> Option<LogArrow> {
        let end = endpoint.end;
        let key = (end.sender, end.receiver, end.tag, endpoint.number);
        match self.ends.entry(key) {
            Entry::Vacant(room) => {
                room.insert((end, turn));
                None
            }
            Entry::Occupied(waiting) => {
                let (other, other_turn) = waiting.remove();
                let is_behind = (other.time, other_turn) <= (end.time, turn);
                Some(match end.is_send {
                    true => LogArrow::new(&end, &other, !is_behind),
                    false => LogArrow::new(&other, &end, is_behind),
                })
            }
        }
    }

    /// Takes out all ends.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (NumberedEndpoint, u32)> + '_ {
        self.ends.drain().map(|(key, (end, turn))| {
            let number = key.3;
            (NumberedEndpoint { end, number }, turn)
        })
    }
}
