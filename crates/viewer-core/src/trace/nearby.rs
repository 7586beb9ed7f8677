//! Finds drawables: what runs at a time, what comes next, and a drawable again that has a reference.

use std::cmp::Ordering;
use trace_formats::slog2::{TimeBBox, Topology};

use super::reference::DrawableReference;
use super::states::{self, TraceState};
use crate::base::error::ApiError;
use crate::trace::scan::{DrawableSink, ReadBudget, ScanResult, scan};
use crate::trace::{OpenTrace, TraceItem};

/// Takes those that are wanted.
struct ItemCollector<'f, 'a> {
    wanted: &'f dyn Fn(&TraceItem<'a>) -> bool,
    items: Vec<TraceItem<'a>>,
}

impl<'a> DrawableSink<'a> for ItemCollector<'_, 'a> {
    fn item(&mut self, item: TraceItem<'a>) {
        if (self.wanted)(&item) {
            self.items.push(item);
        }
    }
}

/// The drawables in a window that are wanted, in the order of the file.
///
/// # Errors
/// The file is damaged.
pub fn collect<'a>(
    trace: &OpenTrace<'a>,
    budget: ReadBudget<'_>,
    wanted: &dyn Fn(&TraceItem<'a>) -> bool,
) -> Result<(Vec<TraceItem<'a>>, ScanResult), ApiError> {
    let mut taker = ItemCollector {
        wanted,
        items: Vec::new(),
    };
    let scanned = scan(trace, budget, &mut taker)?;
    Ok((taker.items, scanned))
}

/// The order of states: by start, the longer one first, then by number of the category.
pub fn order(trace: &OpenTrace<'_>, a: &TraceItem<'_>, b: &TraceItem<'_>) -> Ordering {
    states::order(trace.kinds(), &TraceState::of(a), &TraceState::of(b))
}

/// The drawables that are the same as this one but for the number of their reference, in order.
fn same<'a>(
    trace: &OpenTrace<'a>,
    at: f64,
    budget: ReadBudget<'_>,
    reference: &DrawableReference,
) -> Result<Vec<TraceItem<'a>>, ApiError> {
    let point = ReadBudget {
        window: TimeBBox {
            earliest: at,
            latest: at,
        },
        ..budget
    };
    let (mut items, _) = collect(trace, point, &|item| reference.names(trace, item))?;
    items.sort_by(|a, b| order(trace, a, b));
    Ok(items)
}

/// The drawable of a reference.
///
/// # Errors
/// There is none, or the file is damaged.
pub fn resolve<'a>(
    trace: &OpenTrace<'a>,
    budget: ReadBudget<'_>,
    reference: &DrawableReference,
) -> Result<TraceItem<'a>, ApiError> {
    let items = same(trace, reference.start, budget, reference)?;
    let found = items.get(reference.nth as usize).copied();
    found.ok_or_else(|| {
        let message = format!(
            "what the link selects ({reference}) is not in this trace: is it a link of another one?"
        );
        ApiError::not_found(message)
    })
}

/// The reference of a drawable. Its info may be a copy: then it is that of the first one that has all in common with it.
///
/// # Errors
/// The file is damaged.
pub fn refer<'a>(
    trace: &OpenTrace<'a>,
    budget: ReadBudget<'_>,
    item: &TraceItem<'_>,
) -> Result<DrawableReference, ApiError> {
    let reference = DrawableReference::of(trace, item, 0);
    let same = same(trace, item.start, budget, &reference)?;
    let place = |has_info: &dyn Fn(&[u8]) -> bool| {
        let mut places = same.iter();
        places.position(|other| other.end == item.end && has_info(other.info))
    };
    let nth =
        place(&|info| std::ptr::eq(info, item.info)).or_else(|| place(&|info| info == item.info));
    let nth = nth.unwrap_or(0);
    Ok(DrawableReference {
        nth: nth as u32,
        ..reference
    })
}

