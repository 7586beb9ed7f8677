//! The critical path: backwards from the end of the focus, along a rank, and at a wait over to the rank that was waited for.

use super::clocks::{earlier_of, later_of};
use super::longest::{Lasting, Longest};
use trace_model::hash::Map;

/// Waits that are kept; when there are more, the shortest are forgotten.
const MAX_EDGES: usize = 4 << 20;

/// A wait, as the path needs it.
#[derive(Clone, Copy, Debug)]
struct WaitEdge {
    /// End of the wait, seconds: the culprit did then what was waited for.
    at: f64,
    /// Seconds that it lasted; a wait of more than years has no place in a trace.
    seconds: f32,
    lane: u32,
    culprit: u32,
}

impl Lasting for WaitEdge {
    fn seconds(&self) -> f32 {
        self.seconds
    }
}

/// The waits of all ranks, collected for the path.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitEdges {
    edges: Longest<WaitEdge, MAX_EDGES>,
}

/// A part of the path, on one lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PathPiece {
    pub lane: u32,
    pub from: f64,
    pub to: f64,
}

impl WaitEdges {
    pub(super) fn add(&mut self, lane: u32, culprit: u32, from: f64, to: f64) {
        self.edges.add(WaitEdge {
            at: to,
            seconds: (to - from) as f32,
            lane,
            culprit,
        });
    }

    pub(super) fn clear(&mut self) {
        self.edges.clear();
    }

    /// The path from `end` on `lane` back to `start`, in order of time. Its pieces add up to the time in between.
    pub(super) fn path(mut self, lane: u32, start: f64, end: f64) -> Vec<PathPiece> {
        self.edges.items.sort_by(|a, b| a.at.total_cmp(&b.at));
        let mut pieces = Vec::new();
        let (mut lane, mut to) = (lane, end);
        for edge in self.edges.items.iter().rev() {
            if edge.lane != lane || edge.at > to {
                continue;
            }
            if edge.at <= start {
                break;
            }
            if to > edge.at {
                pieces.push(PathPiece {
                    lane,
                    from: edge.at,
                    to,
                });
            }
            (lane, to) = (edge.culprit, edge.at);
        }
        if to > start {
            pieces.push(PathPiece {
                lane,
                from: start,
                to,
            });
        }
        pieces.reverse();
        pieces
    }
}

/// Time on the path by lane and by category; `None` is computing outside of any state.
#[derive(Clone, Debug, Default)]
pub(super) struct PathProfile {
    by_lane: Vec<Vec<(f64, f64)>>,
    /// Next piece of each lane.
    next: Vec<usize>,
    /// Seconds by category.
    pub by_category: Map<Option<u32>, f64>,
}

impl PathProfile {
    pub(super) fn new(pieces: &[PathPiece], lanes: usize) -> PathProfile {
        let mut by_lane = vec![Vec::new(); lanes];
        for piece in pieces {
            if let Some(own) = by_lane.get_mut(piece.lane as usize) {
                own.push((piece.from, piece.to));
            }
        }
        PathProfile {
            next: vec![0; lanes],
            by_lane,
            by_category: Map::default(),
        }
    }

    /// A lane spent a stretch of time in a category. The stretches of a lane come in order.
    #[inline]
    pub(super) fn add(&mut self, lane: u32, from: f64, to: f64, category: Option<u32>) {
        let (Some(pieces), Some(next)) = (
            self.by_lane.get(lane as usize),
            self.next.get_mut(lane as usize),
        ) else {
            return;
        };
        let mut seconds = 0.0;
        while let Some(&(start, end)) = pieces.get(*next) {
            if start >= to {
                break;
            }
            seconds += later_of(earlier_of(end, to) - later_of(start, from), 0.0);
            if end > to {
                break;
            }
            *next += 1;
        }
        if seconds > 0.0 {
            *self.by_category.entry(category).or_default() += seconds;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_changes_lanes_where_someone_was_waited_for() {
        let mut edges = WaitEdges::default();
        edges.add(1, 0, 1.0, 2.0);
        edges.add(2, 1, 0.5, 3.0);
        // Not on the path: the lane is left before.
        edges.add(0, 2, 2.5, 2.6);
        let piece = |lane, from, to| PathPiece { lane, from, to };
        assert_eq!(
            edges.path(2, 0.0, 4.0),
            [piece(0, 0.0, 2.0), piece(1, 2.0, 3.0), piece(2, 3.0, 4.0)]
        );
        let mut profile = PathProfile::new(
            &[piece(0, 0.0, 2.0), piece(1, 2.0, 3.0), piece(0, 3.0, 4.0)],
            2,
        );
        profile.add(0, 0.0, 1.5, None);
        profile.add(0, 1.5, 3.5, Some(7));
        profile.add(1, 0.0, 2.25, Some(7));
        profile.add(0, 3.5, 5.0, None);
        profile.add(1, 2.25, 9.0, None);
        assert_eq!(profile.by_category[&Some(7)], 0.5 + 0.5 + 0.25);
        assert_eq!(profile.by_category[&None], 1.5 + 0.75 + 0.5);
    }

    #[test]
    fn many_waits_take_little_memory() {
        let mut edges = WaitEdges::default();
        for nth in 0..MAX_EDGES as u32 + 10 {
            let at = f64::from(nth);
            edges.add(0, 1, at, at + if nth % 1000 == 0 { 0.5 } else { 0.1 });
        }
        assert!(edges.edges.items.len() < MAX_EDGES / 2);
        let path = edges.path(0, 0.0, 100.0);
        let sum: f64 = path.iter().map(|piece| piece.to - piece.from).sum();
        assert!((sum - 100.0).abs() < 1e-9);
    }
}
