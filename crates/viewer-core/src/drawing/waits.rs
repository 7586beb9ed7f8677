//! Hatched areas of a picture: the time in which a call waits.

use std::collections::HashSet;

use crate::drawing::content::WindowContent;
use crate::drawing::placed::{BandStrip, PictureTimeline};
use crate::drawing::scale::PixelScale;
use crate::trace::OpenTrace;
use crate::trace::waits::{StateWait, TraceWaits};

/// Pixels of the narrowest area: less is no hatching.
const MIN_WIDTH: f64 = 2.0;

/// A stretch of time in which a timeline waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelineWait {
    /// Position of the timeline among those of the content.
    pub timeline: u32,
    /// Begin of the wait in seconds.
    pub from: f64,
    /// End of the wait in seconds.
    pub to: f64,
}

impl TimelineWait {
    /// The waits of the states that a window of this trace shows, as the analysis found them.
    pub fn of_content(
        content: &WindowContent,
        trace: &OpenTrace<'_>,
        waits: &TraceWaits,
    ) -> Vec<TimelineWait> {
        let shown: HashSet<i32> = (content.kinds.iter())
            .map(|kind| kind.category.index)
            .collect();
        let window = content.window;
        let is_shown = |wait: &&StateWait| {
            let kind = &trace.kinds()[wait.kind as usize];
            let is_there = wait.from < window.latest && wait.to > window.earliest;
            is_there && shown.contains(&kind.category.index)
        };
        let waits = waits.all().iter().filter(is_shown).filter_map(|wait| {
            let line = trace.lines()[wait.line as usize].line.id;
            Some(TimelineWait {
                timeline: content.timelines.of_known_line(line)?,
                from: wait.from,
                to: wait.to,
            })
        });
        waits.collect()
    }
}

/// The areas of waits as far as they are in the picture, in pixels: left, top, width and height. An area is as high as the innermost state that
/// is drawn in the middle of its wait. Where several timelines are drawn as one, none is: the others may not wait.
pub(crate) fn areas(
    waits: &[TimelineWait],
    timelines: &[PictureTimeline],
    scale: PixelScale,
    left: f64,
) -> Vec<[f64; 4]> {
    let areas = waits.iter().filter_map(|wait| {
        let timeline = PictureTimeline::that_shows(timelines, wait.timeline)
            .filter(|placed| placed.timelines.len() == 1)?;
        let (from, to) =
            (scale.stretch(wait.from, wait.to)).filter(|(from, to)| to - from >= MIN_WIDTH)?;
        let shown = |strip: &&BandStrip| {
            let spans = &strip.band.spans;
            let middle = (from + to) / 2.0;
            let at = spans.partition_point(|span| f64::from(span.to) <= middle);
            (spans.get(at)).is_some_and(|span| f64::from(span.from) <= middle)
        };
        let innermost = timeline.strips.iter().rfind(shown);
        let (y, height) = innermost.map_or((timeline.y, timeline.height), |strip| {
            (strip.y, strip.height)
        });
        Some([left + from, y, to - from, height])
    });
    areas.collect()
}
