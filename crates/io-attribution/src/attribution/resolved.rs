//! AttributionEventKind is found out about an operation, and what a transfer moved for whom.

use crate::fact::{PicturePoint, Precision};
use crate::ranges::Ranges;

/// AttributionEventKind a call got of a transfer.
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
    /// Bytes of it between these offsets of the file.
    pub fn within(&self, range: (u64, u64)) -> u64 {
        let (a, b) = self.ranges.overlap(range.0, range.1);
        b.min(self.span.1).saturating_sub(a.max(self.span.0))
    }
}

/// AttributionEventKind a transfer moved for whom.
#[derive(Debug, Default)]
pub(super) struct TransferShare {
    pub credits: Vec<CallCredit>,
    /// Bytes of sieving holes, which nobody asked for; `None` if those that no call got may be of a call that is not known.
    pub hole_bytes: Option<u64>,
}

impl TransferShare {
    /// Of the transfer of these bytes, of which calls got `credits`. `is_complete`: there is no other call that could have asked for
    /// any.
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

/// AttributionEventKind was found out about an operation.
#[derive(Clone, Debug, Default)]
pub(super) struct ResolvedOperation {
    /// Number of the file of the program.
    pub file: Option<u32>,
    /// The call that triggered it, and where that is drawn.
    pub trigger: Option<(u64, PicturePoint)>,
    pub credits: Vec<CallCredit>,
    /// Whether bytes that no call got of it are known to be nobody's, and not those of a call that is not known.
    pub is_complete: bool,
    /// Bytes of the program's file that it moved.
    pub range: Option<(u64, u64)>,
    /// AttributionEventKind has to be added to offsets of the file that it worked on to get offsets of the program's file.
    pub shift: i64,
}
