//! Goes over what overlaps a window, within a budget and until it is told to stop.

use formats::slog2::{Depth, Drawable, PREVIEW_STATE, Primitive, Ratios, Shadow, TimeBBox, Visit};

use crate::refusal::Refusal;
use crate::trace::{Item, Trace};

/// Drawables between two questions whether to stop.
const BETWEEN: u32 = 4096;

/// A stretch of time, how much of the tree may be read to tell what is in it, and when to give up.
#[derive(Clone, Copy)]
pub struct Reach<'s> {
    /// The window.
    pub window: TimeBBox,
    /// Bytes of the tree.
    pub bytes: u64,
    /// Whether the answer is not wanted any more.
    pub stop: &'s dyn Fn() -> bool,
}

/// A preview of states: what a line did in a part of the tree that was not read.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The line.
    pub line: u32,
    /// Where what it stands for begins and ends, in seconds.
    pub bounds: TimeBBox,
    /// Drawables that it stands for.
    pub count: u64,
    /// By kind the shares of that stretch.
    pub shares: Vec<(u32, Ratios)>,
}

/// Takes what there is.
pub trait Take<'a> {
    /// A drawable; composites come as their primitives.
    fn item(&mut self, item: Item<'a>);

    /// States that were not read.
    fn preview(&mut self, _preview: Preview) {}
}

/// How far a scan came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// Whether all was read.
    pub exact: bool,
    /// Whether it was stopped.
    pub stopped: bool,
    /// Drawables that can be placed nowhere.
    pub lost: u64,
    /// Bytes that were read.
    pub bytes: u64,
}

/// Hands on what overlaps a window.
///
/// # Errors
/// The file is damaged.
pub fn scan<'a>(
    trace: &Trace<'a>,
    reach: Reach<'_>,
    take: &mut dyn Take<'a>,
) -> Result<Scanned, Refusal> {
    let mut scan = Scan {
        trace,
        take,
        stop: reach.stop,
        left: BETWEEN,
        stopped: false,
        lost: 0,
    };
    let depth = Depth::Bytes(reach.bytes);
    let reading = trace
        .reader()
        .visit_window(reach.window, depth, &mut scan)?;
    Ok(Scanned {
        exact: reading.depth == 0 && !scan.stopped,
        stopped: scan.stopped,
        lost: scan.lost,
        bytes: reading.bytes,
    })
}

struct Scan<'t, 'a, 's> {
    trace: &'t Trace<'a>,
    take: &'t mut dyn Take<'a>,
    stop: &'s dyn Fn() -> bool,
    left: u32,
    stopped: bool,
    lost: u64,
}

impl<'a> Scan<'_, 'a, '_> {
    #[inline]
    fn primitive(&mut self, primitive: &Primitive<'a>) {
        match self.trace.item(primitive) {
            Some(item) => self.take.item(item),
            None => self.lost += 1,
        }
    }
}

impl<'a> Visit<'a> for Scan<'_, 'a, '_> {
    fn drawable(&mut self, drawable: Drawable<'a>) {
        self.left -= 1;
        if self.left == 0 {
            self.left = BETWEEN;
            self.stopped = self.stopped || (self.stop)();
        }
        if self.stopped {
            return;
        }
        match drawable {
            Drawable::Primitive(primitive) => self.primitive(&primitive),
            Drawable::Composite(composite) => {
                for primitive in &composite.primitives {
                    let is_bare = primitive.info.is_empty();
                    let mut primitive = *primitive;
                    if is_bare && primitive.category == composite.category {
                        primitive.info = composite.info;
                    }
                    self.primitive(&primitive);
                }
            }
        }
    }

    fn shadow(&mut self, shadow: Shadow<'a>) {
        if shadow.primitive.category != PREVIEW_STATE {
            return;
        }
        let line = self.trace.line(shadow.primitive.first().line);
        let TimeBBox { earliest, latest } = shadow.bounds;
        let (Some(line), true) = (line, earliest.is_finite() && latest.is_finite()) else {
            return;
        };
        let shares = shadow.weights().filter_map(|weight| {
            let topology = formats::slog2::Topology::State;
            let kind = self.trace.kind_or_undefined(weight.category, topology)?;
            Some((kind, weight.ratios))
        });
        self.take.preview(Preview {
            line,
            bounds: shadow.bounds,
            count: u64::try_from(shadow.count).unwrap_or(0),
            shares: shares.collect(),
        });
    }

    fn is_over(&self) -> bool {
        self.stopped
    }
}
