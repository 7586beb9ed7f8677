//! Statistics of a window and of some rows, exactly as `mpitrace stats` makes them, or from previews where the window is too
//! much to read.

use std::convert::Infallible;
use std::ops::ControlFlow;
use trace_formats::model::{self, Category, Definitions, Line, Text, Value, info_values, message};
use trace_formats::slog2::{Depth, InModel, InOrder, Primitive, TimeBBox, Topology, Vertex};
use trace_formats::stats::{Collector, Nesting, Options, Statistics};

use super::estimate::estimate;
use super::moves::Moved;
use crate::refusal::Refusal;
use crate::scan::{BETWEEN, Reach};
use crate::trace::{Kind, Trace};

/// What is read when there was no time for all of it: such a part of what may be read.
const PART_IN_HASTE: u64 = 8;

/// What is to be counted.
pub struct Wanted<'w> {
    /// The row of a line, or `None` if it does not count.
    pub row: &'w dyn Fn(u32) -> Option<u32>,
    /// By kind whether it does not count.
    pub hidden: &'w [bool],
    /// Which states are nested in which.
    pub nesting: Nesting,
    /// Rows from and to which arrows count, if not all do.
    pub pair: Option<(u32, u32)>,
}

/// What was counted.
#[derive(Debug)]
pub struct Gathered {
    /// The statistics. The rank of rows, cells and pairs is the row, −1 for arrows' ends on none; the thread is the lane.
    pub found: Statistics,
    /// By kind the bytes of messages and accesses; with [`gather`], of calls those of the messages that begin or end in them.
    pub bytes: Vec<u64>,
    /// By kind the numbers of drawables by the power of two of their nanoseconds.
    pub lengths: Vec<[u64; 64]>,
    /// By row the end of the last state, minus infinity if there is none.
    pub ends: Vec<f64>,
    /// Whether these numbers are exact; otherwise everything about messages is missing.
    pub exact: bool,
    /// Whether shortest and longest durations are known.
    pub has_extremes: bool,
}

/// Gives all drawables of a window by start; `begin` is called before the first, perhaps twice: a file that turns out not to
/// be in order is begun again, sorted.
///
/// # Errors
/// The file is damaged, or the answer is not wanted any more.
pub(crate) fn in_order(
    trace: &Trace<'_>,
    reach: Reach<'_>,
    begin: &mut dyn FnMut(),
    put: &mut dyn FnMut(&model::Drawable<'_>),
) -> Result<(), Refusal> {
    let reader = trace.reader();
    let real = reader.categories().iter().filter(|c| c.index >= 0);
    let primitives = InModel::new(&real.cloned().collect::<Vec<_>>());
    let mut losses = model::Losses::default();
    let mut until_asked = 0_u32;
    let mut give = |primitive: &Primitive<'_>| {
        until_asked = until_asked.wrapping_add(1);
        if until_asked.is_multiple_of(BETWEEN) && (reach.stop)() {
            return ControlFlow::Break(());
        }
        let given = primitives.put(primitive, &mut losses, |drawable| {
            put(drawable);
            Ok::<_, Infallible>(())
        });
        let Ok(()) = given;
        ControlFlow::Continue(())
    };
    begin();
    match reader.for_each_in_order(reach.window, &mut give)? {
        InOrder::Complete { .. } => return Ok(()),
        InOrder::Stopped => return Err(Refusal::stopped()),
        InOrder::Disordered => begin(),
    }
    let mut sorted: Vec<Primitive<'_>> = Vec::new();
    for drawable in reader.window(reach.window, Depth::Lowest(0))?.drawables {
        sorted.extend(drawable.primitives());
    }
    sorted.sort_by(|a, b| {
        let start = a.bounds.earliest.total_cmp(&b.bounds.earliest);
        start.then(b.bounds.latest.total_cmp(&a.bounds.latest))
    });
    match sorted.iter().try_for_each(give) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Refusal::stopped()),
    }
}

