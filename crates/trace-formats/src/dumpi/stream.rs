//! The stream of calls: one [`DumpiRecord`] after the other, without allocation and without copying.

use super::cursor::DumpiCursor;
use super::dialect::{Mask, StreamDialect};
use super::error::{DumpiError, DumpiErrorKind};
use super::functions::{self, DumpiFunction, END_OF_STREAM, FINALIZE};
use super::types::{CallCounters, ClockOffsets, ClockSpan, ClockTime, DumpiRecord, FieldValues};

/// Iterator over the calls of a file. After an error it ends.
#[derive(Clone, Debug)]
pub struct DumpiRecords<'a> {
    /// The file up to the end of the stream.
    bytes: &'a [u8],
    pos: usize,
    offsets: ClockOffsets,
    dialect: StreamDialect,
    /// Whether the stream may end without its end mark, at the section that follows it.
    bounded: bool,
    finalized: bool,
    done: bool,
}

impl<'a> DumpiRecords<'a> {
    /// Records from `body`, where the time offsets stand, to the end of `bytes`.
    pub(super) fn new(
        bytes: &'a [u8],
        body: usize,
        offsets: ClockOffsets,
        dialect: StreamDialect,
        bounded: bool,
    ) -> Self {
        Self {
            bytes,
            pos: body.saturating_add(8),
            offsets,
            dialect,
            bounded,
            finalized: false,
            done: false,
        }
    }

    /// Byte offset of the next record; at the end, of what follows the stream.
    pub fn offset(&self) -> usize {
        self.pos
    }

    fn advance(&mut self) -> Result<Option<DumpiRecord<'a>>, DumpiError> {
        let start = self.pos;
        if self.bounded && start >= self.bytes.len() {
            return Ok(None);
        }
        let mut c = DumpiCursor::at(self.bytes, start);
        let short = |what| DumpiError::new(start as u64, DumpiErrorKind::Short(what));
        let id = c.u16().ok_or_else(|| short("stream of calls"))?;
        if id == END_OF_STREAM || id == 0 && self.finalized {
            self.pos = c.pos();
            return Ok(None);
        }
        let Some(function) = callable(id) else {
            return Err(DumpiError::new(
                start as u64,
                DumpiErrorKind::UnknownFunction(id),
            ));
        };
        let head = self.head(&mut c);
        let (mask, thread, cpu, wall, counters) = head.ok_or_else(|| short("head of a record"))?;
        let at = c.pos();
        let cut = |field| {
            let function = function.name;
            DumpiError::new(
                start as u64,
                DumpiErrorKind::ShortRecord { function, field },
            )
        };
        let len = measure(function, mask, self.dialect, c).map_err(cut)?;
        let Some(args) = c.slice(len) else {
            let walked = walk(function, mask, self.dialect, c);
            return Err(cut(walked.err().unwrap_or_default()));
        };
        self.pos = at + len;
        self.finalized = id == FINALIZE;
        Ok(Some(DumpiRecord {
            offset: start as u64,
            function,
            mask,
            thread,
            cpu,
            wall,
            counters,
            args,
            dialect: self.dialect,
        }))
    }

    /// Fields between the function id and the arguments.
    #[inline]
    fn head(
        &self,
        c: &mut DumpiCursor<'a>,
    ) -> Option<(Mask, u16, ClockSpan, ClockSpan, CallCounters<'a>)> {
        let mask = Mask(c.u8()?);
        let thread = if mask.has(Mask::THREAD) { c.u16()? } else { 0 };
        let cpu = if mask.has(Mask::CPU) {
            span(c, self.offsets.cpu)?
        } else {
            ClockSpan::default()
        };
        let wall = if mask.has(Mask::WALL) {
            span(c, self.offsets.wall)?
        } else {
            ClockSpan::default()
        };
        let counters = if mask.has(Mask::COUNTERS) {
            let count = c.u8()?;
            CallCounters(c.slice(16 * usize::from(count))?)
        } else {
            CallCounters(&[])
        };
        Some((mask, thread, cpu, wall, counters))
    }
}

impl<'a> Iterator for DumpiRecords<'a> {
    type Item = Result<DumpiRecord<'a>, DumpiError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let item = self.advance();
        self.done = !matches!(item, Ok(Some(_)));
        item.transpose()
    }
}

impl std::iter::FusedIterator for DumpiRecords<'_> {}

/// The entry of an id that can stand in a stream.
#[inline]
pub(super) fn callable(id: u16) -> Option<&'static DumpiFunction> {
    const PCONTROL: u16 = 128;
    if id == functions::ALL_FUNCTIONS || id == PCONTROL {
        return None;
    }
    functions::by_id(id)
}

#[inline]
fn span(c: &mut DumpiCursor<'_>, offset: i32) -> Option<ClockSpan> {
    let clock = |b: &[u8; 6]| ClockTime {
        sec: i32::from(u16::from_be_bytes([b[0], b[1]])).wrapping_add(offset),
        nsec: i32::from_be_bytes([b[2], b[3], b[4], b[5]]),
    };
    match c.slice(12)?.as_chunks::<6>().0 {
        [start, stop] => Some(ClockSpan {
            start: clock(start),
            stop: clock(stop),
        }),
        _ => None,
    }
}

/// Length of the arguments at `c`, in bytes, or the name of the field within which the bytes end. For arguments of
/// fixed size the caller still has to see whether they are there.
#[inline]
pub(super) fn measure(
    function: &'static DumpiFunction,
    mask: Mask,
    dialect: StreamDialect,
    c: DumpiCursor<'_>,
) -> Result<usize, &'static str> {
    match function.fixed {
        Some(fixed) => Ok(fixed.into()),
        None => walk(function, mask, dialect, c),
    }
}

/// [`measure`] field by field.
fn walk(
    function: &'static DumpiFunction,
    mask: Mask,
    dialect: StreamDialect,
    c: DumpiCursor<'_>,
) -> Result<usize, &'static str> {
    let start = c.pos();
    let mut args = FieldValues::new(function, mask, dialect, c);
    while let Some(pulled) = args.pull() {
        pulled.map_err(|field| field.name)?;
    }
    Ok(args.pos() - start)
}
