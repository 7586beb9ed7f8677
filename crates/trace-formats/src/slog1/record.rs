//! Records as bytes (`spec/slog1.md` section 6).

use super::cursor::Slog1Cursor;
use super::error::{Slog1Error, Slog1ErrorKind};
use super::key::RecordKey;
use super::types::RecordDefinition;

/// First record type of states with the arguments of the definition table.
pub const STATE: u16 = 64;
/// First record type of states with variable arguments.
pub const STATE_VARIABLE: u16 = 0;
/// First record type of arrows with the arguments of the definition table.
pub const ARROW: u16 = 192;
/// First record type of arrows with variable arguments.
pub const ARROW_VARIABLE: u16 = 128;

/// Bytes of a state without associations and arguments.
pub(super) const STATE_SIZE: usize = 34;
/// Bytes that the destination of an arrow takes.
const TASK_SIZE: usize = 7;

/// Node and thread of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TaskId {
    /// Node; of an MPI program often the rank.
    pub node: u16,
    /// Processor.
    pub cpu: u8,
    /// Number of the thread on the node.
    pub thread: u32,
}

/// Numbers of 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordArray<'a>(&'a [u8]);

impl<'a> WordArray<'a> {
    /// The numbers in these big-endian bytes; bytes behind the last whole number are left out.
    pub fn new(bytes: &'a [u8]) -> Self {
        WordArray(&bytes[..bytes.len() / 4 * 4])
    }

    /// Number of words.
    pub fn len(self) -> usize {
        self.0.len() / 4
    }

    /// True if there are none.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The numbers.
    pub fn iter(self) -> impl Iterator<Item = u32> + use<'a> {
        self.0
            .chunks_exact(4)
            .map(|word| u32::from_be_bytes(word.first_chunk().copied().unwrap_or_default()))
    }

    /// The numbers as big-endian bytes.
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }
}

/// The arguments of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arguments<'a> {
    /// Arguments, as many as the definition says.
    Fixed(WordArray<'a>),
    /// ArgumentGroups, each with its own number.
    Groups(ArgumentGroups<'a>),
}

impl<'a> Arguments<'a> {
    /// The arguments, group by group; groups without any, which the original does not keep, are left out.
    pub fn groups(self) -> impl Iterator<Item = WordArray<'a>> {
        let (fixed, groups) = match self {
            Arguments::Fixed(words) => (Some(words), ArgumentGroups(&[])),
            Arguments::Groups(groups) => (None, groups),
        };
        let all = fixed.into_iter().chain(groups);
        all.filter(|words| !words.is_empty())
    }

    fn bytes(self) -> &'a [u8] {
        match self {
            Arguments::Fixed(words) => words.bytes(),
            Arguments::Groups(groups) => groups.0,
        }
    }
}

/// ArgumentGroups of arguments: each a number n of 16 bits and n numbers of 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArgumentGroups<'a>(&'a [u8]);

impl<'a> ArgumentGroups<'a> {
    /// The groups in these bytes.
    ///
    /// # Errors
    /// If a group ends behind the last byte.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Slog1Error> {
        let mut from = Slog1Cursor::over(bytes, 0, "group of arguments");
        while !from.is_empty() {
            let count = from.u16()?;
            from.take(usize::from(count) * 4)?;
        }
        Ok(ArgumentGroups(bytes))
    }
}

impl<'a> Iterator for ArgumentGroups<'a> {
    type Item = WordArray<'a>;

    fn next(&mut self) -> Option<WordArray<'a>> {
        let (count, rest) = self.0.split_first_chunk()?;
        let size = usize::from(u16::from_be_bytes(*count)) * 4;
        let (words, rest) = rest.split_at_checked(size)?;
        self.0 = rest;
        Some(WordArray(words))
    }
}

/// An interval: a state, or an arrow between two places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slog1Record<'a> {
    /// Way in which it is stored: [`STATE`] and the like. Values beyond the first type of a kind have no known meaning.
    pub rectype: u16,
    /// Key of the record: its type and piece.
    pub key: RecordKey,
    /// Start, seconds.
    pub start: f64,
    /// Duration, seconds.
    pub duration: f64,
    /// Node and thread of the interval; for an arrow those of its earlier end.
    pub origin: TaskId,
    /// Node and thread of the later end of an arrow; `None` for other records.
    pub destination: Option<TaskId>,
    /// Address of the instruction that called, 0 if unknown.
    pub address: u32,
    /// Associated records.
    pub associations: WordArray<'a>,
    /// Arguments.
    pub arguments: Arguments<'a>,
}

