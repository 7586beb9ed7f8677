//! Calls that are not there as records of their own: polls that were only counted, and calls recorded for matching only.

use crate::args::ByteCursor;
use crate::numbers::{MATCHING_ONLY, SKIPPED};
use crate::record::{self, Record};

/// Bytes in front of the arguments in the payload of a [`MATCHING_ONLY`] record: u32 function and flags, i32 return code.
pub const MATCHING_ONLY_HEAD_BYTES: usize = 8;

/// The call that stands in a [`MATCHING_ONLY`] record; `None` for another record or a damaged one.
pub fn matching_only_call<'a>(record: &Record<'a>) -> Option<Record<'a>> {
    let b = &mut ByteCursor::new(record.payload);
    if record.function != MATCHING_ONLY {
        return None;
    }
    let word = b.u32()? as u16;
    let call = Record {
        function: word & record::FUNCTION,
        in_place: word & record::IN_PLACE != 0,
        code: b.i32()?,
        payload: b.rest(),
        ..*record
    };
    call.is_call().then_some(call)
}

/// Unsuccessful polls between two recorded ones, counted and not recorded. While they go on, the record is rewritten in place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkippedPolls {
    /// Function number.
    pub function: u16,
    /// Number of polls.
    pub calls: u64,
    /// Start of the first poll, ticks.
    pub first: u64,
    /// End of the last poll, ticks.
    pub last: u64,
}

impl SkippedPolls {
    /// Bytes of the payload: u64 calls, u64 first, u64 last, u32 function.
    pub const SIZE: usize = 28;

    /// The payload.
    pub fn encode(&self) -> [u8; SkippedPolls::SIZE] {
        let mut out = [0; SkippedPolls::SIZE];
        out[..8].copy_from_slice(&self.calls.to_ne_bytes());
        out[8..16].copy_from_slice(&self.first.to_ne_bytes());
        out[16..24].copy_from_slice(&self.last.to_ne_bytes());
        out[24..].copy_from_slice(&u32::from(self.function).to_ne_bytes());
        out
    }

    pub(super) fn decode(b: &mut ByteCursor<'_>) -> Option<SkippedPolls> {
        Some(SkippedPolls {
            calls: b.u64()?,
            first: b.u64()?,
            last: b.u64()?,
            function: b.u32()?.try_into().ok()?,
        })
    }

    /// Counts one more poll, which ended at `stop`, in the payload of a record.
    ///
    /// # Safety
    /// `payload` must be the place of a payload that nobody else writes.
    #[inline]
    pub unsafe fn count(payload: *mut u8, stop: u64) {
        // SAFETY: promised by the caller; records stand at multiples of 4 bytes.
        unsafe {
            let calls = payload.cast::<u64>();
            calls.write_unaligned(calls.read_unaligned() + 1);
            calls.add(2).write_unaligned(stop);
        }
    }

    /// The polls that a [`SKIPPED`] record counts; `None` for another record or a damaged one.
    pub fn of(record: &Record<'_>) -> Option<SkippedPolls> {
        if record.function != SKIPPED {
            return None;
        }
        SkippedPolls::decode(&mut ByteCursor::new(record.payload))
    }
}
