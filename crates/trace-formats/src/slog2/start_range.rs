//! Parts of an SLOG2 file that can be read at once: each has the drawables that begin in a stretch of time.

use super::directory::NodeDirectory;
use super::error::Slog2Error;
use super::read::Slog2Reader;
use trace_model::TimeBBox;

/// Bytes of the nodes above the leaves for each byte of leaves in a range, at most: they are read again for every range that they reach into.
const MOST_ABOVE: u64 = 8;

/// A stretch of time by the begins of drawables: those that begin at `from` or later, and before `to`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StartRange {
    /// Least begin; `None` for any.
    pub from: Option<f64>,
    /// The begin of what comes behind the range; `None` if that is nothing.
    pub to: Option<f64>,
}

impl StartRange {
    /// Whether what begins at this time is in the range.
    #[inline]
    pub fn holds(self, start: f64) -> bool {
        self.from.is_none_or(|from| start >= from) && self.to.is_none_or(|to| start < to)
    }

    /// A stretch of time that everything overlaps which begins in the range and overlaps a window.
    #[must_use]
    pub fn within(self, window: TimeBBox) -> TimeBBox {
        TimeBBox {
            earliest: self
                .from
                .map_or(window.earliest, |from| from.max(window.earliest)),
            latest: self.to.map_or(window.latest, |to| to.min(window.latest)),
        }
    }
}

impl Slog2Reader<'_> {
    /// Ranges of begins that hold every time together, in order, each with some `bytes` bytes of leaves of the tree. Only what overlaps `window` counts.
    /// Of a tree whose upper nodes are large they have more, since those are read for each range that they reach into.
    ///
    /// # Errors
    /// The directory is damaged.
    pub fn start_ranges(
        &self,
        window: TimeBBox,
        bytes: u64,
    ) -> Result<Vec<StartRange>, Slog2Error> {
        let mut levels = self.levels_in(window)?;
        let leaves = levels.pop().unwrap_or_default();
        let mean = |level: &NodeDirectory<'_>| level.node_bytes() / level.len().max(1) as u64;
        let above: u64 = levels.iter().map(mean).sum();
        let least = bytes.max(above.saturating_mul(MOST_ABOVE));
        let mut ranges = Vec::new();
        let (mut from, mut held) = (None, 0_u64);
        for leaf in leaves {
            let begins = leaf.bounds.earliest;
            if held >= least && begins.is_finite() && from.is_none_or(|from| from < begins) {
                let to = Some(begins);
                ranges.push(StartRange { from, to });
                (from, held) = (to, 0);
            }
            held = held.saturating_add(u64::from(leaf.ptr.size.unsigned_abs()));
        }
        ranges.push(StartRange { from, to: None });
        Ok(ranges)
    }
}
