//! From drawables in order of start to events in order of time.

use std::collections::HashMap;
use std::io;

use foldhash::fast::RandomState;
use trace_model::{
    Definitions, Drawable, DrawablePoint, InfoValue, Losses, PointKind, Points, Stop, Topology,
    info_values, message,
};

use super::accepted::{StartTimes, obstacle};
use super::labels::{Argument, ArgumentValue, CategoryLabels, NameId, NameTable};
use super::nesting::Nesting;
use super::tracks::{TrackKind, Tracks};
use super::{CounterValue, EventWriter, FlowEnd};

/// Maximum number of files whose paths are remembered.
const MAX_FILES: usize = 1 << 16;

/// Takes drawables in order of start and gives a writer the events in order of time.
pub(crate) struct EventStream<W> {
    points: Points,
    /// Number of the next drawable in [`Points`].
    next: u64,
    /// Points of one time, whose order is not decided yet.
    tied: Vec<DrawablePoint>,
    events: EventMaker<W>,
}

impl<W: EventWriter> EventStream<W> {
    /// Defines the processes and threads of the trace.
    pub(crate) fn new(writer: W, definitions: &Definitions) -> io::Result<Self> {
        let events = EventMaker::new(writer, definitions)?;
        Ok(EventStream {
            points: Points::default(),
            next: 0,
            tied: Vec::new(),
            events,
        })
    }

    /// Takes a drawable.
    pub(crate) fn put(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        if !self.events.takes(drawable) {
            return Ok(());
        }
        let Some(&first) = drawable.vertices.first() else {
            return Ok(());
        };
        let events = &mut self.events;
        let (vertices, count) = events.times.vertices(drawable, first, &mut events.losses);
        let vertices = vertices.get(..count).unwrap_or_default();
        let drawable = Drawable {
            vertices,
            ..*drawable
        };
        self.events.open(self.next, &drawable)?;
        self.next += 1;
        let (events, tied) = (&mut self.events, &mut self.tied);
        self.points.push(&drawable, &mut |point| {
            if tied.first().is_some_and(|first| first.time != point.time) {
                events.points(tied)?;
            }
            tied.push(point.clone());
            Ok(())
        })
    }

    /// Gives the rest, and then the writer back with what could not be held.
    pub(crate) fn finish(self) -> Result<(W, Losses), Stop> {
        let EventStream {
            points,
            mut tied,
            mut events,
            ..
        } = self;
        points.finish(&mut |point| {
            if tied.first().is_some_and(|first| first.time != point.time) {
                events.points(&mut tied)?;
            }
            tied.push(point.clone());
            Ok(())
        })?;
        events.points(&mut tied)?;
        Ok((events.writer, events.losses))
    }
}

/// A drawable that is not over yet.
#[derive(Clone, Copy, Debug)]
enum OpenDrawable {
    State { track: usize, is_momentary: bool },
    Arrow { is_message: bool, way: ArrowWay },
}

/// How an arrow lies in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArrowWay {
    Forward,
    /// An arrow without duration.
    Momentary,
    /// An arrow that ends before it starts.
    Backward,
}

/// A counter that has been defined.
#[derive(Clone, Copy, Debug)]
struct Counter {
    track: usize,
    value: i64,
}

/// What a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum CounterKey {
    /// Bytes that a process has sent and that have not been received.
    InFlight { process: usize },
    /// A performance counter of a thread, by its name.
    Performance { track: usize, name: NameId },
    /// Values of an event of the program, by process and category.
    Event { process: usize, category: i32 },
}