/// Who looks at the drawables as well while they are counted.
pub trait Also {
    /// All begins, or begins again.
    fn begin(&mut self) {}
    /// A drawable of the window, on whatever row; they come by start.
    fn put(&mut self, _drawable: &model::Drawable<'_>) {}
}

/// Nobody.
impl Also for () {}

/// Counts what is in the window of `reach`; from previews, if that is too much to read, or takes too long.
///
/// # Errors
/// The file is damaged.
pub fn gather(
    trace: &Trace<'_>,
    wanted: &Wanted<'_>,
    rows: usize,
    reach: Reach<'_>,
) -> Result<Gathered, Refusal> {
    let found = match trace.reader().bytes_in(reach.window)? > reach.bytes {
        true => estimate(trace, wanted, rows, reach),
        false => gather_with_moved(trace, wanted, rows, reach),
    };
    match found {
        // This is quick.
        Err(refusal) if refusal.is_stopped() => {
            let reach = Reach {
                bytes: reach.bytes / PART_IN_HASTE,
                stop: &|| false,
                ..reach
            };
            estimate(trace, wanted, rows, reach)
        }
        found => found,
    }
}

fn gather_with_moved(
    trace: &Trace<'_>,
    wanted: &Wanted<'_>,
    rows: usize,
    reach: Reach<'_>,
) -> Result<Gathered, Refusal> {
    let mut moved = Moved::new(trace, wanted, reach.window);
    let mut found = gather_all(trace, wanted, rows, reach, &mut moved)?;
    for (bytes, moved) in found.bytes.iter_mut().zip(moved.finish()) {
        *bytes = bytes.saturating_add(moved);
    }
    Ok(found)
}

/// Counts what is in the window of `reach`, however much that is.
///
/// # Errors
/// The file is damaged, or the answer is not wanted any more.
pub fn gather_all(
    trace: &Trace<'_>,
    wanted: &Wanted<'_>,
    rows: usize,
    reach: Reach<'_>,
    also: &mut dyn Also,
) -> Result<Gathered, Refusal> {
    let row_of = rows_of(trace, wanted);
    let all = std::cell::RefCell::new((Gathering::new(trace, wanted, &row_of, rows, reach), also));
    in_order(
        trace,
        reach,
        &mut || {
            let (gathering, also) = &mut *all.borrow_mut();
            *gathering = Gathering::new(trace, wanted, &row_of, rows, reach);
            also.begin();
        },
        &mut |drawable| {
            let (gathering, also) = &mut *all.borrow_mut();
            also.put(drawable);
            let line = |vertex: Option<&Vertex>| vertex.and_then(|v| trace.line(v.line));
            let ends = [drawable.vertices.first(), drawable.vertices.last()].map(line);
            let rows = ends.map(|line| line.and_then(|line| row_of[line as usize]));
            let kind = trace.kind_or_undefined(drawable.category, drawable.topology);
            let is_hidden = kind.is_some_and(|kind| wanted.hidden[kind as usize]);
            let is_wanted = !is_hidden && is_of_pair(drawable.topology, rows, wanted.pair);
            if let (Some(row), true) = (rows[0], is_wanted) {
                gathering.put(trace, drawable, kind, row, reach.window);
            }
        },
    )?;
    let Gathering {
        collector,
        bytes,
        lengths,
        ends,
    } = all.into_inner().0;
    Ok(Gathered {
        found: collector.finish(),
        bytes,
        lengths,
        ends,
        exact: true,
        has_extremes: true,
    })
}

/// The categories, with CallIDs as numbers like any other: nobody here asks how often each occurs, which costs a quarter of
/// all counting.
fn categories_of(trace: &Trace<'_>) -> Vec<Category> {
    let mut categories = Vec::new();
    for category in trace.reader().categories().iter().filter(|c| c.index >= 0) {
        let mut category = category.clone();
        let kind = trace.kind(category.index);
        let callid = kind.and_then(|kind| trace.kinds()[kind as usize].callid);
        if let Some(key) = callid.and_then(|at| category.info_keys.get_mut(at)) {
            *key = Text::default();
        }
        categories.push(category);
    }
    categories
}

/// By line its row.
pub(super) fn rows_of(trace: &Trace<'_>, wanted: &Wanted<'_>) -> Vec<Option<u32>> {
    (0..trace.lines().len() as u32).map(wanted.row).collect()
}

/// Whether an arrow is one of those between two rows, if only these are wanted.
pub(super) fn is_of_pair(
    topology: Topology,
    rows: [Option<u32>; 2],
    pair: Option<(u32, u32)>,
) -> bool {
    topology != Topology::Arrow || pair.is_none_or(|(from, to)| rows == [Some(from), Some(to)])
}

pub(super) struct Gathering {
    pub collector: Collector,
    pub bytes: Vec<u64>,
    pub lengths: Vec<[u64; 64]>,
    pub ends: Vec<f64>,
}

impl Gathering {
    pub fn new(
        trace: &Trace<'_>,
        wanted: &Wanted<'_>,
        row_of: &[Option<u32>],
        rows: usize,
        reach: Reach<'_>,
    ) -> Self {
        let definitions = Definitions {
            categories: categories_of(trace),
            lines: (trace.lines().iter().zip(row_of))
                .map(|(line, row)| Line {
                    thread: line.lane as i32,
                    ..Line::of_thread(line.line.id, row.map_or(-1, |row| row as i32), 0)
                })
                .collect(),
            ..Definitions::default()
        };
        let options = Options {
            window: Some(reach.window),
            nesting: wanted.nesting,
        };
        let kinds = trace.kinds().len();
        Gathering {
            collector: Collector::new(&definitions, options),
            bytes: vec![0; kinds],
            lengths: vec![[0; 64]; kinds],
            ends: vec![f64::NEG_INFINITY; rows],
        }
    }

