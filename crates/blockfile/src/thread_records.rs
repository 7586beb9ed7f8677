//! The records of a thread in order, block after block. A record larger than a block stands in several as fragments, and is put together.

use crate::args::ByteCursor;
use crate::block_bytes::{Blocks, block_records};
use crate::define;
use crate::record::{self, Record, Records};

/// Bytes in front of the arguments of a record that is put together of fragments: u16 function and flags, i32 return code.
const WHOLE_HEAD: usize = 6;

/// The record whose fragments are together in `bytes`, without its arguments, which stand behind [`WHOLE_HEAD`]. Times and
/// CallID are those of the fragments.
fn whole(bytes: &[u8], fragment: Record<'_>) -> Option<Record<'static>> {
    let b = &mut ByteCursor::new(bytes);
    let word = b.u16()?;
    let code = b.i32()?;
    Some(Record {
        function: word & record::FUNCTION,
        in_place: word & record::IN_PLACE != 0,
        code,
        payload: &[],
        ..fragment
    })
}

/// Walks over a thread's records. It lends them, because a record larger than a block is put together in a buffer.
#[derive(Debug, Clone)]
pub struct ThreadRecords<'a> {
    blocks: Blocks<'a>,
    /// Number of the thread.
    number: u32,
    /// Position of the next block.
    next: usize,
    /// Whether `records` are those of a pinned block.
    pinned: bool,
    /// The block that the walk is in.
    records: Records<'a>,
    /// The record that the walk stands at, if it is not as it stands in the block: without its arguments if these were put
    /// together in `whole`.
    unusual: Option<Record<'a>>,
    is_whole: bool,
    whole: Vec<u8>,
}

impl<'a> ThreadRecords<'a> {
    /// Before the first record of a thread with this number, in these blocks.
    pub(crate) fn new(blocks: Blocks<'a>, number: u32) -> ThreadRecords<'a> {
        ThreadRecords {
            blocks,
            number,
            next: 0,
            pinned: false,
            records: Records::default(),
            unusual: None,
            is_whole: false,
            whole: Vec::new(),
        }
    }

    /// Goes to the next record; false at the end.
    #[inline]
    pub fn advance(&mut self) -> bool {
        self.advance_to().is_some()
    }

    /// Goes to the next record and gives its function number; `None` at the end.
    #[inline]
    pub fn advance_to(&mut self) -> Option<u16> {
        loop {
            let Some(function) = self.records.advance() else {
                self.enter_next_block()?;
                continue;
            };
            if !self.pinned && function != define::FRAGMENT {
                self.unusual = None;
                return Some(function);
            }
            self.unusual = self.unusual();
            if let Some(record) = &self.unusual {
                return Some(record.function);
            }
        }
    }

    /// Goes past some of the calls that come next, all or none of them: those in the block that are told by their head alone. Gives
    /// function, start and stop of each to `take`.
    #[inline]
    pub fn take_calls(&mut self, take: impl FnMut(u16, u64, u64)) {
        if !self.pinned {
            self.records.take_calls(take);
        }
    }

    /// The record that [`ThreadRecords::advance`] went to.
    #[inline(always)] // as what it calls
    pub fn record(&self) -> Record<'_> {
        match &self.unusual {
            None => self.records.record(),
            Some(record) => self.put_together(record),
        }
    }

    /// The record that [`ThreadRecords::advance`] went to, if it stands in its block as it is; `None` where it was put together.
    #[inline(always)] // as what it calls
    pub fn record_in_place(&self) -> Option<Record<'a>> {
        self.unusual.is_none().then(|| self.records.record())
    }

    /// The next record.
    #[allow(clippy::should_implement_trait, reason = "it lends from its buffer")]
    #[inline]
    pub fn next(&mut self) -> Option<Record<'_>> {
        self.advance().then(|| self.record())
    }

    fn enter_next_block(&mut self) -> Option<()> {
        if let Some(left) = self.next.checked_sub(1) {
            self.blocks.leave(left);
        }
        self.records = block_records(self.blocks.get(self.next)?);
        self.pinned = self.blocks.is_pinned(self.next);
        self.next += 1;
        Some(())
    }

    /// The record at which the walk stops, if it stops at the record given last, which stands in a pinned block or is a fragment: the last
    /// fragment makes a record whole.
    #[cold]
    fn unusual(&mut self) -> Option<Record<'a>> {
        let mut record = self.records.record();
        if self.pinned {
            // It is another thread's, or stands in a block that is still there.
            let block = record.duration as u32;
            if record.call as u32 != self.number || self.blocks.there.binary_search(&block).is_ok()
            {
                return None;
            }
            (record.call, record.duration) = (0, 0);
        }
        self.is_whole = record.function == define::FRAGMENT;
        if self.is_whole {
            self.add_fragment(record.payload)?;
            return whole(&self.whole, record);
        }
        Some(record)
    }

    #[cold]
    fn put_together<'r>(&'r self, head: &Record<'r>) -> Record<'r> {
        let payload = match self.is_whole {
            false => head.payload,
            true => self.whole.get(WHOLE_HEAD..).unwrap_or_default(),
        };
        Record { payload, ..*head }
    }

    /// Adds a fragment; `Some` when the record is whole.
    fn add_fragment(&mut self, payload: &[u8]) -> Option<()> {
        let b = &mut ByteCursor::new(payload);
        let (total, offset) = (b.u32()? as usize, b.u32()? as usize);
        if offset == 0 {
            self.whole.clear();
        }
        if offset != self.whole.len() {
            return None;
        }
        let part = b.rest();
        self.whole
            .extend_from_slice(&part[..part.len().min(total - offset.min(total))]);
        (self.whole.len() == total).then_some(())
    }
}
