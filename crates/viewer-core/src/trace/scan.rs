//! Goes over what overlaps a window, within a read budget and until it is cancelled.

use std::sync::atomic::{AtomicUsize, Ordering};
use trace_formats::slog2::{
    Depth, DirEntry, NodeDirectory, NodeDrawable, NodeShadow, PREVIEW_STATE, PlainDrawable,
    Primitive, Ratios, ScannedDrawable, TimeBBox, Visit,
};

use crate::base::error::ApiError;
use crate::base::parallel::{Cancel, run_parallel_cancellable};
use crate::trace::{OpenTrace, TraceItem};

/// Drawables between two checks for cancellation.
pub(crate) const DRAWABLES_PER_CHECK: u32 = 4096;
/// Bytes of nodes that one of two threads reads at a time.
const PIECE_BYTES: u64 = 2 << 20;

/// A stretch of time, how much of the tree may be read to find what is in it, and when to give up.
#[derive(Clone, Copy)]
pub struct ReadBudget<'s> {
    /// The window.
    pub window: TimeBBox,
    /// Bytes of the tree.
    pub bytes: u64,
    /// Whether the answer is not wanted any more.
    pub cancel: Cancel<'s>,
}

/// A preview of states: what a line did in a part of the tree that was not read.
#[derive(Clone, Debug)]
pub struct StatePreview {
    /// The line.
    pub line: u32,
    /// Begin and end of what it stands for, in seconds.
    pub bounds: TimeBBox,
    /// Drawables that it stands for.
    pub count: u64,
    /// By kind the shares of that stretch.
    pub shares: Vec<(u32, Ratios)>,
}

/// Takes what there is.
pub trait DrawableSink<'a> {
    /// A drawable; composites come as their primitives.
    fn item(&mut self, item: TraceItem<'a>);

    /// States that were not read.
    fn preview(&mut self, _preview: StatePreview) {}
}

/// Result of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanResult {
    /// Whether all was read.
    pub exact: bool,
    /// Whether it was cancelled.
    pub cancelled: bool,
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
    trace: &OpenTrace<'a>,
    budget: ReadBudget<'_>,
    take: &mut dyn DrawableSink<'a>,
) -> Result<ScanResult, ApiError> {
    match nodes(trace, budget)? {
        Some(nodes) => whole(trace, &nodes, budget.window, budget.cancel, take),
        None => parts(trace, budget, take),
    }
}

/// As [`scan`], on two threads where that is worth it: what `new` makes takes a part of what there is. What they took
/// stands in the order in which one would have come to it.
///
/// # Errors
/// The file is damaged.
pub fn scan_parallel<'a, T: DrawableSink<'a> + Send>(
    trace: &OpenTrace<'a>,
    budget: ReadBudget<'_>,
    new: impl Fn() -> T + Sync,
) -> Result<(Vec<T>, ScanResult), ApiError> {
    let Some(nodes) = nodes(trace, budget)? else {
        let mut take = new();
        let scanned = parts(trace, budget, &mut take)?;
        return Ok((vec![take], scanned));
    };
    let pieces = pieces(&nodes);
    let next = AtomicUsize::new(0);
    let work = |cancel: Cancel<'_>| -> Result<Vec<(usize, T, ScanResult)>, ApiError> {
        let mut taken = Vec::new();
        loop {
            let nth = next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = pieces.get(nth) else {
                return Ok(taken);
            };
            let mut take = new();
            let scanned = whole(trace, piece, budget.window, cancel, &mut take)?;
            taken.push((nth, take, scanned));
        }
    };
    let (here, there) = match pieces.len() {
        0 | 1 => (work(budget.cancel), Ok(Vec::new())),
        _ => run_parallel_cancellable(budget.cancel, work, work),
    };
    let mut taken = here?;
    taken.extend(there?);
    taken.sort_by_key(|&(nth, ..)| nth);
    let mut all = ScanResult {
        exact: true,
        ..ScanResult::default()
    };
    for (_, _, scanned) in &taken {
        all.exact &= scanned.exact;
        all.cancelled |= scanned.cancelled;
        all.lost += scanned.lost;
        all.bytes += scanned.bytes;
    }
    Ok((taken.into_iter().map(|(_, take, _)| take).collect(), all))
}

/// Nodes by pieces that follow each other, each worth the while of a thread.
fn pieces(nodes: &[DirEntry]) -> Vec<&[DirEntry]> {
    let mut bytes = 0;
    let pieces = nodes.chunk_by(|node, _| {
        bytes += u64::from(node.ptr.size.unsigned_abs());
        let is_enough = bytes >= PIECE_BYTES;
        if is_enough {
            bytes = 0;
        }
        !is_enough
    });
    pieces.collect()
}

/// The nodes that overlap the window, if all of them may be read.
fn nodes(trace: &OpenTrace<'_>, budget: ReadBudget<'_>) -> Result<Option<Vec<DirEntry>>, ApiError> {
    let levels = trace.reader().levels_in(budget.window)?;
    let bytes = levels.iter().map(NodeDirectory::node_bytes);
    if bytes.fold(0, u64::saturating_add) > budget.bytes {
        return Ok(None);
    }
    let root = levels.first().and_then(|level| level.get(0));
    let has_leaves = root.is_none_or(|root| usize::try_from(root.id.depth) == Ok(levels.len() - 1));
    Ok(has_leaves.then(|| levels.iter().flat_map(|level| level.iter()).collect()))
}

