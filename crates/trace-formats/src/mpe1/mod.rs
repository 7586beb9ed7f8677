//! Common parts of ALOG and CLOG-1: events with numbers, which definitions pair to states, and messages whose two
//! ends are events -101 and -102 (`spec/alog.md` section 3).
//!
//! [`EventSurvey`] and [`EventPairing`] make drawables of events, in two passes: definitions may stand behind what they define.
//! [`Emitter`] makes events of drawables.

mod calls;
mod emit;
pub(crate) mod look;
mod numbers;
mod pairing;
mod survey;

pub(crate) use emit::Book;
pub(crate) use emit::Emitter;
pub(crate) use pairing::EventPairing;
pub(crate) use survey::{EventSurvey, ReadPlan, StateDefinition};

/// Hash tables with small keys that come from files: quick, and not to be filled with chosen collisions.
type HashMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;

/// Number of the event that is a constant's definition.
pub(crate) const CONSTANT: i32 = -201;
/// Number of the event that is the sending of a message.
pub(crate) const SEND: i32 = -101;
/// Number of the event that is the receipt of a message.
pub(crate) const RECEIVE: i32 = -102;

/// An event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mpe1Event<'a> {
    /// Seconds.
    pub(crate) time: f64,
    /// Rank in MPI_COMM_WORLD.
    pub(crate) rank: i32,
    /// Thread.
    pub(crate) thread: i32,
    /// Number of the event type.
    pub(crate) etype: i32,
    /// A number of the program's; of a message the partner's rank.
    pub(crate) data: i32,
    /// A text of the program's; of a message `TAG SIZE`.
    pub(crate) text: &'a [u8],
}

/// One end of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MessageEnvelope {
    side: MessageSide,
    sender: i32,
    receiver: i32,
    tag: i32,
    size: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessageSide {
    Send,
    Receive,
}

impl Mpe1Event<'_> {
    /// The message that this is an end of. An event -101 or -102 whose text does not begin with a tag is a plain one, as
    /// p4 had them before there were messages.
    fn envelope(&self) -> Option<MessageEnvelope> {
        let (side, sender, receiver) = match self.etype {
            SEND => (MessageSide::Send, self.rank, self.data),
            RECEIVE => (MessageSide::Receive, self.data, self.rank),
            _ => return None,
        };
        let text = std::str::from_utf8(self.text).ok()?;
        let mut numbers = text.split_ascii_whitespace().map(str::parse);
        let tag = numbers.next()?.ok()?;
        let size = numbers.next().and_then(Result::ok).unwrap_or(0);
        Some(MessageEnvelope {
            side,
            sender,
            receiver,
            tag,
            size,
        })
    }
}

/// Definitions of a kind, and lines, that are taken of a file: more than any program has, and a limit to the memory that
/// a file of nothing but definitions takes.
pub(crate) const MAX_DEFINITIONS: usize = 1 << 16;

/// Bytes of a text that an info takes; SLOG2 has 32767 for all.
const LONGEST_TEXT: usize = 16000;

/// Keys of the values of infos that stand for data and texts of events.
mod key {
    pub(super) const DATA: &str = "data=";
    pub(super) const END_DATA: &str = "end data=";
    pub(super) const TEXT: &str = "text=";
    pub(super) const END_TEXT: &str = "end text=";
}
