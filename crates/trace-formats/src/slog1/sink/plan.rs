//! Finds out how large frames must be, and how much of each the first pass must leave free, so that the copies of the
//! second pass fit (`spec/slog1.md` section 8).

use super::super::error::{Slog1Error, Slog1ErrorKind};
use super::super::from_clog1::Slog1Options;
use super::super::record::Slog1Record;
use super::super::types::FRAME_HEADER_SIZE;

/// Bytes of a frame where nothing is given: those of `clog2slog`.
const FRAME_SIZE: u32 = 65536;
/// Frames do not grow beyond this of themselves.
const LARGEST: u32 = 1 << 30;

/// A layout of frames.
#[derive(Debug)]
pub(super) struct FramePlan {
    pub(super) frame_size: u32,
    /// Bytes that the first pass leaves free.
    pub(super) reserved: u32,
    may_grow: bool,
    directory: Option<u32>,
    frames: Vec<PlannedFrame>,
}

/// A frame as the first pass makes it.
#[derive(Clone, Copy, Debug)]
struct PlannedFrame {
    start: f64,
    /// Bytes of its own records.
    used: u64,
    /// Bytes of copies: of this frame less those of the frame before it.
    more: i64,
}

/// Takes records one after the other.
type RecordSink<'p> = &'p mut dyn FnMut(&Slog1Record<'_>) -> Result<(), Slog1Error>;

impl FramePlan {
    pub(super) fn new(options: &Slog1Options) -> Self {
        FramePlan {
            frame_size: options.frame_size.unwrap_or(FRAME_SIZE),
            reserved: 0,
            may_grow: options.frame_size.is_none(),
            directory: options.frames_per_directory.filter(|&number| number > 0),
            frames: Vec::new(),
        }
    }

    /// Entries of the directory. One more than there are frames, because `slog_print` misses it.
    pub(super) fn directory(&self) -> u32 {
        let needed = u32::try_from(self.frames.len() + 1).unwrap_or(u32::MAX);
        self.directory.unwrap_or(needed.max(2))
    }

    /// Lets frames and what is left free of them grow until everything fits. `records` gives all records each time.
    pub(super) fn settle(
        &mut self,
        mut records: impl FnMut(RecordSink<'_>) -> Result<(), Slog1Error>,
    ) -> Result<(), Slog1Error> {
        loop {
            self.frames.clear();
            let mut largest = 0;
            let mut before = f64::NEG_INFINITY;
            let mut previous_end = f64::NEG_INFINITY;
            records(&mut |record| {
                let size = record.size() as u64;
                largest = largest.max(size);
                let limit = u64::from(self.frame_size);
                let fixed = FRAME_HEADER_SIZE as u64 + u64::from(self.reserved);
                let is_full = |frame: &PlannedFrame| fixed + frame.used + size > limit;
                if self.frames.last().is_none_or(is_full) {
                    before = previous_end;
                    self.frames.push(PlannedFrame {
                        start: before,
                        used: 0,
                        more: 0,
                    });
                }
                let last = self.frames.len() - 1;
                self.frames[last].used += size;
                // The frame it begins in; the first one begins before everything.
                let start = record.start;
                let begins = self.frames.partition_point(|frame| frame.start <= start);
                let begins = begins.saturating_sub(1);
                if begins < last {
                    self.frames[begins].more += size as i64;
                    self.frames[last].more -= size as i64;
                }
                previous_end = record.end();
                Ok(())
            })?;
            let (needed, copies) = self.needed();
            let least = FRAME_HEADER_SIZE as u64 + largest;
            if needed.max(least) <= u64::from(self.frame_size) {
                return Ok(());
            }
            let (needed, size) = (needed.max(least), self.frame_size);
            let full = Slog1Error::new(0, Slog1ErrorKind::FrameFull { needed, size });
            // A little more, because other borders meet other records.
            let reserved = copies.max(u64::from(self.reserved)) * 9 / 8 + 64;
            self.reserve(reserved, least, full)?;
        }
    }

    /// Bytes of the fullest frame with its copies, and of the most copies.
    fn needed(&self) -> (u64, u64) {
        let (mut needed, mut most, mut copies) = (0, 0, 0i64);
        for frame in &self.frames {
            copies += frame.more;
            let copies = copies.max(0) as u64;
            most = most.max(copies);
            needed = needed.max(FRAME_HEADER_SIZE as u64 + frame.used + copies);
        }
        (needed, most)
    }

    /// Sets the bytes that are left free; frames that do not have at least twice as many are doubled if they may.
    fn reserve(&mut self, reserved: u64, least: u64, full: Slog1Error) -> Result<(), Slog1Error> {
        while self.may_grow
            && self.frame_size < LARGEST
            && u64::from(self.frame_size) < 2 * reserved + least
        {
            self.frame_size *= 2;
        }
        if reserved + least > u64::from(self.frame_size) {
            return Err(full);
        }
        self.reserved = reserved as u32;
        Ok(())
    }

    /// More room, after frames were found too full in spite of the plan.
    pub(super) fn grow(&mut self, full: Slog1Error) -> Result<(), Slog1Error> {
        let reserved = (u64::from(self.reserved) + 256) * 5 / 4;
        self.reserve(reserved, FRAME_HEADER_SIZE as u64 + 256, full)
    }
}
