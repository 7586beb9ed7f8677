//! States of a window by unit (lines on which one thing happens at a time) in order of start, and what lies on top when.
//!
//! States nest within a unit, never within a timeline: where a timeline shows several ranks, none of them is inside another one.
//! At any instant a unit shows the state that started last of those that run; where states are nested as calls are, the
//! time that a state is shown is its exclusive time.

use std::cmp::Ordering;

use super::reference::DrawableReference;
use super::{DrawableKind, OpenTrace, TraceItem};

/// A state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TraceState {
    /// Seconds.
    pub start: f64,
    /// Seconds, not before the start.
    pub end: f64,
    /// Number of its line.
    pub line: u32,
    /// Number of its kind.
    pub kind: u32,
}

impl TraceState {
    /// The state of an item that is one.
    pub fn of(item: &TraceItem<'_>) -> Self {
        TraceState {
            start: item.start,
            end: item.end,
            line: item.line,
            kind: item.kind,
        }
    }

    /// Seconds.
    pub fn duration(&self) -> f64 {
        self.end - self.start
    }

    /// By which URLs name it.
    pub fn reference(&self, trace: &OpenTrace<'_>) -> String {
        let reference = DrawableReference {
            line: trace.lines()[self.line as usize].line.id,
            kind: self.kind,
            start: self.start,
            to: None,
            nth: 0,
        };
        reference.to_string()
    }
}

/// States by unit.
#[derive(Clone, Debug, Default)]
pub struct StatesByUnit {
    states: Vec<TraceState>,
    /// By unit, counted from the first one, where its states begin, and behind all of them.
    starts: Vec<u32>,
    first: u32,
}

impl StatesByUnit {
    /// Sorts those states that are of `units`, given the unit of each line.
    pub fn new(
        found: &[Vec<TraceState>],
        kinds: &[DrawableKind],
        units: std::ops::Range<u32>,
        unit_of: impl Fn(u32) -> Option<u32>,
    ) -> Self {
        let unit = |state: &TraceState| match unit_of(state.line) {
            Some(unit) if units.contains(&unit) => Some((unit - units.start) as usize),
            _ => None,
        };
        let all = || found.iter().flatten();
        let mut starts = vec![0u32; units.len() + 1];
        all()
            .filter_map(unit)
            .for_each(|unit| starts[unit + 1] += 1);
        for nth in 1..starts.len() {
            starts[nth] += starts[nth - 1];
        }
        let mut next = starts.clone();
        let mut states = vec![TraceState::default(); starts[units.len()] as usize];
        for state in all() {
            if let Some(unit) = unit(state) {
                let locate = &mut next[unit];
                states[*locate as usize] = *state;
                *locate += 1;
            }
        }
        let mut merged = Vec::new();
        for ends in starts.windows(2) {
            sort(
                &mut states[ends[0] as usize..ends[1] as usize],
                kinds,
                &mut merged,
            );
        }
        StatesByUnit {
            states,
            starts,
            first: units.start,
        }
    }

    /// The states of each unit by call depth: `levels` units for each one, which begin at the number of it; the last of them has all that is nested deeper.
    /// `units` must be whole ones.
    pub fn by_level(
        found: &[Vec<TraceState>],
        kinds: &[DrawableKind],
        units: std::ops::Range<u32>,
        levels: usize,
        unit_of: impl Fn(u32) -> Option<u32>,
    ) -> Self {
        let whole = StatesByUnit::new(found, kinds, units.clone(), unit_of);
        let mut leveled = StatesByUnit {
            states: Vec::with_capacity(whole.len()),
            starts: vec![0],
            first: units.start,
        };
        let (mut running, mut depths) = (Vec::new(), Vec::new());
        for unit in units.clone().step_by(levels.max(1)) {
            let states = whole.of(unit);
            depths.clear();
            for_each_shown(
                states,
                &mut running,
                |_, _, _| {},
                |_, depth| depths.push(depth),
            );
            for level in 0..levels {
                let is_last = level + 1 == levels;
                let on_it = |depth: usize| depth == level || (is_last && depth > level);
                let pairs = states.iter().zip(&depths);
                leveled.states.extend(
                    pairs
                        .filter(|(_, depth)| on_it(**depth))
                        .map(|(state, _)| state),
                );
                leveled.starts.push(leveled.states.len() as u32);
            }
        }
        leveled
    }

    /// The states of a unit, by start, of those that start together the longer one first.
    pub fn of(&self, unit: u32) -> &[TraceState] {
        let at = unit.wrapping_sub(self.first) as usize;
        let ends = self.starts.get(at).zip(self.starts.get(at + 1));
        let states = ends.and_then(|(&from, &to)| self.states.get(from as usize..to as usize));
        states.unwrap_or_default()
    }