/// The states of some lines at a time, in order; the last one that is not over is the innermost.
///
/// # Errors
/// The file is damaged.
pub fn running<'a>(
    trace: &OpenTrace<'a>,
    budget: ReadBudget<'_>,
    lines: &dyn Fn(u32) -> bool,
) -> Result<Vec<TraceItem<'a>>, ApiError> {
    let is_state = |item: &TraceItem<'a>| item.topology == Topology::State && lines(item.line);
    let (mut items, _) = collect(trace, budget, &is_state)?;
    items.sort_by(|a, b| order(trace, a, b));
    Ok(items)
}

/// Start of a search for the nearest state.
#[derive(Clone, Copy, Debug)]
pub enum StartPoint<'i, 'a> {
    /// A state, and which of those that are the same.
    TraceState(&'i TraceItem<'a>, DrawableReference),
    /// A time in seconds.
    Time(f64),
}

/// The next state behind, or the last one before, among those of some lines; `None` at the end.
///
/// # Errors
/// The file is damaged, or too much would have to be read.
pub fn next<'a>(
    trace: &OpenTrace<'a>,
    budget: ReadBudget<'_>,
    from: StartPoint<'_, 'a>,
    is_forward: bool,
    lines: &dyn Fn(u32) -> bool,
) -> Result<Option<TraceItem<'a>>, ApiError> {
    let all = trace.bounds();
    let at = match from {
        StartPoint::TraceState(item, _) => item.start,
        StartPoint::Time(time) => time.clamp(all.earliest, all.latest),
    };
    let nodes = trace.reader().directory().len().max(1);
    let mut step = all.duration() / nodes as f64;
    let mut left = budget.bytes;
    loop {
        let window = match is_forward {
            true => TimeBBox {
                earliest: at,
                latest: (at + step).min(all.latest),
            },
            false => TimeBBox {
                earliest: (at - step).max(all.earliest),
                latest: at,
            },
        };
        let budget = ReadBudget {
            window,
            bytes: left,
            ..budget
        };
        let is_state = |item: &TraceItem<'a>| item.topology == Topology::State && lines(item.line);
        let (mut states, scanned) = collect(trace, budget, &is_state)?;
        states.sort_by(|a, b| order(trace, a, b));
        let found = beside(trace, &states, from, is_forward);
        // A state that began outside may not be the nearest: others may have begun and ended since.
        let is_sure = |item: &TraceItem<'_>| is_forward || item.start >= window.earliest;
        let is_all = match is_forward {
            true => window.latest >= all.latest,
            false => window.earliest <= all.earliest,
        };
        if let Some(found) = found.filter(|item| is_sure(item) || is_all) {
            return Ok(Some(found));
        }
        if is_all {
            return Ok(None);
        }
        if scanned.cancelled {
            return Err(ApiError::cancelled());
        }
        left = left.saturating_sub(scanned.bytes);
        if !scanned.exact || left == 0 {
            let message = format!("no state within {step} s, and no more may be read to find one");
            return Err(ApiError::too_large(message));
        }
        step *= 4.0;
    }
}

/// The neighbour among states in order.
fn beside<'a>(
    trace: &OpenTrace<'_>,
    states: &[TraceItem<'a>],
    from: StartPoint<'_, 'a>,
    is_forward: bool,
) -> Option<TraceItem<'a>> {
    let (before, behind) = match from {
        StartPoint::Time(time) => {
            let before = states.partition_point(|state| state.start < time);
            (before, states.partition_point(|state| state.start <= time))
        }
        StartPoint::TraceState(_, reference) => {
            let named = |state: &&TraceItem<'_>| reference.names(trace, state);
            let all = states.iter().enumerate().filter(|(_, state)| named(state));
            let at = all.map(|(at, _)| at).nth(reference.nth as usize)?;
            (at, at + 1)
        }
    };
    match is_forward {
        true => states.get(behind).copied(),
        false => before.checked_sub(1).and_then(|at| states.get(at)).copied(),
    }
}
