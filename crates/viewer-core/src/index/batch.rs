//! States of a stretch of time, unit by unit: those of one unit are worked on together, so that what is known of it is at hand,
//! however many units there are.

use crate::trace::Item;

/// A state.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub start: f64,
    pub end: f64,
    pub kind: u32,
    pub line: u32,
}

impl State {
    /// Of an item that is one.
    pub fn of(item: &Item<'_>) -> Self {
        State {
            start: item.start,
            end: item.end,
            kind: item.kind,
            line: item.line,
        }
    }

    /// Whether it comes before another one: by start, the longer one first.
    #[inline]
    fn is_before(&self, other: &State) -> bool {
        self.start < other.start || (self.start == other.start && self.end > other.end)
    }
}

/// States of a half of the units, none of which starts before one of an earlier batch, unless the file is not in order.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// As they were read.
    pub(super) states: Vec<State>,
}

/// States unit by unit.
#[derive(Debug, Default)]
pub(super) struct ByLane {
    states: Vec<State>,
    /// By unit where its states end in `states`.
    ends: Vec<u32>,
}

impl ByLane {
    /// Takes these states; `lane_of` says by line the unit, of which there are `lanes`.
    pub fn fill(&mut self, read: &[State], lane_of: &[u32], lanes: usize) {
        // First the number of each unit, one place further on; then where each begins, which moves on to where it ends.
        self.ends.clear();
        self.ends.resize(lanes + 1, 0);
        for state in read {
            self.ends[lane_of[state.line as usize] as usize + 1] += 1;
        }
        let mut sum = 0;
        for end in &mut self.ends {
            sum += *end;
            *end = sum;
        }
        // Each place is written to below, in the order of units.
        if let (Some(any), true) = (read.first(), self.states.len() < read.len()) {
            self.states.resize(read.len(), *any);
        }
        for state in read {
            let end = &mut self.ends[lane_of[state.line as usize] as usize];
            self.states[*end as usize] = *state;
            *end += 1;
        }
        self.ends.pop();
    }

    /// Hands on the states of each unit that has some, in order.
    pub fn for_each(&mut self, mut take: impl FnMut(usize, &[State])) {
        let mut start = 0;
        for (lane, &end) in self.ends.iter().enumerate() {
            let end = end as usize;
            if end > start {
                let states = &mut self.states[start..end];
                order(states);
                take(lane, states);
            }
            start = end;
        }
    }
}

/// Sorts states that are nearly in order; equal ones stay as they are.
fn order(states: &mut [State]) {
    // Those of inner nodes stand some places from where they belong. Files of other programs may be in no order at all.
    let mut moves = 16 * states.len();
    for next in 1..states.len() {
        let state = states[next];
        let mut at = next;
        while at > 0 && state.is_before(&states[at - 1]) {
            states[at] = states[at - 1];
            at -= 1;
        }
        states[at] = state;
        moves = moves.saturating_sub(next - at);
        if moves == 0 {
            states.sort_by(|a, b| a.start.total_cmp(&b.start).then(b.end.total_cmp(&a.end)));
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_unit_and_start() {
        let state = |line, start: u32, length: u32| State {
            start: f64::from(start),
            end: f64::from(start + length),
            kind: start,
            line,
        };
        // Lines 1 and 2 are one unit. Many, so that both ways of sorting are gone.
        for count in [3, 40, 2000] {
            let read: Vec<State> = (0..count)
                .map(|n| state(n % 3, (n * 7919) % count, n % 5))
                .collect();
            let mut by_lane = ByLane::default();
            by_lane.fill(&read, &[0, 1, 1], 2);
            let mut found = 0;
            by_lane.for_each(|lane, states| {
                assert!(states.iter().all(|s| usize::from(s.line > 0) == lane));
                assert!(states.is_sorted_by(|a, b| !b.is_before(a)));
                found += states.len();
            });
            assert_eq!(found, read.len());
        }
    }
}