/// Hands on what these nodes have in the window.
fn whole<'a>(
    trace: &OpenTrace<'a>,
    nodes: &[DirEntry],
    window: TimeBBox,
    cancel: Cancel<'_>,
    take: &mut dyn DrawableSink<'a>,
) -> Result<ScanResult, ApiError> {
    let mut scanned = ScanResult {
        exact: true,
        ..ScanResult::default()
    };
    let mut put = |plain: &PlainDrawable<'a>| match trace.locate(plain) {
        Some(item) if touches_window(&item, window) => take.item(item),
        Some(_) => {}
        None => scanned.lost += 1,
    };
    let mut left = DRAWABLES_PER_CHECK;
    'nodes: for node in nodes {
        let mut scan = trace.reader().scan(node.ptr)?;
        for _list in ["arrows and events", "states"] {
            loop {
                scan.for_plain(|plain| {
                    let is_time = left == 0;
                    if !is_time {
                        left -= 1;
                        put(plain);
                    }
                    !is_time
                });
                if left == 0 {
                    if cancel() {
                        scanned.cancelled = true;
                        break 'nodes;
                    }
                    left = DRAWABLES_PER_CHECK;
                    continue;
                }
                match scan.next()? {
                    Some(ScannedDrawable::Plain(plain)) => put(&plain),
                    Some(ScannedDrawable::Composite(composite)) => {
                        let category = composite.category;
                        composite.primitives.iter().for_each(|primitive| {
                            put(&PlainDrawable::of(&filled(
                                primitive,
                                category,
                                composite.info,
                            )));
                        });
                    }
                    None => break,
                }
            }
        }
        scanned.bytes += scan.offset() - node.ptr.offset.unsigned_abs();
    }
    scanned.exact = !scanned.cancelled;
    Ok(scanned)
}

/// A part of a composite, which has the values of the whole if it has none of its own.
fn filled<'a>(primitive: &Primitive<'a>, category: i32, info: &'a [u8]) -> Primitive<'a> {
    let mut primitive = *primitive;
    if primitive.info.is_empty() && primitive.category == category {
        primitive.info = info;
    }
    primitive
}

/// Whether a drawable has a point in common with the window.
#[inline]
fn touches_window(item: &TraceItem<'_>, window: TimeBBox) -> bool {
    let (earliest, latest) = (item.start.min(item.end), item.start.max(item.end));
    window.overlaps(TimeBBox { earliest, latest })
}

/// Hands on what there is as far down the tree as may be read, and previews of what lies deeper.
fn parts<'a>(
    trace: &OpenTrace<'a>,
    budget: ReadBudget<'_>,
    take: &mut dyn DrawableSink<'a>,
) -> Result<ScanResult, ApiError> {
    let mut scan = WindowScan {
        trace,
        take,
        cancel: budget.cancel,
        left: DRAWABLES_PER_CHECK,
        cancelled: false,
        lost: 0,
    };
    let depth = Depth::Bytes(budget.bytes);
    let reading = trace
        .reader()
        .visit_window(budget.window, depth, &mut scan)?;
    Ok(ScanResult {
        exact: reading.depth == 0 && !scan.cancelled,
        cancelled: scan.cancelled,
        lost: scan.lost,
        bytes: reading.bytes,
    })
}

struct WindowScan<'t, 'a, 's> {
    trace: &'t OpenTrace<'a>,
    take: &'t mut dyn DrawableSink<'a>,
    cancel: Cancel<'s>,
    left: u32,
    cancelled: bool,
    lost: u64,
}

impl<'a> WindowScan<'_, 'a, '_> {
    #[inline]
    fn primitive(&mut self, primitive: &Primitive<'a>) {
        match self.trace.item(primitive) {
            Some(item) => self.take.item(item),
            None => self.lost += 1,
        }
    }
}

impl<'a> Visit<'a> for WindowScan<'_, 'a, '_> {
    fn drawable(&mut self, drawable: NodeDrawable<'a>) {
        self.left -= 1;
        if self.left == 0 {
            self.left = DRAWABLES_PER_CHECK;
            self.cancelled = self.cancelled || (self.cancel)();
        }
        if self.cancelled {
            return;
        }
        match drawable {
            NodeDrawable::Primitive(primitive) => self.primitive(&primitive),
            NodeDrawable::Composite(composite) => {
                let (category, info) = (composite.category, composite.info);
                let parts = composite.primitives.iter();
                parts.for_each(|part| self.primitive(&filled(part, category, info)));
            }
        }
    }

    fn shadow(&mut self, shadow: NodeShadow<'a>) {
        if shadow.primitive.category != PREVIEW_STATE {
            return;
        }
        let line = self.trace.line(shadow.primitive.first().line);
        let TimeBBox { earliest, latest } = shadow.bounds;
        let (Some(line), true) = (line, earliest.is_finite() && latest.is_finite()) else {
            return;
        };
        let shares = shadow.weights().filter_map(|weight| {
            let topology = trace_formats::slog2::Topology::State;
            let kind = self.trace.kind_or_undefined(weight.category, topology)?;
            Some((kind, weight.ratios))
        });
        self.take.preview(StatePreview {
            line,
            bounds: shadow.bounds,
            count: u64::try_from(shadow.count).unwrap_or(0),
            shares: shares.collect(),
        });
    }

    fn is_over(&self) -> bool {
        self.cancelled
    }
}
