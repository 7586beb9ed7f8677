//! Lanes: where the work of a rank, a server or a device is drawn, how its timeline is called, and its numbers in views.

use super::Line;

/// Process or device that does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Actor {
    /// A rank of MPI_COMM_WORLD.
    Rank(u32),
    /// The I/O server that programs see as a file system.
    FrontEnd(u32),
    /// A data server behind it.
    DataServer(u32),
    /// A block device.
    Device(u32),
}

/// Position on the vertical axis: a thread of an actor, and one of several lanes if operations overlap there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lane {
    /// Process or device.
    pub actor: Actor,
    /// Number of the thread, as in the block file.
    pub thread: u32,
    /// 0 is the thread's own line, on which everything is nested; further ones hold what overlaps.
    pub lane: u32,
}

/// Name of a lane: `rank 0 thread 1 AIO 2`, `server 0 thread 3`, `data server 1 thread 0 lane 1`, `device 0`.
pub fn name_of_lane(lane: Lane) -> String {
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
pub fn named_lane(line: &Line) -> Option<Lane> {
    parse(line.name.as_deref()?)
}

/// The thread that a line belongs to: its own number, or for a lane beside a thread, such as that of asynchronous I/O, the number of that thread.
pub fn thread_of(line: &Line) -> i32 {
    let lane = named_lane(line).and_then(|lane| i32::try_from(lane.thread).ok());
    lane.unwrap_or(line.thread)
}

/// The numbers that stand for a lane in a view: layer, number in it, thread, lane.
pub fn columns_of_lane(lane: Lane) -> [i32; 4] {
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
pub fn name_of_columns(columns: [i32; 4]) -> Option<String> {
    let [number, thread, lane] = [columns[1], columns[2], columns[3]].map(u32::try_from);
    let (number, thread, lane) = (number.ok()?, thread.ok()?, lane.ok()?);
    let actor = match columns[0] {
        0 if lane > 0 => Actor::Rank(number),
        1 => Actor::FrontEnd(number),
        2 => Actor::DataServer(number),
        3 => Actor::Device(number),
        _ => return None,
    };
    Some(name_of_lane(Lane {
        actor,
        thread,
        lane,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_beside_a_thread_is_of_that_thread() {
        let named = |name: &str, thread| Line {
            name: Some(name.into()),
            ..Line::of_thread(9, 0, thread)
        };
        assert_eq!(thread_of(&named("rank 0 thread 1 AIO 2", 7)), 1);
        assert_eq!(thread_of(&named("worker", 7)), 7);
        assert_eq!(thread_of(&Line::of_thread(9, 0, -1)), -1);
    }

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
                assert_eq!(parse(&name_of_lane(lane)), Some(lane));
                let again = name_of_columns(columns_of_lane(lane));
                let own = matches!(actor, Actor::Rank(_)) && lane.lane == 0;
                assert_eq!(again, (!own).then(|| name_of_lane(lane)));
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
}