struct EventMaker<W> {
    writer: W,
    names: NameTable,
    tracks: Tracks,
    categories: HashMap<i32, CategoryLabels, RandomState>,
    counters: HashMap<CounterKey, Counter, RandomState>,
    /// By state that is open what performance counters had counted when it began.
    counted: HashMap<u64, Vec<(CounterKey, i64)>, RandomState>,
    /// By track the tracks beside it.
    nesting: HashMap<usize, (Nesting, Vec<usize>), RandomState>,
    open: HashMap<u64, OpenDrawable, RandomState>,
    /// Paths of files by the number that the trace gives them.
    files: HashMap<i64, NameId, RandomState>,
    /// By track the last access to a file: CallID and file.
    accesses: HashMap<usize, (u64, i64), RandomState>,
    times: StartTimes,
    /// Time of the last event, ns.
    last: u64,
    comm: NameId,
    file: NameId,
    path: NameId,
    peer: NameId,
    losses: Losses,
}

impl<W: EventWriter> EventMaker<W> {
    fn new(mut writer: W, definitions: &Definitions) -> io::Result<Self> {
        let mut names = NameTable::default();
        let tracks = Tracks::new(definitions);
        let real = definitions.categories.iter().filter(|c| c.index >= 0);
        let categories: HashMap<_, _, _> = real
            .map(|category| (category.index, CategoryLabels::new(category, &mut names)))
            .collect();
        for process in &tracks.processes {
            writer.process(process)?;
        }
        for track in &tracks.tracks {
            if let Some(process) = tracks.process_of(track) {
                writer.track(track, process)?;
            }
        }
        let mut losses = Losses::default();
        losses.add("colour of a category", categories.len() as u64);
        Ok(EventMaker {
            writer,
            tracks,
            categories,
            counters: HashMap::default(),
            counted: HashMap::default(),
            nesting: HashMap::default(),
            open: HashMap::default(),
            files: HashMap::default(),
            accesses: HashMap::default(),
            times: StartTimes::default(),
            last: 0,
            comm: names.id("communicator"),
            file: names.id("file"),
            path: names.id("path"),
            peer: names.id("peer"),
            names,
            losses,
        })
    }

    /// True if the drawable has a time, and a category and lines that were defined; else it is counted.
    fn takes(&mut self, drawable: &Drawable<'_>) -> bool {
        let known = self.categories.get(&drawable.category);
        let topology = known.map(|known| known.category.topology);
        let has_line = |line| self.tracks.of_line(line).is_some();
        match obstacle(drawable, topology, has_line) {
            None => true,
            Some(obstacle) => {
                self.losses.add(obstacle, 1);
                false
            }
        }
    }

    /// Notes what its points will need of a drawable, and what it says of files.
    fn open(&mut self, number: u64, drawable: &Drawable<'_>) -> io::Result<()> {
        let (Some(first), Some(last)) = (drawable.vertices.first(), drawable.vertices.last())
        else {
            return Ok(());
        };
        let (Some(place), Some(labels)) = (
            self.tracks.of_line(first.line),
            self.categories.get(&drawable.category),
        ) else {
            return Ok(());
        };
        let opened = match drawable.topology {
            Topology::Event => {
                let values = labels.file_values(drawable.info);
                if let (Some(call), Some(file)) = (values.call, values.file) {
                    self.accesses.insert(place.track, (call, file));
                }
                if let (Some(file), Some(path)) = (values.file, values.path) {
                    let path = String::from_utf8_lossy(path).into_owned();
                    self.name_file(file, &path);
                }
                return Ok(());
            }
            Topology::State => {
                let (start, end) = (first.time.min(last.time), first.time.max(last.time));
                let track = self.row(place.track, start, end)?;
                OpenDrawable::State {
                    track,
                    is_momentary: start == end,
                }
            }
            Topology::Arrow => {
                // Zero and negative zero are one time.
                let order = first.time.partial_cmp(&last.time);
                let way = match order.unwrap_or_else(|| first.time.total_cmp(&last.time)) {
                    std::cmp::Ordering::Less => ArrowWay::Forward,
                    std::cmp::Ordering::Equal => ArrowWay::Momentary,
                    std::cmp::Ordering::Greater => ArrowWay::Backward,
                };
                let is_message = labels.is_message;
                if way == ArrowWay::Backward {
                    let what = "arrow that ends before it starts, without a flow";
                    self.losses.add(what, 1);
                }
                OpenDrawable::Arrow { is_message, way }
            }
        };
        self.open.insert(number, opened);
        Ok(())
    }