/// True for record types of arrows.
pub fn is_arrow(rectype: u16) -> bool {
    rectype >= ARROW_VARIABLE
}

/// True for record types with variable arguments.
pub fn is_variable(rectype: u16) -> bool {
    rectype & STATE == 0
}

/// Bytes of a record of this type with this many associations and fixed arguments.
pub(super) fn fixed_size(rectype: u16, definition: &RecordDefinition) -> usize {
    let words = usize::from(definition.associations) + usize::from(definition.arguments);
    let destination = if is_arrow(rectype) { TASK_SIZE } else { 0 };
    STATE_SIZE + destination + 4 * words
}

impl<'a> Slog1Record<'a> {
    /// End, seconds: start plus duration, as the original computes it.
    pub fn end(&self) -> f64 {
        self.start + self.duration
    }

    /// Bytes it takes.
    pub fn size(&self) -> usize {
        let destination = self.destination.map_or(0, |_| TASK_SIZE);
        STATE_SIZE + destination + self.associations.0.len() + self.arguments.bytes().len()
    }

    /// Appends its bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.size() as u16).to_be_bytes());
        out.extend_from_slice(&self.rectype.to_be_bytes());
        out.extend_from_slice(&self.key.intvltype.to_be_bytes());
        out.push(self.key.bebits.code());
        out.extend_from_slice(&self.start.to_be_bytes());
        out.extend_from_slice(&self.duration.to_be_bytes());
        for task in [Some(self.origin), self.destination].into_iter().flatten() {
            out.extend_from_slice(&task.node.to_be_bytes());
            out.push(task.cpu);
            out.extend_from_slice(&task.thread.to_be_bytes());
        }
        out.extend_from_slice(&self.address.to_be_bytes());
        out.extend_from_slice(self.associations.0);
        out.extend_from_slice(self.arguments.bytes());
    }

    /// Reads the record at the front of `from`.
    pub(super) fn decode(
        from: &mut Slog1Cursor<'a>,
        define: impl Fn(RecordKey) -> Option<RecordDefinition>,
    ) -> Result<Self, Slog1Error> {
        let offset = from.offset();
        let fail = |kind| Err(Slog1Error::new(offset, kind));
        from.need(STATE_SIZE as u64)?;
        let mut ahead = *from;
        let size = usize::from(ahead.u16()?);
        if size < STATE_SIZE {
            let expected = STATE_SIZE;
            return fail(Slog1ErrorKind::RecordSize {
                expected,
                found: size,
            });
        }
        let mut from = Slog1Cursor::over(from.take(size)?, offset, "record");
        from.u16()?;
        let rectype = from.u16()?;
        if rectype > 255 {
            return fail(Slog1ErrorKind::RecordType(rectype));
        }
        let key = RecordKey::decode(&mut from)?;
        let Some(definition) = define(key) else {
            return fail(Slog1ErrorKind::Undefined(key));
        };
        let expected = if is_variable(rectype) {
            let arguments = 0;
            fixed_size(
                rectype,
                &RecordDefinition {
                    arguments,
                    ..definition
                },
            )
        } else {
            fixed_size(rectype, &definition)
        };
        if size < expected || (size > expected && !is_variable(rectype)) {
            return fail(Slog1ErrorKind::RecordSize {
                expected,
                found: size,
            });
        }
        let (start, duration) = (from.f64()?, from.f64()?);
        let mut task = || -> Result<TaskId, Slog1Error> {
            Ok(TaskId {
                node: from.u16()?,
                cpu: from.u8()?,
                thread: from.u32()?,
            })
        };
        let origin = task()?;
        let destination = if is_arrow(rectype) {
            Some(task()?)
        } else {
            None
        };
        let address = from.u32()?;
        let associations = WordArray(from.take(usize::from(definition.associations) * 4)?);
        let at = from.offset();
        let arguments = if is_variable(rectype) {
            Arguments::Groups(ArgumentGroups::new(from.rest()).map_err(|error| error.moved(at))?)
        } else {
            Arguments::Fixed(WordArray(from.rest()))
        };
        Ok(Slog1Record {
            rectype,
            key,
            start,
            duration,
            origin,
            destination,
            address,
            associations,
            arguments,
        })
    }
}
