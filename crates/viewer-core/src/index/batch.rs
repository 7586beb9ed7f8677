//! States of a stretch of time, unit by unit: those of one unit are worked on together, so that what is known of it is at hand,
//! however many units there are.

use crate::trace::states::TraceState;

/// Whether a state comes before another one: by start, the longer one first.
#[inline]
fn is_before(state: &TraceState, other: &TraceState) -> bool {
    state.start < other.start || (state.start == other.start && state.end > other.end)
}

/// States of a half of the units, none of which starts before one of an earlier batch, unless the file is not in order.
#[derive(Clone, Debug, Default)]
pub struct StateBatch {
    /// As they were read.
    pub(super) states: Vec<TraceState>,
}

/// States unit by unit.
#[derive(Debug, Default)]
pub(super) struct StatesByLane {
    states: Vec<TraceState>,
    /// By unit where its states end in `states`.
    ends: Vec<u32>,
}

impl StatesByLane {
    /// Takes these states; `lane_of` says by line the unit, of which there are `lanes`.
    pub fn fill(&mut self, state_reader: &[TraceState], lane_of: &[u32], lanes: usize) {
        // First the number of each unit, one place further on; then where each begins, which moves on to where it ends.
        self.ends.clear();
        self.ends.resize(lanes + 1, 0);
        for state in state_reader {
            self.ends[lane_of[state.line as usize] as usize + 1] += 1;
        }
        let mut sum = 0;
        for end in &mut self.ends {
            sum += *end;
            *end = sum;
        }
        // Each place is written to below, in the order of units.
        if let (Some(any), true) = (state_reader.first(), self.states.len() < state_reader.len()) {
            self.states.resize(state_reader.len(), *any);
        }
        for state in state_reader {
            let end = &mut self.ends[lane_of[state.line as usize] as usize];
            self.states[*end as usize] = *state;
            *end += 1;
        }
        self.ends.pop();
    }

    /// Hands on the states of each unit that has some, in order.
    pub fn for_each(&mut self, mut take: impl FnMut(usize, &[TraceState])) {
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
fn order(states: &mut [TraceState]) {
    // Those of inner nodes stand some places from where they belong. Files of other programs may be in no order at all.
    let mut moves = 16 * states.len();
    for next in 1..states.len() {
        let state = states[next];
        let mut at = next;
        while at > 0 && is_before(&state, &states[at - 1]) {
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
        let state = |line, start: u32, length: u32| TraceState {
            start: f64::from(start),
            end: f64::from(start + length),
            kind: start,
            line,
        };
        // Lines 1 and 2 are one unit. Many, so that both ways of sorting are gone.
        for count in [3, 40, 2000] {
            let state_reader: Vec<TraceState> = (0..count)
                .map(|n| state(n % 3, (n * 7919) % count, n % 5))
                .collect();
            let mut by_lane = StatesByLane::default();
            by_lane.fill(&state_reader, &[0, 1, 1], 2);
            let mut found = 0;
            by_lane.for_each(|lane, states| {
                assert!(states.iter().all(|s| usize::from(s.line > 0) == lane));
                assert!(states.is_sorted_by(|a, b| !is_before(b, a)));
                found += states.len();
            });
            assert_eq!(found, state_reader.len());
        }
    }
}
