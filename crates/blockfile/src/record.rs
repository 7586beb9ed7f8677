//! Head of a record, and walking over the records of a block.
//!
//! ```text
//! 0   u16  function (low 12 bits) and flags (high 4)
//! 2   u16  size of the whole record in units of 4 bytes
//! 4   u32  start, ticks since the time base
//! 8   u32  duration, ticks
//! 12  u32  CallID counter since the call base
//! 16       LONG: u64 duration | ERROR: i32 return code | CPU: u64, u64 CPU ns at start and stop; then the arguments
//! ```
//!
//! The bases are those of the block header until a [`TIME_BASE`] record sets new ones.

use crate::numbers::{FIRST_OPERATION, TIME_BASE};

pub use crate::numbers::{FIRST_DEFINITION, FIRST_UNKNOWN};

/// Bytes of the fixed head.
pub const HEAD: usize = 16;
/// Bytes that the optional parts of a head can take.
pub const HEAD_EXTRA: usize = 8 + 4 + 16;
/// Mask of the function number.
pub const FUNCTION: u16 = 0x0FFF;
/// The duration did not fit 32 bits: a u64 follows the head.
pub const LONG: u16 = 0x1000;
/// The call returned something else than MPI_SUCCESS: an i32 follows.
pub const ERROR: u16 = 0x2000;
/// A buffer argument was MPI_IN_PLACE.
pub const IN_PLACE: u16 = 0x4000;
/// CPU times follow (two u64, ns of the process CPU clock at start and stop).
pub const CPU: u16 = 0x8000;

/// One record of a block.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Function number: position in the table, an unknown function, or a definition.
    pub function: u16,
    /// Whether a buffer argument was MPI_IN_PLACE.
    pub in_place: bool,
    /// Start, ticks.
    pub start: u64,
    /// Duration, ticks.
    pub duration: u64,
    /// Counter field of the CallID.
    pub call: u64,
    /// What the call returned (0 is MPI_SUCCESS); definitions: 0.
    pub code: i32,
    /// Process CPU time in ns at start and stop, if it was asked for.
    pub cpu: Option<(u64, u64)>,
    /// The packed arguments; see [`crate::args`].
    pub payload: &'a [u8],
}

impl Record<'_> {
    /// End of the call, ticks.
    pub fn stop(&self) -> u64 {
        self.start.wrapping_add(self.duration)
    }

    /// Whether this is a definition and no call.
    pub fn is_definition(&self) -> bool {
        self.function >= FIRST_DEFINITION
    }

    /// Whether this is an operation below MPI ([`crate::operation`]).
    pub fn is_operation(&self) -> bool {
        (FIRST_OPERATION..FIRST_UNKNOWN).contains(&self.function)
    }

    /// Whether this is an MPI call.
    #[inline]
    pub fn is_call(&self) -> bool {
        !self.is_definition() && !self.is_operation()
    }
}

pub(crate) fn u16_at(b: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(b.get(at..at + 2)?.try_into().ok()?))
}
pub(crate) fn u32_at(b: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(b.get(at..at + 4)?.try_into().ok()?))
}
pub(crate) fn u64_at(b: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(b.get(at..at + 8)?.try_into().ok()?))
}

/// Time and call bases that heads count from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordBase {
    /// Ticks.
    pub time: u64,
    /// CallID counter.
    pub call: u64,
}

/// Decodes the record at the start of `bytes`; gives it with its size in bytes.
///
/// `None` where no whole, plausible record stands.
pub fn decode(bytes: &[u8], base: RecordBase) -> Option<(Record<'_>, usize)> {
    let word = u16_at(bytes, 0)?;
    let size = usize::from(u16_at(bytes, 2)?) * 4;
    let record = parse(word, bytes.get(..size)?, base)?;
    Some((record, size))
}

/// Decodes the record that `bytes` are, whatever size its head names.
pub fn decode_whole(bytes: &[u8], base: RecordBase) -> Option<Record<'_>> {
    parse(u16_at(bytes, 0)?, bytes, base)
}

fn parse(word: u16, body: &[u8], base: RecordBase) -> Option<Record<'_>> {
    let mut at = HEAD;
    let mut duration = u64::from(u32_at(body, 8)?);
    let call = u64::from(u32_at(body, 12)?);
    if word & LONG != 0 {
        duration = u64_at(body, at)?;
        at += 8;
    }
    let mut code = 0;
    if word & ERROR != 0 {
        code = u32_at(body, at)? as i32;
        at += 4;
    }
    let mut cpu = None;
    if word & CPU != 0 {
        cpu = Some((u64_at(body, at)?, u64_at(body, at + 8)?));
        at += 16;
    }
    Some(Record {
        function: word & FUNCTION,
        in_place: word & IN_PLACE != 0,
        start: base.time.wrapping_add(u64::from(u32_at(body, 4)?)),
        duration,
        call: base.call.wrapping_add(call),
        code,
        cpu,
        payload: body.get(at..)?,
    })
}

/// Walks over the records of one block's committed bytes. `TIME_BASE` records are used up, all others are given.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
    base: RecordBase,
}

impl<'a> Records<'a> {
    /// Over `bytes`, counting from `base`.
    pub fn new(bytes: &'a [u8], base: RecordBase) -> Self {
        Records { bytes, at: 0, base }
    }

    /// Bytes used up so far; less than there are when a damaged record stopped the walk.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The bases now in force.
    pub fn base(&self) -> RecordBase {
        self.base
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        loop {
            let (record, size) = decode(self.bytes.get(self.at..)?, self.base)?;
            if size < HEAD {
                return None;
            }
            self.at += size;
            if record.function != TIME_BASE {
                return Some(record);
            }
            self.base = RecordBase {
                time: u64_at(record.payload, 0)?,
                call: u64_at(record.payload, 8)?,
            };
        }
    }
}
