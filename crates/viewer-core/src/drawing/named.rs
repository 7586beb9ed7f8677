//! The timelines of a picture: lines of the trace that are about the same thing, under a name, in an order that tells the layers.
//!
//! Ranks come first, then servers, data servers and devices, then lines of which nothing but a name is known. Lines that
//! differ in their communicator only are one timeline, since a thread does one thing at a time.

use io_attribution::Actor;
use std::collections::{BTreeMap, HashMap, HashSet};
use trace_model::Line;

use crate::base::text::visible;
use crate::timelines::selection::TimelineSelection;
use crate::trace::line_subject::{LineSubject, subject_of};

/// A timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTimeline {
    /// Name, such as `rank 0`, `rank 0 thread 1`, `rank 0 AIO 1`, `server 0`, `device 0`.
    pub name: String,
    /// Timelines of different layers are kept apart in the picture: 0 ranks, 1 servers, 2 data servers, 3 devices, 4 others.
    pub layer: u8,
    /// Number among the timelines of the trace, from 0. Ranks or threads that somebody else has put together on one timeline have one number: they are drawn
    /// as one, but the states of each nest in its own only.
    pub number: usize,
}

/// How many timelines these are, where those of one number are one.
pub(crate) fn count(timelines: &[NamedTimeline]) -> usize {
    timelines.chunk_by(|a, b| a.number == b.number).count()
}

/// The timelines of a trace or those of them that were asked for, in order.
#[derive(Clone, Debug, Default)]
pub struct NamedTimelines {
    timelines: Vec<NamedTimeline>,
    /// Position in `timelines` of a line; of a line that is not wanted, none.
    of_line: HashMap<i32, Option<u32>>,
    /// Number of timelines of the trace.
    total: usize,
    /// Whether lines that are not defined are wanted.
    takes_unknown: bool,
}

impl NamedTimelines {
    /// The timelines of these lines.
    pub fn new<'l>(lines: impl Iterator<Item = &'l Line>) -> Self {
        let mut by_key: BTreeMap<LineSubject, Vec<i32>> = BTreeMap::new();
        for line in lines {
            by_key.entry(subject_of(line)).or_default().push(line.id);
        }
        let names = TimelineNames::of(by_key.keys());
        let mut timelines = NamedTimelines {
            takes_unknown: true,
            total: by_key.len(),
            ..NamedTimelines::default()
        };
        for (number, (key, lines)) in by_key.iter().enumerate() {
            for &line in lines {
                timelines.of_line.insert(line, Some(number as u32));
            }
            timelines.timelines.push(NamedTimeline {
                name: names.name(key),
                layer: layer(key),
                number,
            });
        }
        timelines
    }

    /// Timelines that somebody else has put together: the name of each, and the lines, by id, of each rank or thread on it.
    pub fn named(timelines: impl IntoIterator<Item = (String, Vec<Vec<i32>>)>) -> Self {
        let mut named = NamedTimelines::default();
        for (number, (name, mut threads)) in timelines.into_iter().enumerate() {
            if threads.is_empty() {
                threads.push(Vec::new());
            }
            for lines in threads {
                let position = named.timelines.len() as u32;
                let on_it = lines.into_iter().map(|line| (line, Some(position)));
                named.of_line.extend(on_it);
                named.timelines.push(NamedTimeline {
                    name: name.clone(),
                    layer: 0,
                    number,
                });
            }
            named.total += 1;
        }
        named
    }

    /// The timelines that a selection takes.
    #[must_use]
    pub fn selected(self, selection: &TimelineSelection) -> Self {
        self.kept(|_, timeline| selection.takes(timeline.number, &timeline.name))
    }

    /// The timelines that have any of these lines.
    #[must_use]
    pub fn with_lines(self, lines: &HashSet<i32>) -> Self {
        let found = self
            .of_line
            .iter()
            .filter(|(line, _)| lines.contains(*line));
        let wanted: HashSet<u32> = found.filter_map(|(_, timeline)| *timeline).collect();
        self.kept(|position, _| wanted.contains(&position))
    }

    /// The timelines that are wanted, by position and timeline.
    fn kept(mut self, wanted: impl Fn(u32, &NamedTimeline) -> bool) -> Self {
        let mut kept = Vec::new();
        let mut position = Vec::with_capacity(self.timelines.len());
        for timeline in std::mem::take(&mut self.timelines) {
            let wanted = wanted(position.len() as u32, &timeline);
            position.push(wanted.then_some(kept.len() as u32));
            if wanted {
                kept.push(timeline);
            }
        }
        for timeline in self.of_line.values_mut() {
            *timeline =
                timeline.and_then(|timeline| position.get(timeline as usize).copied().flatten());
        }
        self.timelines = kept;
        self.takes_unknown = false;
        self
    }

    /// The timelines.
    pub fn timelines(&self) -> &[NamedTimeline] {
        &self.timelines
    }

    /// Number of timelines of the trace, selected or not.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Position of the timeline of a line that the trace defines, if it is wanted.
    pub(crate) fn of_known_line(&self, line: i32) -> Option<u32> {
        self.of_line.get(&line).copied().flatten()
    }

    /// The timeline of a line. Lines that the trace does not define get one when they are first met, up to a bound.
    pub(crate) fn of_line(&mut self, line: i32) -> Option<u32> {
        const MAX_UNKNOWN: usize = 1 << 14;
        if let Some(&timeline) = self.of_line.get(&line) {
            return timeline;
        }
        if !self.takes_unknown || self.timelines.len() > self.total + MAX_UNKNOWN {
            return None;
        }
        let timeline = self.timelines.len() as u32;
        self.of_line.insert(line, Some(timeline));
        self.timelines.push(NamedTimeline {
            name: format!("line {line}"),
            layer: 4,
            number: self.timelines.len(),
        });
        Some(timeline)
    }
}