    /// Remembers the path of a file, for the operations on it.
    fn name_file(&mut self, file: i64, path: &str) {
        if self.files.len() >= MAX_FILES && !self.files.contains_key(&file) {
            let what = "file whose path does not stand at its operations";
            self.losses.add(what, 1);
            return;
        }
        self.files.insert(file, self.names.id(path));
    }

    /// The track for a state of a thread: its own, or one beside it where it overlaps what is there.
    fn row(&mut self, track: usize, start: f64, end: f64) -> io::Result<usize> {
        let (nesting, beside) = self.nesting.entry(track).or_default();
        let Some(row) = nesting.place(start, end).checked_sub(1) else {
            return Ok(track);
        };
        let what = "state that overlaps another one, on a track beside its thread's";
        self.losses.add(what, 1);
        if let Some(&beside) = beside.get(row) {
            return Ok(beside);
        }
        let Some(own) = self.tracks.tracks.get(track) else {
            return Ok(track);
        };
        let name = format!("{} overlap {}", own.name, row + 1);
        let number = self.tracks.add(own.process, name, TrackKind::Lane, None);
        beside.push(number);
        self.define(number)?;
        Ok(number)
    }

    /// Writes the definition of a track that was added.
    fn define(&mut self, number: usize) -> io::Result<()> {
        let Some(track) = self.tracks.tracks.get(number) else {
            return Ok(());
        };
        match self.tracks.process_of(track) {
            Some(process) => self.writer.track(track, process),
            None => Ok(()),
        }
    }

    /// Writes the events of points of one time, and empties the list.
    ///
    /// An arrival of a message belongs to the states that end then, that of another arrow to the operation that begins then.
    fn points(&mut self, points: &mut Vec<DrawablePoint>) -> io::Result<()> {
        if points.len() > 1 {
            points.sort_by_key(|point| self.class(point));
        }
        for point in points.drain(..) {
            self.point(&point)?;
        }
        Ok(())
    }

    /// Position of a point among those of one time.
    fn class(&self, point: &DrawablePoint) -> u8 {
        let open = self.open.get(&point.drawable);
        match (point.what, open) {
            (PointKind::Send, Some(OpenDrawable::Arrow { is_message, way })) => {
                match *is_message && *way == ArrowWay::Momentary {
                    true => 0,
                    false => 4,
                }
            }
            (PointKind::Receive, Some(OpenDrawable::Arrow { is_message, .. })) => {
                if *is_message {
                    1
                } else {
                    5
                }
            }
            (PointKind::Leave, Some(OpenDrawable::State { is_momentary, .. })) => {
                if *is_momentary {
                    7
                } else {
                    2
                }
            }
            (PointKind::Enter, _) => 3,
            _ => 6,
        }
    }

    fn point(&mut self, point: &DrawablePoint) -> io::Result<()> {
        let time = self.times.ns(point.time).max(self.last);
        self.last = time;
        let open = self.open.get(&point.drawable).copied();
        match (point.what, open) {
            (PointKind::Enter, Some(OpenDrawable::State { track, .. })) => {
                self.enter(point, time, track)
            }
            (PointKind::Leave, Some(OpenDrawable::State { track, .. })) => {
                self.open.remove(&point.drawable);
                self.leave(point, time, track)
            }
            (PointKind::Send, Some(OpenDrawable::Arrow { way, .. })) => {
                if way == ArrowWay::Backward {
                    self.open.remove(&point.drawable);
                }
                self.arrow_end(point, time, true, way)
            }
            (PointKind::Receive, Some(OpenDrawable::Arrow { way, .. })) => {
                if way != ArrowWay::Backward {
                    self.open.remove(&point.drawable);
                }
                self.arrow_end(point, time, false, way)
            }
            (PointKind::At, _) => self.event(point, time),
            _ => Ok(()),
        }
    }

