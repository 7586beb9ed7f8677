//! Where operations are drawn: lines, their names and their numbers in views.

use std::collections::{BTreeMap, BTreeSet};

use super::Base;
use crate::io::fact::{Actor, Lane};
use crate::model::Line;

/// The line of a thread of a rank; `None` if the lane has none of its own in the trace.
pub(super) fn own_line(base: &Base, lane: Lane) -> Option<i32> {
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
pub(super) fn lines(base: &Base, lanes: &BTreeMap<Lane, i32>) -> Vec<Line> {
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
                name: Some(name(*lane)),
                ..Line::of_thread(id, rank, number(thread))
            }
        })
        .collect();
    lines.sort_by_key(|line| line.id);
    lines
}

/// What a lane is called: `rank 0 thread 1 AIO 2`, `server 0 thread 3`, `data server 1 thread 0 lane 1`, `device 0`.
fn name(lane: Lane) -> String {
    let (actor, number) = match lane.actor {
        Actor::Rank(n) => ("rank", n),
        Actor::FrontEnd(n) => ("server", n),
        Actor::DataServer(n) => ("data server", n),
        Actor::Device(n) => ("device", n),
    };
    let mut name = format!("{actor} {number} thread {}", lane.thread);
    if lane.lane > 0 {
        let what = match lane.actor {
            Actor::Rank(_) => "AIO",
            _ => "lane",
        };
        name.push_str(&format!(" {what} {}", lane.lane));
    }
    name
}

/// The lane of this name.
fn parse(name: &str) -> Option<Lane> {
    let mut words: Vec<&str> = name.split(' ').collect();
    if words.first() == Some(&"data") {
        words.remove(0);
        *words.first_mut()? = "data server";
    }
    let (lane, head) = match *words.as_slice() {
        [a, b, c, d] => ("0", [a, b, c, d]),
        [a, b, c, d, "AIO" | "lane", lane] => (lane, [a, b, c, d]),
        _ => return None,
    };
    let [actor, number, "thread", thread] = head else {
        return None;
    };
    let number = number.parse().ok()?;
    Some(Lane {
        actor: match actor {
            "rank" => Actor::Rank(number),
            "server" => Actor::FrontEnd(number),
            "data server" => Actor::DataServer(number),
            "device" => Actor::Device(number),
            _ => return None,
        },
        thread: thread.parse().ok()?,
        lane: lane.parse().ok()?,
    })
}

/// The lane that a line is for; of one that has no such name, that of its rank and thread.
pub fn lane_of(line: &Line) -> Lane {
    named_lane(line).unwrap_or_else(|| Lane {
        actor: Actor::Rank(u32::try_from(line.rank).unwrap_or(0)),
        thread: u32::try_from(line.thread).unwrap_or(0),
        lane: 0,
    })
}

/// The lane that a line is for by its name.
pub(crate) fn named_lane(line: &Line) -> Option<Lane> {
    parse(line.name.as_deref()?)
}

/// The numbers that stand for a lane in a view: layer, number in it, thread, lane.
pub(crate) fn columns_of_lane(lane: Lane) -> [i32; 4] {
    let (layer, number) = match lane.actor {
        Actor::Rank(n) => (0, n),
        Actor::FrontEnd(n) => (1, n),
        Actor::DataServer(n) => (2, n),
        Actor::Device(n) => (3, n),
    };
    let int = |n: u32| i32::try_from(n).unwrap_or(i32::MAX);
    [layer, int(number), int(lane.thread), int(lane.lane)]
}

/// The name of the lane that these numbers stand for; `None` for the own line of a thread of a rank, which needs none.
pub(crate) fn name_of_columns(columns: [i32; 4]) -> Option<String> {
    let [number, thread, lane] = [columns[1], columns[2], columns[3]].map(u32::try_from);
    let (number, thread, lane) = (number.ok()?, thread.ok()?, lane.ok()?);
    let actor = match columns[0] {
        0 if lane > 0 => Actor::Rank(number),
        1 => Actor::FrontEnd(number),
        2 => Actor::DataServer(number),
        3 => Actor::Device(number),
        _ => return None,
    };
    Some(name(Lane {
        actor,
        thread,
        lane,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_tell_the_lane() {
        for actor in [
            Actor::Rank(7),
            Actor::FrontEnd(0),
            Actor::DataServer(12),
            Actor::Device(1),
        ] {
            for (thread, lane) in [(0, 1), (3, 2), (5, 0)] {
                let lane = Lane {
                    actor,
                    thread,
                    lane,
                };
                assert_eq!(parse(&name(lane)), Some(lane));
                let again = name_of_columns(columns_of_lane(lane));
                let own = matches!(actor, Actor::Rank(_)) && lane.lane == 0;
                assert_eq!(again, (!own).then(|| name(lane)));
            }
        }
        for wrong in [
            "",
            "line 3",
            "rank 1",
            "rank x thread 0",
            "data",
            "data 3 thread 1",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn servers_are_under_the_ranks_and_sub_lines_apart_from_threads() {
        let base = Base {
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
