//! Parts of a trace that several threads read at once.

use super::{Failure, TraceFiles, WindowSource};
use crate::system::cores;
use trace_formats::slog2::{Slog2Source, StartRange};
use trace_model::{Definitions, Drawable, DrawableOrder, Losses, Source, Stop, TimeBBox, Topology};

/// Most parts; each has rows in memory.
const MAX_PARTS: usize = 16;
/// Bytes of leaves in a range of begins: fewer rows than those that are read ahead, so that parts which are merged by time are read at once, too.
const RANGE_BYTES: u64 = 1 << 20;

/// Parts of a trace, which have its drawables together.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceParts {
    /// By part the begins of what is in it, by time. A part follows the others at every moment, not only at the end.
    pub parts: Vec<Vec<StartRange>>,
    /// Whether states and events of each part come in order of their first vertices.
    pub is_by_first_vertex: bool,
}

impl TraceParts {
    /// The trace as one part, of which no order is known.
    pub fn whole() -> TraceParts {
        TraceParts {
            parts: vec![vec![StartRange::default()]],
            is_by_first_vertex: false,
        }
    }

    /// As many parts as there are cores for, to which these ranges go in turn.
    fn of(ranges: &[StartRange]) -> Vec<Vec<StartRange>> {
        let count = ranges.len().min(cores()).clamp(1, MAX_PARTS);
        let part = |nth| ranges.iter().skip(nth).step_by(count).copied().collect();
        (0..count).map(part).collect()
    }
}

impl TraceFiles {
    /// Parts of what overlaps a window, for a thread each: of SLOG2 as many as there are cores, of other formats, and of files that are not in order, one.
    ///
    /// # Errors
    /// A file is damaged.
    pub fn parts(&self, window: Option<TimeBBox>) -> Result<TraceParts, Failure> {
        let Some(reader) = self.slog2()? else {
            return Ok(TraceParts::whole());
        };
        let (is_divisible, is_by_first_vertex) = match window {
            // It turns out on the way whether the nodes of a window are in order.
            Some(_) => (true, false),
            None => {
                let survey = self.survey(&reader)?;
                (survey.is_divisible(), survey.is_by_first_vertex())
            }
        };
        if !is_divisible {
            return Ok(TraceParts::whole());
        }
        let ranges = reader.start_ranges(window.unwrap_or(TimeBBox::EVER), RANGE_BYTES);
        Ok(TraceParts {
            parts: TraceParts::of(&ranges.map_err(|error| self.damaged(error))?),
            is_by_first_vertex,
        })
    }

    /// What begins in some ranges, of the whole trace or of what overlaps a window.
    pub(super) fn part_source(
        &self,
        window: Option<TimeBBox>,
        ranges: &[StartRange],
    ) -> Result<Box<dyn Source + '_>, Failure> {
        let is_whole = ranges == [StartRange::default()];
        match self.slog2()? {
            Some(reader) if !is_whole => Ok(match window {
                Some(window) => Box::new(WindowSource {
                    definitions: reader.definitions(),
                    name: self.input.name(),
                    reader,
                    window,
                    ranges: ranges.to_vec(),
                }),
                None => {
                    let survey = self.survey(&reader)?;
                    Box::new(RangesSource {
                        source: Slog2Source::surveyed(reader, survey),
                        ranges: ranges.to_vec(),
                    })
                }
            }),
            _ => self.source(window),
        }
    }
}

/// What begins in some ranges of an SLOG2 file that can be divided.
struct RangesSource<'a> {
    source: Slog2Source<'a>,
    ranges: Vec<StartRange>,
}

impl RangesSource<'_> {
    fn read(
        &self,
        topology: Option<Topology>,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let mut losses = Losses::default();
        for &range in &self.ranges {
            losses.merge(&self.source.for_each_begun_in(range, topology, put)?);
        }
        Ok(losses)
    }
}

impl Source for RangesSource<'_> {
    fn definitions(&self) -> &Definitions {
        self.source.definitions()
    }

    fn order(&self) -> DrawableOrder {
        DrawableOrder::Start
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        self.read(None, put)
    }

    fn for_each_of(
        &self,
        topology: Topology,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let mut put = self.definitions().only(topology, put);
        self.read(Some(topology), &mut put)
    }
}
