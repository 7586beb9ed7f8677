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
#[derive(Clone, Copy, Debug, Default)]
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
    /// Return code of the call (0 is MPI_SUCCESS); 0 in definitions.
    pub code: i32,
    /// Process CPU time in ns at start and stop, if it was asked for.
    pub cpu: Option<(u64, u64)>,
    /// The packed arguments; see [`crate::args`].
    pub payload: &'a [u8],
}

/// Whether records with this function number are MPI calls: no definitions, and no operations below MPI.
#[inline]
pub fn is_call(function: u16) -> bool {
    function < FIRST_OPERATION || (FIRST_UNKNOWN..FIRST_DEFINITION).contains(&function)
}

impl Record<'_> {
    /// End of the call, ticks.
    #[inline]
    pub fn stop(&self) -> u64 {
        self.start.wrapping_add(self.duration)
    }

    /// Whether this is a definition and no call.
    #[inline]
    pub fn is_definition(&self) -> bool {
        self.function >= FIRST_DEFINITION
    }

    /// Whether this is an operation below MPI ([`crate::operation`]).
    #[inline]
    pub fn is_operation(&self) -> bool {
        (FIRST_OPERATION..FIRST_UNKNOWN).contains(&self.function)
    }

    /// Whether this is an MPI call.
    #[inline]
    pub fn is_call(&self) -> bool {
        is_call(self.function)
    }
}

#[inline]
pub(crate) fn u16_at(b: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(b.get(at..at + 2)?.try_into().ok()?))
}
#[inline]
pub(crate) fn u32_at(b: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(b.get(at..at + 4)?.try_into().ok()?))
}
#[inline]
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

/// Flags of the optional parts of a record's head.
const EXTRA: u16 = LONG | ERROR | CPU;

/// Bytes of the optional parts that these flags announce.
#[inline]
fn extra_bytes(word: u16) -> usize {
    let part = |flag, bytes| if word & flag == 0 { 0 } else { bytes };
    part(LONG, 8) + part(ERROR, 4) + part(CPU, 16)
}

/// Decodes the record at the start of `bytes`; gives it with its size in bytes.
///
/// `None` where no whole, plausible record stands.
pub fn decode(bytes: &[u8], base: RecordBase) -> Option<(Record<'_>, usize)> {
    let (_, size) = measure(bytes)?;
    Some((parse(bytes.get(..size)?, base), size))
}

/// Decodes the record that `bytes` are, whatever size its head names.
pub fn decode_whole(bytes: &[u8], base: RecordBase) -> Option<Record<'_>> {
    let word = u16_at(bytes, 0)?;
    (bytes.len() >= HEAD + extra_bytes(word)).then(|| parse(bytes, base))
}

/// Number and flags, and size in bytes, of the record at the start of `bytes`; `None` where no whole, plausible record stands.
#[inline]
fn measure(bytes: &[u8]) -> Option<(u16, usize)> {
    let word = u16_at(bytes, 0)?;
    let size = usize::from(u16_at(bytes, 2)?) * 4;
    let mut least = HEAD;
    if word & EXTRA != 0 {
        least += extra_bytes(word);
    }
    (least <= size && size <= bytes.len()).then_some((word, size))
}

/// The record that `body` is, which must be long enough for its head.
// Always put in place, and without an `Option`: a caller reads the few fields that it needs, where a record that is handed over is
// copied as a whole, right after it was made.
#[inline(always)]
fn parse(body: &[u8], base: RecordBase) -> Record<'_> {
    let Some((head, payload)) = body.split_first_chunk::<HEAD>() else {
        return Record::default();
    };
    // Each read by itself: of a head that is taken apart as a whole, the parts are shifted out of one large number.
    let word = u16_at(head, 0).unwrap_or_default();
    let wide = |at| u64::from(u32_at(head, at).unwrap_or_default());
    let mut extra = Extra {
        duration: wide(8),
        code: 0,
        cpu: None,
        bytes: 0,
    };
    if word & EXTRA != 0 {
        extra = Extra::read(word, extra.duration, payload);
    }
    Record {
        function: word & FUNCTION,
        in_place: word & IN_PLACE != 0,
        start: base.time.wrapping_add(wide(4)),
        duration: extra.duration,
        call: base.call.wrapping_add(wide(12)),
        code: extra.code,
        cpu: extra.cpu,
        payload: payload.get(extra.bytes..).unwrap_or_default(),
    }
}

