//! Events of the program's own: regions, markers and texts (`trace.h`), and events, states and messages of MPE's API.
//!
//! A [`UserCategory`] describes one kind of event, in a definition record. An [`UserEvent`] is one moment, in a record of its own; the
//! head of that record has the time, and CPU times where calls have them.
//!
//! ```text
//! USER_EVENT      0  u32  what (low 8 bits) and flags
//!                 4  i32  number of the category, or the event's number in MPE's API
//!                 8       COMM: u64 handle; then by what it is: MARK u64 | TEXT string | MPE 32 bytes if CARGO |
//!                         SEND, RECEIVE i32 partner, i32 tag, i64 bytes
//! USER_CATEGORY   0  u32  kind; 4 i32 number; 8 i32 number of the end event; strings name, colour, format
//! ```

use crate::args::ByteCursor;
use crate::payload::{put_text, put_u32, text};

/// A communicator follows. Without this flag, the communicator is MPI_COMM_WORLD.
pub const COMM: u32 = 0x100;
/// 32 bytes of data follow.
pub const CARGO: u32 = 0x200;
/// An MPI call is running on the thread.
pub const INSIDE: u32 = 0x400;
/// Bytes of data that an event of MPE's API has.
pub const CARGO_SIZE: usize = 32;

/// Numbers of the kinds of event.
pub mod what {
    /// A region begins.
    pub const ENTER: u32 = 0;
    /// A region ends.
    pub const EXIT: u32 = 1;
    /// A marker with a value.
    pub const MARK: u32 = 2;
    /// A text.
    pub const TEXT: u32 = 3;
    /// An event of MPE's API.
    pub const MPE: u32 = 4;
    /// A message leaves, as the program told MPE's API.
    pub const SEND: u32 = 5;
    /// A message arrives, as the program told MPE's API.
    pub const RECEIVE: u32 = 6;
}

/// Kind of a category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum UserCategoryKind {
    /// A region, known to all ranks by its name.
    #[default]
    Region = 0,
    /// A marker with an integer, known by its name.
    Integer = 1,
    /// A marker with a double, known by its name.
    Real = 2,
    /// Texts.
    Text = 3,
    /// A state of MPE's API, known by the numbers of its events.
    State = 4,
    /// A solo event of MPE's API, known by its number.
    Event = 5,
}

impl UserCategoryKind {
    fn from_u32(n: u32) -> Option<UserCategoryKind> {
        [
            UserCategoryKind::Region,
            UserCategoryKind::Integer,
            UserCategoryKind::Real,
            UserCategoryKind::Text,
            UserCategoryKind::State,
            UserCategoryKind::Event,
        ]
        .into_iter()
        .find(|&k| k as u32 == n)
    }
}

/// One kind of event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserCategory {
    /// Kind of the events.
    pub kind: UserCategoryKind,
    /// Number in the process's events; for a state the number of its start event.
    pub number: i32,
    /// Number of a state's end event.
    pub end: i32,
    /// Name; empty if the program got the number and described nothing.
    pub name: String,
    /// Name of the colour; empty for any colour.
    pub color: String,
    /// Format of the events' data, as MPE has it (`spec/clog2.md` section 8).
    pub format: String,
}

impl UserCategory {
    /// Payload of the record.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for n in [self.kind as u32, self.number as u32, self.end as u32] {
            put_u32(&mut out, n);
        }
        for s in [&self.name, &self.color, &self.format] {
            put_text(&mut out, s);
        }
        out
    }

    /// Decodes a category at the beginning of a payload; `None` if it is damaged.
    pub fn decode(b: &mut ByteCursor<'_>) -> Option<UserCategory> {
        Some(UserCategory {
            kind: UserCategoryKind::from_u32(b.u32()?)?,
            number: b.i32()?,
            end: b.i32()?,
            name: text(b)?,
            color: text(b)?,
            format: text(b)?,
        })
    }
}

/// Content of an event of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserEventContent<'a> {
    /// A region begins.
    Enter,
    /// A region ends.
    Exit,
    /// A marker: the bits of its integer or double.
    Mark(u64),
    /// A text.
    Text(&'a [u8]),
    /// An event of MPE's API with its data, if it has any.
    Mpe(Option<&'a [u8; CARGO_SIZE]>),
    /// A message leaves.
    Send(UserMessage),
    /// A message arrives.
    Receive(UserMessage),
}

/// A message that the program told MPE's API about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserMessage {
    /// Rank of the other side in the communicator.
    pub partner: i32,
    /// Tag.
    pub tag: i32,
    /// Bytes.
    pub bytes: i64,
}

/// An event of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserEvent<'a> {
    /// Number of its category.
    pub number: i32,
    /// Raw handle of its communicator; `None` for MPI_COMM_WORLD.
    pub comm: Option<u64>,
    /// Whether an MPI call was running on the thread.
    pub inside: bool,
    /// Content of the event.
    pub content: UserEventContent<'a>,
}

