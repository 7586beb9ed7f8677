//! The lines on which operations are drawn.

use std::collections::{BTreeMap, BTreeSet};

use super::base::DrawingBase;
use trace_model::{Actor, Lane, Line, name_of_lane};

/// The line of a thread of a rank; `None` if the lane has none of its own in the trace.
pub(super) fn own_line(base: &DrawingBase, lane: Lane) -> Option<i32> {
    let Actor::Rank(rank) = lane.actor else {
        return None;
    };
    if lane.lane != 0 || lane.thread >= base.threads || rank >= base.ranks {
        return None;
    }
    let line = i64::from(rank) * i64::from(base.threads) + i64::from(lane.thread);
    i32::try_from(line).ok()
}

/// The lines of these lanes, by ascending id. Servers and devices are numbered on behind the ranks, sub-lines behind the threads.
pub(super) fn lines(base: &DrawingBase, lanes: &BTreeMap<Lane, i32>) -> Vec<Line> {
    let others: BTreeSet<Actor> = lanes.keys().map(|lane| lane.actor).collect();
    let others: Vec<Actor> = others
        .into_iter()
        .filter(|actor| !matches!(actor, Actor::Rank(_)))
        .collect();
    let threads = lanes.keys().map(|lane| lane.thread.saturating_add(1));
    let threads = threads.chain([base.threads]).max().unwrap_or(1);
    let number = |n: u32| i32::try_from(n).unwrap_or(i32::MAX);
    let mut lines: Vec<Line> = lanes
        .iter()
        .map(|(lane, &id)| {
            let rank = match lane.actor {
                Actor::Rank(rank) => number(rank),
                _ => {
                    let nth = others.binary_search(&lane.actor).unwrap_or(0);
                    number(base.ranks).saturating_add(nth as i32)
                }
            };
            // Formats that know lines by rank and thread must be able to tell them apart.
            let thread = lane
                .thread
                .saturating_add(lane.lane.saturating_mul(threads));
            Line {
                name: Some(name_of_lane(*lane)),
                ..Line::of_thread(id, rank, number(thread))
            }
        })
        .collect();
    lines.sort_by_key(|line| line.id);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_under_the_ranks_and_sub_lines_apart_from_threads() {
        let base = DrawingBase {
            zero_ns: 0,
            ranks: 2,
            threads: 2,
            first_line: 12,
            first_category: 0,
        };
        let lane = |actor, thread, lane| Lane {
            actor,
            thread,
            lane,
        };
        let lanes = BTreeMap::from([
            (lane(Actor::Device(0), 0, 0), 12),
            (lane(Actor::Rank(1), 1, 1), 13),
            (lane(Actor::FrontEnd(0), 3, 0), 14),
        ]);
        let found: Vec<_> = lines(&base, &lanes)
            .iter()
            .map(|line| (line.id, line.rank, line.thread))
            .collect();
        assert_eq!(found, [(12, 3, 0), (13, 1, 5), (14, 2, 3)]);
        assert_eq!(own_line(&base, lane(Actor::Rank(1), 1, 0)), Some(3));
        assert_eq!(own_line(&base, lane(Actor::Rank(1), 1, 1)), None);
        assert_eq!(own_line(&base, lane(Actor::Rank(2), 0, 0)), None);
    }
}
