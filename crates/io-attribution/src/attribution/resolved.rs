//! Attribution of a single operation: its trigger, and the calls whose bytes it moved.

use crate::ranges::Ranges;
use crate::record::{PicturePoint, Precision};

/// The bytes of one call that a transfer moved.
#[derive(Clone, Debug)]
pub(super) struct CallCredit {
    pub call: u64,
    pub from: PicturePoint,
    pub ranges: Ranges,
    /// Bytes of the call that the transfer moved, in the order of the file.
    pub span: (u64, u64),
    pub bytes: u64,
    pub precision: Precision,
}

impl CallCredit {
    /// Number of its bytes between two offsets of the file.
    pub fn within(&self, range: (u64, u64)) -> u64 {
        let (a, b) = self.ranges.overlap(range.0, range.1);
        b.min(self.span.1).saturating_sub(a.max(self.span.0))
    }
}

/// The calls whose bytes a transfer moved, and its sieving holes.
#[derive(Debug, Default)]
pub(super) struct TransferShare {
    pub credits: Vec<CallCredit>,
    /// Bytes of sieving holes, which no call asked for; `None` if they may belong to a call that is not known.
    pub hole_bytes: Option<u64>,
}

impl TransferShare {
    /// Share of a transfer of the bytes from `start` to before `end`, with the `credits` of the calls. `is_complete`: no other call
    /// can have asked for any of the bytes.
    pub fn new(
        (start, end): (u64, u64),
        credits: Vec<CallCredit>,
        is_complete: bool,
    ) -> TransferShare {
        let asked = credits
            .iter()
            .fold(0_u64, |sum, c| sum.saturating_add(c.bytes));
        let hole_bytes = is_complete.then(|| (end - start).saturating_sub(asked));
        TransferShare {
            credits,
            hole_bytes,
        }
    }
}

/// Attribution of an operation.
#[derive(Clone, Debug, Default)]
pub(super) struct ResolvedOperation {
    /// Number of the file of the program.
    pub file: Option<u32>,
    /// CallID of the call that triggered it, and its point in the picture.
    pub trigger: Option<(u64, PicturePoint)>,
    pub credits: Vec<CallCredit>,
    /// True if bytes without a credit belong to no call, false if they may belong to a call that is not known.
    pub is_complete: bool,
    /// Bytes of the program's file that it moved.
    pub range: Option<(u64, u64)>,
    /// Offset in the program's file minus offset in the file that the operation worked on, bytes.
    pub shift: i64,
}
