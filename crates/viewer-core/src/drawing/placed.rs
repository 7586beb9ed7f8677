//! Timelines of a picture and their bands, where they are drawn.

use std::ops::Range;

use crate::drawing::band::NestingBand;

/// A timeline of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureTimeline {
    /// Name of the timeline; empty where names would overlap.
    pub name: String,
    /// Pixels.
    pub y: f64,
    /// Pixels.
    pub height: f64,
    /// Timelines of the content that it shows.
    pub timelines: Range<u32>,
    /// Strips from the outermost states to the innermost.
    pub strips: Vec<BandStrip>,
}

impl PictureTimeline {
    /// Of the timelines of a picture, from above, the one that shows this timeline of the content.
    pub(crate) fn that_shows(
        placed: &[PictureTimeline],
        timeline: u32,
    ) -> Option<&PictureTimeline> {
        let at = placed.partition_point(|placed| placed.timelines.end <= timeline);
        placed.get(at)
    }
}

/// A band where it is drawn. The next one begins further below, so that the names of outer states can be read.
#[derive(Clone, Debug, PartialEq)]
pub struct BandStrip {
    /// Pixels.
    pub y: f64,
    /// Pixels.
    pub height: f64,
    /// Pixels above the next band.
    pub free: f64,
    /// Content of its columns.
    pub band: NestingBand,
}
