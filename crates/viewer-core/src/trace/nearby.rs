//! Finds drawables: what runs at a time, what comes next, and a drawable again that has a reference.

use std::cmp::Ordering;
use trace_formats::slog2::{TimeBBox, Topology};

use super::reference::Reference;
use crate::base::error::Refusal;
use crate::trace::scan::{Reach, Scanned, Take, scan};
use crate::trace::{Item, Trace};

/// Takes those that are wanted.
struct Taker<'f, 'a> {
    wanted: &'f dyn Fn(&Item<'a>) -> bool,
    items: Vec<Item<'a>>,
}

impl<'a> Take<'a> for Taker<'_, 'a> {
    fn item(&mut self, item: Item<'a>) {
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
    trace: &Trace<'a>,
    reach: Reach<'_>,
    wanted: &dyn Fn(&Item<'a>) -> bool,
) -> Result<(Vec<Item<'a>>, Scanned), Refusal> {
    let mut taker = Taker {
        wanted,
        items: Vec::new(),
    };
    let scanned = scan(trace, reach, &mut taker)?;
    Ok((taker.items, scanned))
}

/// The order of states: by start, the longer one first, then by number of the category.
pub fn order(trace: &Trace<'_>, a: &Item<'_>, b: &Item<'_>) -> Ordering {
    let index = |item: &Item<'_>| trace.kinds()[item.kind as usize].category.index;
    (a.start.total_cmp(&b.start))
        .then_with(|| b.end.total_cmp(&a.end))
        .then_with(|| index(a).cmp(&index(b)))
}

/// The drawables that are the same as this one but for the number of their reference, in order.
fn same<'a>(
    trace: &Trace<'a>,
    at: f64,
    reach: Reach<'_>,
    reference: &Reference,
) -> Result<Vec<Item<'a>>, Refusal> {
    let point = Reach {
        window: TimeBBox {
            earliest: at,
            latest: at,
        },
        ..reach
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
    trace: &Trace<'a>,
    reach: Reach<'_>,
    reference: &Reference,
) -> Result<Item<'a>, Refusal> {
    let items = same(trace, reference.start, reach, reference)?;
    let found = items.get(reference.nth as usize).copied();
    found.ok_or_else(|| Refusal::missing(format!("there is no drawable {reference}")))
}

/// The reference of a drawable.
///
/// # Errors
/// The file is damaged.
pub fn refer<'a>(
    trace: &Trace<'a>,
    reach: Reach<'_>,
    item: &Item<'a>,
) -> Result<Reference, Refusal> {
    let reference = Reference::of(trace, item, 0);
    let same = same(trace, item.start, reach, &reference)?;
    let is_it = |other: &&Item<'_>| other.end == item.end && std::ptr::eq(other.info, item.info);
    let nth = same.iter().position(|other| is_it(&other)).unwrap_or(0);
    Ok(Reference {
        nth: nth as u32,
        ..reference
    })
}

/// The states of some lines at a time, in order; the last one that is not over is the innermost.
///
/// # Errors
/// The file is damaged.
pub fn running<'a>(
    trace: &Trace<'a>,
    reach: Reach<'_>,
    lines: &dyn Fn(u32) -> bool,
) -> Result<Vec<Item<'a>>, Refusal> {
    let is_state = |item: &Item<'a>| item.topology == Topology::State && lines(item.line);
    let (mut items, _) = collect(trace, reach, &is_state)?;
    items.sort_by(|a, b| order(trace, a, b));
    Ok(items)
}

/// Where to look for the state before or behind.
#[derive(Clone, Copy, Debug)]
pub enum From<'i, 'a> {
    /// A state, and which of those that are the same.
    State(&'i Item<'a>, Reference),
    /// A time in seconds.
    Time(f64),
}

/// The next state behind, or the last one before, among those of some lines; `None` at the end.
///
/// # Errors
/// The file is damaged, or too much would have to be read.
pub fn next<'a>(
    trace: &Trace<'a>,
    reach: Reach<'_>,
    from: From<'_, 'a>,
    is_forward: bool,
    lines: &dyn Fn(u32) -> bool,
) -> Result<Option<Item<'a>>, Refusal> {
    let all = trace.bounds();
    let at = match from {
        From::State(item, _) => item.start,
        From::Time(time) => time.clamp(all.earliest, all.latest),
    };
    let nodes = trace.reader().directory().len().max(1);
    let mut step = all.duration() / nodes as f64;
    let mut left = reach.bytes;
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
        let reach = Reach {
            window,
            bytes: left,
            ..reach
        };
        let is_state = |item: &Item<'a>| item.topology == Topology::State && lines(item.line);
        let (mut states, scanned) = collect(trace, reach, &is_state)?;
        states.sort_by(|a, b| order(trace, a, b));
        let found = beside(trace, &states, from, is_forward);
        // What began outside may not be the nearest: others may have begun and ended since.
        let is_sure = |item: &Item<'_>| is_forward || item.start >= window.earliest;
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
        if scanned.stopped {
            return Err(Refusal::stopped());
        }
        left = left.saturating_sub(scanned.bytes);
        if !scanned.exact || left == 0 {
            let message = format!("no state within {step} s, and no more may be read to find one");
            return Err(Refusal::too_much(message));
        }
        step *= 4.0;
    }
}

/// The neighbour among states in order.
fn beside<'a>(
    trace: &Trace<'_>,
    states: &[Item<'a>],
    from: From<'_, 'a>,
    is_forward: bool,
) -> Option<Item<'a>> {
    let (before, behind) = match from {
        From::Time(time) => {
            let before = states.partition_point(|state| state.start < time);
            (before, states.partition_point(|state| state.start <= time))
        }
        From::State(_, reference) => {
            let named = |state: &&Item<'_>| reference.names(trace, state);
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