    pub fn put(
        &mut self,
        trace: &Trace<'_>,
        drawable: &model::Drawable<'_>,
        kind: Option<u32>,
        row: u32,
        window: TimeBBox,
    ) {
        self.collector.put(drawable);
        let times = || drawable.vertices.iter().map(|vertex| vertex.time);
        let bounds = TimeBBox {
            earliest: times().fold(f64::INFINITY, f64::min),
            latest: times().fold(f64::NEG_INFINITY, f64::max),
        };
        if !takes_part(bounds, window) {
            return;
        }
        let end = bounds.latest.min(window.latest);
        if let Some(kind) = kind {
            let of = &trace.kinds()[kind as usize];
            self.bytes[kind as usize] += bytes_of(of, drawable.info).unwrap_or(0);
            let seconds = end - bounds.earliest.max(window.earliest);
            let nanoseconds = (seconds * 1e9) as u64;
            self.lengths[kind as usize][nanoseconds.max(1).ilog2() as usize] += 1;
        }
        if let (Topology::State, Some(last)) = (drawable.topology, self.ends.get_mut(row as usize))
        {
            *last = last.max(end);
        }
    }
}

/// Whether a drawable takes part in a window, as statistics have it.
pub(crate) fn takes_part(bounds: TimeBBox, window: TimeBBox) -> bool {
    if bounds.earliest == bounds.latest {
        window.overlaps(bounds)
    } else {
        bounds.earliest < window.latest && window.earliest < bounds.latest
    }
}

/// Bytes of a message or an access.
pub(crate) fn bytes_of(kind: &Kind, info: &[u8]) -> Option<u64> {
    let category = &kind.category;
    if category.topology == Topology::Arrow
        && let Some(message) = message(category, info)
    {
        return u64::try_from(message.size).ok();
    }
    match info_values(category, info).nth(kind.bytes?)? {
        (_, Value::Integer(bytes)) => u64::try_from(bytes).ok(),
        _ => None,
    }
}