    fn enter(&mut self, point: &DrawablePoint, time: u64, track: usize) -> io::Result<()> {
        let counted = self.counts(point, track).into_iter().map(|(key, ..)| {
            let counter = self.counters.get(&key);
            (key, counter.map_or(0, |counter| counter.value))
        });
        let counted: Vec<_> = counted.collect();
        if !counted.is_empty() {
            self.counted.insert(point.drawable, counted);
        }
        let (Some(labels), Some(place), Some(track)) = (
            self.categories.get(&point.category),
            self.tracks.of_line(point.line),
            self.tracks.tracks.get(track),
        ) else {
            return Ok(());
        };
        let mut arguments = Vec::new();
        labels.arguments(&point.info, &mut arguments);
        let values = labels.file_values(&point.info);
        let mut file = values.file;
        if let (Some(call), None) = (values.call, file)
            && let Some(&(_, of_call)) = self
                .accesses
                .get(&place.track)
                .filter(|(of, _)| *of == call)
        {
            file = Some(of_call);
            arguments.push(Argument {
                name: self.file,
                value: ArgumentValue::Integer(of_call),
            });
        }
        if let Some(&path) = file.and_then(|file| self.files.get(&file)) {
            arguments.push(Argument {
                name: self.path,
                value: ArgumentValue::Name(path),
            });
        }
        if place.comm != 0 && !arguments.iter().any(|argument| argument.name == self.comm) {
            arguments.push(Argument {
                name: self.comm,
                value: ArgumentValue::Integer(place.comm.into()),
            });
        }
        self.writer
            .begin(&self.names, time, track, labels.label, None, &arguments)
    }

    fn leave(&mut self, point: &DrawablePoint, time: u64, track: usize) -> io::Result<()> {
        if let Some(track) = self.tracks.tracks.get(track) {
            self.writer.end(time, track)?;
        }
        let before = self.counted.remove(&point.drawable).unwrap_or_default();
        for (key, name, value) in self.counts(point, track) {
            let counter = self.counters.get(&key);
            let now = counter.map_or(0, |counter| counter.value);
            let start = before.iter().find(|(known, _)| *known == key);
            // What states inside this one have counted is in its count.
            let inside = now.saturating_sub(start.map_or(now, |(_, start)| *start));
            self.count(time, key, &name, value.saturating_sub(inside).max(0))?;
        }
        Ok(())
    }

    /// What performance counters have counted in a state, with their names. A machine without the counter has -1, which is left out.
    fn counts(&mut self, point: &DrawablePoint, track: usize) -> Vec<(CounterKey, String, i64)> {
        let Some(labels) = self.categories.get(&point.category) else {
            return Vec::new();
        };
        let names = &mut self.names;
        let counts = labels.counters.iter().filter_map(|(at, name)| {
            let value = info_values(&labels.category, &point.info).nth(*at);
            let Some((_, InfoValue::Integer(value @ 0..))) = value else {
                return None;
            };
            let name_id = names.id(name);
            let key = CounterKey::Performance {
                track,
                name: name_id,
            };
            Some((key, name.clone(), value))
        });
        counts.collect()
    }