fn layer(key: &LineSubject) -> u8 {
    match key {
        LineSubject::Name(..) => 4,
        LineSubject::Lane(lane) => match lane.actor {
            Actor::Rank(_) => 0,
            Actor::FrontEnd(_) => 1,
            Actor::DataServer(_) => 2,
            Actor::Device(_) => 3,
        },
    }
}

/// Names that say no more than is needed to tell timelines apart.
struct TimelineNames {
    /// Actors with more than one thread.
    threaded: HashMap<Actor, bool>,
}

impl TimelineNames {
    fn of<'k>(keys: impl Iterator<Item = &'k LineSubject>) -> Self {
        let mut first: HashMap<Actor, u32> = HashMap::new();
        let mut threaded: HashMap<Actor, bool> = HashMap::new();
        for key in keys {
            if let LineSubject::Lane(lane) = key {
                let first = *first.entry(lane.actor).or_insert(lane.thread);
                *threaded.entry(lane.actor).or_default() |= first != lane.thread;
            }
        }
        TimelineNames { threaded }
    }

    fn name(&self, key: &LineSubject) -> String {
        let lane = match key {
            LineSubject::Name(_, name) => return visible(name),
            LineSubject::Lane(lane) => lane,
        };
        let mut name = match lane.actor {
            Actor::Rank(n) => format!("rank {n}"),
            Actor::FrontEnd(n) => format!("server {n}"),
            Actor::DataServer(n) => format!("data server {n}"),
            Actor::Device(n) => format!("device {n}"),
        };
        let is_threaded = self.threaded.get(&lane.actor) == Some(&true);
        // Thread 0 of a rank is the one that called MPI_Init, which goes without saying.
        let is_main = lane.thread == 0 && matches!(lane.actor, Actor::Rank(_));
        if is_threaded && !is_main {
            name.push_str(&format!(" thread {}", lane.thread));
        }
        if lane.lane > 0 {
            let what = match lane.actor {
                Actor::Rank(_) => "AIO",
                _ => "lane",
            };
            name.push_str(&format!(" {what} {}", lane.lane));
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(id: i32, name: &str) -> Line {
        Line {
            name: Some(name.to_owned()),
            ..Line::of_thread(id, id, 0)
        }
    }

    fn names(timelines: &NamedTimelines) -> Vec<&str> {
        timelines
            .timelines()
            .iter()
            .map(|timeline| timeline.name.as_str())
            .collect()
    }

    fn lines() -> Vec<Line> {
        vec![
            Line::of_thread(0, 0, 0),
            Line::of_thread(1, 1, 0),
            Line::of_thread(2, 1, 1),
            // Rank 0 in another communicator.
            Line {
                comm: 1,
                ..Line::of_thread(3, 0, 0)
            },
            named(4, "device 0 thread 0"),
            named(5, "data server 1 thread 0 lane 1"),
            named(6, "server 0 thread 0"),
            named(7, "server 0 thread 2"),
            named(8, "rank 0 thread 0 AIO 1"),
            named(9, "GPU 3"),
        ]
    }

    #[test]
    fn timelines_have_the_names_that_tell_them_apart() {
        let mut timelines = NamedTimelines::new(lines().iter());
        let expected = [
            "rank 0",
            "rank 0 AIO 1",
            "rank 1",
            "rank 1 thread 1",
            "server 0 thread 0",
            "server 0 thread 2",
            "data server 1 lane 1",
            "device 0",
            "GPU 3",
        ];
        assert_eq!(names(&timelines), expected);
        assert_eq!(timelines.of_line(0), timelines.of_line(3));
        assert_eq!(timelines.of_line(77), Some(9));
        assert_eq!(timelines.timelines()[9].name, "line 77");
    }

    #[test]
    fn timelines_by_number_and_name() {
        let select = |text: &str| {
            let mut timelines = NamedTimelines::new(lines().iter())
                .selected(&TimelineSelection::parse(text).unwrap());
            assert_eq!(timelines.of_line(77), None);
            names(&timelines).join(", ")
        };
        assert_eq!(select("0-1,3"), "rank 0, rank 0 AIO 1, rank 1 thread 1");
        assert_eq!(select("rank*,!*AIO*,!3"), "rank 0, rank 1");
        assert_eq!(select("!rank*,!*server*"), "device 0, GPU 3");
        assert_eq!(select("100"), "");
        let with_lines = |lines: &[i32]| {
            let lines = lines.iter().copied().collect();
            names(&NamedTimelines::new(self::lines().iter()).with_lines(&lines)).join(", ")
        };
        // Line 3 is rank 0 in another communicator, and nobody knows line 77.
        assert_eq!(with_lines(&[3, 2, 77]), "rank 0, rank 1 thread 1");
        assert_eq!(with_lines(&[]), "");
        for wrong in ["", "1,", "3-1", "1-x", "!"] {
            assert!(TimelineSelection::parse(wrong).is_err(), "{wrong}");
        }
    }
}