    /// Number of states.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }
}

/// Puts the states of a unit in order. They come by node of the tree, from the root downwards and from left to right: those
/// of the leaves, which are most, are in order already, so what is left is a merge.
fn sort(states: &mut [TraceState], kinds: &[DrawableKind], merged: &mut Vec<TraceState>) {
    let is_before = |a: &TraceState, b: &TraceState| order(kinds, a, b).is_lt();
    let pairs = states.windows(2).rev();
    let sorted = 1 + pairs
        .take_while(|pair| !is_before(&pair[1], &pair[0]))
        .count();
    let above = states.len().saturating_sub(sorted);
    if above == 0 {
        return;
    }
    states[..above].sort_by(|a, b| order(kinds, a, b));
    merged.clear();
    merged.extend_from_slice(&states[..above]);
    let (mut to, mut below) = (0, above);
    for state in merged.iter() {
        while below < states.len() && is_before(&states[below], state) {
            states[to] = states[below];
            (to, below) = (to + 1, below + 1);
        }
        states[to] = *state;
        to += 1;
    }
}

/// By start, the longer one first, then the older category: a call comes before the operation in it that takes as long.
pub fn order(kinds: &[DrawableKind], a: &TraceState, b: &TraceState) -> Ordering {
    let index = |state: &TraceState| {
        kinds
            .get(state.kind as usize)
            .map(|kind| kind.category.index)
    };
    (a.start.total_cmp(&b.start))
        .then_with(|| b.end.total_cmp(&a.end))
        .then_with(|| index(a).cmp(&index(b)))
}

/// Goes over the states of a unit, which must be in order. Says of each stretch of time which state is shown in it
/// (its position, from when, until when), stretches in order; a state without duration is shown in a stretch without any.
/// Says of each state on how many that still run it lies.
pub fn for_each_shown(
    states: &[TraceState],
    running: &mut Vec<u32>,
    mut shown: impl FnMut(usize, f64, f64),
    mut depth: impl FnMut(usize, usize),
) {
    running.clear();
    let mut until = f64::NEG_INFINITY;
    for (nth, state) in states.iter().enumerate() {
        // A state that ended before this one starts is shown until its end.
        finish(states, running, state.start, &mut until, &mut shown);
        if let Some(&top) = running.last()
            && state.start > until
        {
            shown(top as usize, until, state.start);
        }
        until = until.max(state.start);
        depth(nth, running.len());
        if state.end > state.start {
            running.push(nth as u32);
        } else {
            shown(nth, state.start, state.start);
        }
    }
    finish(states, running, f64::INFINITY, &mut until, &mut shown);
}

/// Ends those states on top that end until `now`.
fn finish(
    states: &[TraceState],
    running: &mut Vec<u32>,
    now: f64,
    until: &mut f64,
    shown: &mut impl FnMut(usize, f64, f64),
) {
    while let Some(&top) = running.last() {
        let end = states[top as usize].end;
        if end > now {
            // Those below may have ended all the same, if they cross this one.
            running.retain(|&nth| states[nth as usize].end > now);
            return;
        }
        if end > *until {
            shown(top as usize, *until, end);
            *until = end;
        }
        running.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(start: f64, end: f64) -> TraceState {
        TraceState {
            start,
            end,
            ..TraceState::default()
        }
    }

    fn swept(states: &[TraceState]) -> (Vec<(usize, f64, f64)>, Vec<usize>) {
        let (mut shown, mut depths) = (Vec::new(), Vec::new());
        let mut running = Vec::new();
        for_each_shown(
            states,
            &mut running,
            |nth, from, to| shown.push((nth, from, to)),
            |_, depth| depths.push(depth),
        );
        (shown, depths)
    }

    #[test]
    fn nested() {
        let states = [
            state(0.0, 10.0),
            state(1.0, 5.0),
            state(1.0, 2.0),
            state(7.0, 7.0),
            state(11.0, 12.0),
        ];
        let (shown, depths) = swept(&states);
        assert_eq!(depths, [0, 1, 2, 1, 0]);
        let expected = [
            (0, 0.0, 1.0),
            (2, 1.0, 2.0),
            (1, 2.0, 5.0),
            (0, 5.0, 7.0),
            (3, 7.0, 7.0),
            (0, 7.0, 10.0),
            (4, 11.0, 12.0),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn crossing() {
        let states = [state(0.0, 30.0), state(5.0, 15.0), state(10.0, 20.0)];
        let (shown, depths) = swept(&states);
        assert_eq!(depths, [0, 1, 2]);
        let expected = [
            (0, 0.0, 5.0),
            (1, 5.0, 10.0),
            (2, 10.0, 20.0),
            (0, 20.0, 30.0),
        ];
        assert_eq!(shown, expected);
    }
}