    /// Writes one end of an arrow: a slice without duration inside that of the call, with a flow. A flow between the calls themselves would go from the
    /// one that begins first, which is often the receiving one.
    fn arrow_end(
        &mut self,
        point: &DrawablePoint,
        time: u64,
        is_start: bool,
        way: ArrowWay,
    ) -> io::Result<()> {
        let (Some(labels), Some(place), Some(partner)) = (
            self.categories.get(&point.category),
            self.tracks.of_line(point.line),
            self.tracks.of_line(point.partner),
        ) else {
            return Ok(());
        };
        let (Some(track), Some(peer)) = (
            self.tracks.tracks.get(place.track),
            self.tracks.tracks.get(partner.track),
        ) else {
            return Ok(());
        };
        let (sender, sent) = match is_start {
            true => (track.process, 1),
            false => (peer.process, -1),
        };
        let number = point.drawable + 1;
        let (label, flow) = match is_start {
            true => (labels.label, FlowEnd::Start(number)),
            false => (labels.arrival, FlowEnd::End(number)),
        };
        let mut arguments = Vec::new();
        labels.arguments(&point.info, &mut arguments);
        if labels.is_message {
            let peer = self.tracks.process_of(peer).map_or("", |p| p.name.as_str());
            arguments.push(Argument {
                name: self.peer,
                value: ArgumentValue::Text(peer.into()),
            });
        }
        let flow = Some(flow).filter(|_| way != ArrowWay::Backward);
        self.writer
            .begin(&self.names, time, track, label, flow, &arguments)?;
        self.writer.end(time, track)?;
        let size = message(&labels.category, &point.info).filter(|_| labels.is_message);
        if let Some(message) = size.filter(|_| way != ArrowWay::Backward) {
            let key = CounterKey::InFlight { process: sender };
            let change = message.size.saturating_mul(sent);
            self.count(time, key, "bytes in flight", change)?;
        }
        Ok(())
    }

    fn event(&mut self, point: &DrawablePoint, time: u64) -> io::Result<()> {
        let (Some(labels), Some(place)) = (
            self.categories.get(&point.category),
            self.tracks.of_line(point.line),
        ) else {
            return Ok(());
        };
        let Some(track) = self.tracks.tracks.get(place.track) else {
            return Ok(());
        };
        let process = track.process;
        let mut arguments = Vec::new();
        labels.arguments(&point.info, &mut arguments);
        if let (Some(file), None) = (labels.file_values(&point.info).file, labels.path_position())
            && let Some(&path) = self.files.get(&file)
        {
            arguments.push(Argument {
                name: self.path,
                value: ArgumentValue::Name(path),
            });
        }
        self.writer
            .begin(&self.names, time, track, labels.label, None, &arguments)?;
        self.writer.end(time, track)?;
        if !labels.is_counter {
            return Ok(());
        }
        let value = match arguments.first().map(|argument| &argument.value) {
            Some(&ArgumentValue::Integer(value)) => CounterValue::Integer(value),
            Some(&ArgumentValue::Real(value)) => CounterValue::Real(value),
            _ => return Ok(()),
        };
        let name = labels.category.name.to_str().into_owned();
        let key = CounterKey::Event {
            process,
            category: point.category,
        };
        let counter = self.counter(key, &name)?.track;
        match self.tracks.tracks.get(counter) {
            Some(track) => self.writer.count(time, track, value),
            None => Ok(()),
        }
    }

    /// Adds to a counter, and writes its new value.
    fn count(&mut self, time: u64, key: CounterKey, name: &str, change: i64) -> io::Result<()> {
        let mut counter = self.counter(key, name)?;
        counter.value = counter.value.saturating_add(change);
        self.counters.insert(key, counter);
        match self.tracks.tracks.get(counter.track) {
            Some(track) => {
                let value = CounterValue::Integer(counter.value);
                self.writer.count(time, track, value)
            }
            None => Ok(()),
        }
    }

    /// The counter for this key, which is defined if it is new.
    fn counter(&mut self, key: CounterKey, name: &str) -> io::Result<Counter> {
        if let Some(&counter) = self.counters.get(&key) {
            return Ok(counter);
        }
        let (process, name, thread) = match key {
            CounterKey::InFlight { process } | CounterKey::Event { process, .. } => {
                (process, name.to_owned(), None)
            }
            CounterKey::Performance { track, .. } => {
                let of = self.tracks.tracks.get(track);
                let (process, thread) = of.map_or((0, ""), |of| (of.process, of.name.as_str()));
                (process, format!("{name} in calls of {thread}"), Some(track))
            }
        };
        let is_bytes = matches!(key, CounterKey::InFlight { .. });
        let kind = TrackKind::Counter { is_bytes };
        let track = self.tracks.add(process, name, kind, thread);
        let counter = Counter { track, value: 0 };
        self.counters.insert(key, counter);
        self.define(track)?;
        Ok(counter)
    }
}