/// The optional parts of a head.
struct Extra {
    duration: u64,
    code: i32,
    cpu: Option<(u64, u64)>,
    /// Bytes of the parts.
    bytes: usize,
}

impl Extra {
    /// The parts that `word` announces, at the start of `bytes`; `duration` holds if none of them is one.
    #[cold]
    fn read(word: u16, duration: u64, bytes: &[u8]) -> Extra {
        let long = |at| u64_at(bytes, at).unwrap_or_default();
        let mut extra = Extra {
            duration,
            code: 0,
            cpu: None,
            bytes: 0,
        };
        if word & LONG != 0 {
            extra.duration = long(extra.bytes);
            extra.bytes += 8;
        }
        if word & ERROR != 0 {
            extra.code = u32_at(bytes, extra.bytes).unwrap_or_default() as i32;
            extra.bytes += 4;
        }
        if word & CPU != 0 {
            extra.cpu = Some((long(extra.bytes), long(extra.bytes + 8)));
            extra.bytes += 16;
        }
        extra
    }
}

/// Walks over the records of one block's committed bytes. `TIME_BASE` records are used up, all others are given.
#[derive(Clone, Debug, Default)]
pub struct Records<'a> {
    bytes: &'a [u8],
    /// Start of the record that was given last.
    given: usize,
    at: usize,
    base: RecordBase,
}

impl<'a> Records<'a> {
    /// Over `bytes`, counting from `base`.
    pub fn new(bytes: &'a [u8], base: RecordBase) -> Self {
        Records {
            bytes,
            given: 0,
            at: 0,
            base,
        }
    }

    /// Goes to the next record and gives its function number; `None` at the end, or where a damaged record stops the walk.
    #[inline]
    pub(crate) fn advance(&mut self) -> Option<u16> {
        loop {
            let (word, size) = measure(self.bytes.get(self.at..)?)?;
            self.given = self.at;
            self.at += size;
            if word & FUNCTION != TIME_BASE {
                return Some(word & FUNCTION);
            }
            let payload = self.record().payload;
            self.base = RecordBase {
                time: u64_at(payload, 0)?,
                call: u64_at(payload, 8)?,
            };
        }
    }

    /// Goes past the calls that come next, up to a record that is no call or has more than the fixed head. Gives function, start and
    /// stop of each to `take`.
    #[inline]
    pub(crate) fn take_calls(&mut self, mut take: impl FnMut(u16, u64, u64)) {
        while let Some(rest) = self.bytes.get(self.at..)
            && let Some(head) = rest.first_chunk::<HEAD>()
        {
            let word = u16_at(head, 0).unwrap_or_default();
            let size = usize::from(u16_at(head, 2).unwrap_or_default()) * 4;
            let function = word & FUNCTION;
            if word & EXTRA != 0 || size < HEAD || size > rest.len() || !is_call(function) {
                return;
            }
            let wide = |at| u64::from(u32_at(head, at).unwrap_or_default());
            let start = self.base.time.wrapping_add(wide(4));
            take(function, start, start.wrapping_add(wide(8)));
            self.given = self.at;
            self.at += size;
        }
    }

    /// The record that [`Records::advance`] went to: read when it is asked for, which takes less time than to keep it.
    #[inline(always)]
    pub(crate) fn record(&self) -> Record<'a> {
        let body = self.bytes.get(self.given..self.at);
        parse(body.unwrap_or_default(), self.base)
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

    #[inline]
    fn next(&mut self) -> Option<Record<'a>> {
        self.advance().map(|_| self.record())
    }
}