impl<'a> UserEvent<'a> {
    /// Payload of the record.
    pub fn encode(&self) -> Vec<u8> {
        let word = match self.content {
            UserEventContent::Enter => what::ENTER,
            UserEventContent::Exit => what::EXIT,
            UserEventContent::Mark(_) => what::MARK,
            UserEventContent::Text(_) => what::TEXT,
            UserEventContent::Mpe(None) => what::MPE,
            UserEventContent::Mpe(Some(_)) => what::MPE | CARGO,
            UserEventContent::Send(_) => what::SEND,
            UserEventContent::Receive(_) => what::RECEIVE,
        };
        let mut flags = if self.inside { INSIDE } else { 0 };
        flags |= self.comm.map_or(0, |_| COMM);
        let mut out = Vec::new();
        put_u32(&mut out, word | flags);
        put_u32(&mut out, self.number as u32);
        if let Some(comm) = self.comm {
            out.extend_from_slice(&comm.to_ne_bytes());
        }
        match self.content {
            UserEventContent::Enter | UserEventContent::Exit | UserEventContent::Mpe(None) => {}
            UserEventContent::Mark(bits) => out.extend_from_slice(&bits.to_ne_bytes()),
            UserEventContent::Text(text) => {
                put_u32(&mut out, text.len() as u32);
                out.extend_from_slice(text);
            }
            UserEventContent::Mpe(Some(cargo)) => out.extend_from_slice(cargo),
            UserEventContent::Send(m) | UserEventContent::Receive(m) => {
                put_u32(&mut out, m.partner as u32);
                put_u32(&mut out, m.tag as u32);
                out.extend_from_slice(&m.bytes.to_ne_bytes());
            }
        }
        out
    }

    /// The event of this payload; `None` if it is damaged.
    pub fn decode(payload: &'a [u8]) -> Option<UserEvent<'a>> {
        let b = &mut ByteCursor::new(payload);
        let word = b.u32()?;
        let number = b.i32()?;
        let comm = match word & COMM {
            0 => None,
            _ => Some(b.u64()?),
        };
        let mut message = || {
            Some(UserMessage {
                partner: b.i32()?,
                tag: b.i32()?,
                bytes: b.i64()?,
            })
        };
        let what = match word & 0xFF {
            what::ENTER => UserEventContent::Enter,
            what::EXIT => UserEventContent::Exit,
            what::SEND => UserEventContent::Send(message()?),
            what::RECEIVE => UserEventContent::Receive(message()?),
            what::MARK => UserEventContent::Mark(b.u64()?),
            what::TEXT => UserEventContent::Text(b.string()??),
            what::MPE if word & CARGO == 0 => UserEventContent::Mpe(None),
            what::MPE => UserEventContent::Mpe(Some(b.take(CARGO_SIZE)?.try_into().ok()?)),
            _ => return None,
        };
        Some(UserEvent {
            number,
            comm,
            inside: word & INSIDE != 0,
            content: what,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::define::{Definition, USER_CATEGORY};

    #[test]
    fn categories_round_trip() {
        let category = UserCategory {
            kind: UserCategoryKind::State,
            number: 600,
            end: 601,
            name: "größer".to_owned(),
            color: "navy".to_owned(),
            format: "a=%d".to_owned(),
        };
        let definition = Definition::UserCategory(category);
        let bytes = definition.encode();
        for cut in 0..bytes.len() {
            assert_eq!(Definition::decode(USER_CATEGORY, &bytes[..cut]), None);
        }
        assert_eq!(Definition::decode(USER_CATEGORY, &bytes), Some(definition));
    }

    #[test]
    fn events_round_trip() {
        let message = UserMessage {
            partner: -1,
            tag: 7,
            bytes: 1 << 40,
        };
        for what in [
            UserEventContent::Enter,
            UserEventContent::Exit,
            UserEventContent::Mark(u64::MAX),
            UserEventContent::Text(b"some text"),
            UserEventContent::Mpe(None),
            UserEventContent::Mpe(Some(&[7; CARGO_SIZE])),
            UserEventContent::Send(message),
            UserEventContent::Receive(message),
        ] {
            for (comm, inside) in [(None, false), (Some(0x4400_0000), true)] {
                let event = UserEvent {
                    number: -3,
                    comm,
                    inside,
                    content: what,
                };
                let bytes = event.encode();
                assert_eq!(UserEvent::decode(&bytes), Some(event));
                for cut in 0..bytes.len() {
                    assert_eq!(UserEvent::decode(&bytes[..cut]), None);
                }
            }
        }
        assert_eq!(UserEvent::decode(&[0xFF; 64]), None);
    }
}
