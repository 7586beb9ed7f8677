//! Processes and tracks: where the timelines of a trace are drawn.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;
use trace_model::{Actor, Definitions, Line, lane_of, named_lane};

/// A rank, a server or a device, with the tracks of its threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    /// Number of the process: 1, 2, … in the order in which they are shown. The rank of a rank plus 1 if every rank before it is in the
    /// trace. Number 0 would be the idle process of the system.
    pub pid: i32,
    /// `rank 3`, `server 0`, `device 1`, or the name that the trace gives.
    pub name: String,
    /// Host, where it is known.
    pub host: Option<String>,
}

/// What a track shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrackKind {
    /// Slices of a thread.
    Thread,
    /// Slices that overlap those of a thread: operations under way at the same time.
    Lane,
    /// A counter, whose values may be bytes.
    Counter {
        /// Whether its unit is bytes.
        is_bytes: bool,
    },
}

/// A row of slices, or a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Track {
    /// Number of the track: 0, 1, ….
    pub number: usize,
    /// Number of its process, from 0.
    pub process: usize,
    /// Number of a thread, unique in the trace and different from that of every process.
    pub tid: i32,
    /// `thread 0`, `thread 0 AIO 1`, `bytes in flight`, ….
    pub name: String,
    /// What it shows.
    pub kind: TrackKind,
    /// Track of the thread that a counter belongs to; `None` for a counter of the process.
    pub thread: Option<usize>,
}

/// Processes and tracks of a trace. Tracks are added while it is written.
#[derive(Debug, Default)]
pub(crate) struct Tracks {
    pub processes: Vec<Process>,
    pub tracks: Vec<Track>,
    /// Place of a timeline, by its id.
    lines: HashMap<i32, LineTrack, RandomState>,
}

/// Where a timeline is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineTrack {
    /// Number of the track.
    pub track: usize,
    /// Communicator that the timeline is about; 0 for MPI_COMM_WORLD.
    pub comm: i32,
}

/// By process its tracks, by thread and lane; each with the ids and communicators of its timelines and a name of its own.
type ThreadLines<'d> = BTreeMap<(u32, u32), (Option<&'d str>, Vec<(i32, i32)>)>;

impl Tracks {
    /// The tracks of the timelines. Timelines of one thread that differ only by communicator share a track.
    pub(crate) fn new(definitions: &Definitions) -> Self {
        let mut grouped: BTreeMap<Actor, (Vec<&Line>, ThreadLines<'_>)> = BTreeMap::new();
        for line in &definitions.lines {
            let lane = lane_of(line);
            let name = line.name.as_deref().filter(|_| named_lane(line).is_none());
            let (lines, threads) = grouped.entry(lane.actor).or_default();
            lines.push(line);
            let thread = threads.entry((lane.thread, lane.lane)).or_default();
            thread.0 = thread.0.or(name);
            thread.1.push((line.id, line.comm));
        }
        let mut tracks = Tracks::default();
        for (number, (actor, (lines, threads))) in grouped.into_iter().enumerate() {
            tracks.processes.push(Process {
                pid: int(number + 1),
                name: process_name(actor, &lines),
                host: lines.iter().find_map(|line| line.host.clone()),
            });
            for ((thread, lane), (name, ids)) in threads {
                let track = tracks.tracks.len();
                let (name, kind) = match (name, lane) {
                    (Some(name), 0) => (name.to_owned(), TrackKind::Thread),
                    (_, 0) => (format!("thread {thread}"), TrackKind::Thread),
                    (_, lane) => {
                        let what = match actor {
                            Actor::Rank(_) => "AIO",
                            _ => "lane",
                        };
                        (format!("thread {thread} {what} {lane}"), TrackKind::Lane)
                    }
                };
                tracks.add(number, name, kind, None);
                for (id, comm) in ids {
                    tracks.lines.insert(id, LineTrack { track, comm });
                }
            }
        }
        // Behind the numbers of all processes.
        let first = int(tracks.processes.len() + 1);
        for track in &mut tracks.tracks {
            track.tid = first.saturating_add(int(track.number));
        }
        tracks
    }

    /// Adds a track.
    pub(crate) fn add(
        &mut self,
        process: usize,
        name: String,
        kind: TrackKind,
        thread: Option<usize>,
    ) -> usize {
        let number = self.tracks.len();
        self.tracks.push(Track {
            number,
            process,
            tid: int(self.processes.len() + 1 + number),
            name,
            kind,
            thread,
        });
        number
    }

    /// Place of the timeline with this id.
    pub(crate) fn of_line(&self, id: i32) -> Option<LineTrack> {
        self.lines.get(&id).copied()
    }

    /// The process of a track.
    pub(crate) fn process_of(&self, track: &Track) -> Option<&Process> {
        self.processes.get(track.process)
    }
}

fn int(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// The name that the trace gives to the only timeline of a process, or else what the process is.
fn process_name(actor: Actor, lines: &[&Line]) -> String {
    if let &[line] = lines
        && let Some(name) = line.name.as_deref().filter(|_| named_lane(line).is_none())
    {
        return name.to_owned();
    }
    match actor {
        Actor::Rank(number) => format!("rank {number}"),
        Actor::FrontEnd(number) => format!("server {number}"),
        Actor::DataServer(number) => format!("data server {number}"),
        Actor::Device(number) => format!("device {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timelines_become_threads_of_processes() {
        let named = |id, name: &str| Line {
            name: Some(name.to_owned()),
            ..Line::of_thread(id, 1_000_000 + id, 0)
        };
        let lines = vec![
            Line::of_thread(0, 0, 0),
            Line {
                host: Some("a".to_owned()),
                ..Line::of_thread(1, 1, 0)
            },
            Line::of_thread(2, 1, 1),
            Line {
                comm: 5,
                ..Line::of_thread(3, 1, 0)
            },
            named(4, "rank 1 thread 0 AIO 1"),
            named(5, "server 0 thread 2"),
            named(6, "device 0"),
        ];
        let definitions = Definitions {
            lines,
            ..Definitions::default()
        };
        let tracks = Tracks::new(&definitions);
        let names: Vec<String> = tracks
            .tracks
            .iter()
            .map(|track| {
                let process = &tracks.processes[track.process];
                format!("{}: {}", process.name, track.name)
            })
            .collect();
        assert_eq!(
            names,
            [
                "rank 0: thread 0",
                "rank 1: thread 0",
                "rank 1: thread 0 AIO 1",
                "rank 1: thread 1",
                "device 0: device 0",
                "server 0: thread 2",
            ]
        );
        assert_eq!(tracks.of_line(1).map(|place| place.track), Some(1));
        let of_comm = LineTrack { track: 1, comm: 5 };
        assert_eq!(tracks.of_line(3), Some(of_comm));
        assert_eq!(tracks.of_line(9), None);
        assert_eq!(tracks.processes[1].host.as_deref(), Some("a"));
        // No number stands for two things.
        let mut numbers: Vec<i32> = tracks.processes.iter().map(|p| p.pid).collect();
        numbers.extend(tracks.tracks.iter().map(|track| track.tid));
        let count = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!((numbers.len(), numbers[0]), (count, 1));
    }
}
