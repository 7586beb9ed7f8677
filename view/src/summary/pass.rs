//! One look at all drawables in order: what the cards of the summary are made of.

use formats::model::{Drawable, Value, info_values};
use formats::slog2::Topology;
use std::collections::{BTreeMap, HashMap};

use crate::class::Class;
use crate::details::Reference;
use crate::numbers::gather::{bytes_of, in_order};
use crate::refusal::Refusal;
use crate::scan::Reach;
use crate::search::plan::name_of_key;
use crate::trace::Trace;

/// Longest ones that are kept of anything.
pub const LONGEST: usize = 10;
/// Collective calls that are told apart.
const MOST_MEETINGS: usize = 1 << 20;
/// Accesses below this many bytes are small.
pub const SMALL: u64 = 64 << 10;
/// Accesses that do not begin at a multiple of this are unaligned.
const BLOCK: i64 = 4096;

/// A state.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// Its line.
    pub line: u32,
    /// Its kind.
    pub kind: u32,
    /// Seconds.
    pub start: f64,
    /// Seconds.
    pub end: f64,
}

impl Stretch {
    /// Seconds.
    pub fn duration(&self) -> f64 {
        self.end - self.start
    }

    /// By which URLs name it.
    pub fn reference(&self, trace: &Trace<'_>) -> String {
        let reference = Reference {
            line: trace.lines()[self.line as usize].line.id,
            kind: self.kind,
            start: self.start,
            to: None,
            nth: 0,
        };
        reference.to_string()
    }
}

/// What a thread did outside of MPI.
#[derive(Clone, Copy, Debug)]
pub struct Thread {
    /// One of its lines.
    pub line: u32,
    /// Seconds outside of all MPI calls, from its first state to its last.
    pub computing: f64,
    /// The longest of these stretches, and the call behind it.
    pub longest: Option<(f64, f64, Stretch)>,
    covered_until: f64,
}

/// A collective call of all ranks of a communicator.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// Ranks that came.
    pub came: u32,
    /// When the first one came.
    pub first: f64,
    /// The one that came last.
    pub last: Stretch,
    /// Seconds that the others waited for it, added up: what is lost.
    pub waited: f64,
    starts: f64,
}

/// Regular beginnings of a kind on one line.
#[derive(Clone, Copy, Debug)]
pub struct Beat {
    /// How often.
    pub count: u64,
    /// The first start.
    pub first: f64,
    /// The last start.
    pub last: f64,
    /// Start and end of the longest interval.
    pub longest: (f64, f64),
    squares: f64,
}

impl Beat {
    /// Mean interval in seconds.
    pub fn mean(&self) -> f64 {
        (self.last - self.first) / (self.count.max(2) - 1) as f64
    }

    /// Standard deviation of the intervals as a part of their mean.
    pub fn spread(&self) -> f64 {
        let mean = self.mean();
        let variance = self.squares / (self.count.max(2) - 1) as f64 - mean * mean;
        variance.max(0.0).sqrt() / mean
    }
}

/// Accesses to files.
#[derive(Clone, Debug, Default)]
pub struct Accesses {
    /// Calls that move bytes.
    pub calls: u64,
    /// Those of less than [`SMALL`].
    pub small: u64,
    /// Those that do not begin at a multiple of 4096.
    pub unaligned: u64,
    /// By number of the file the bytes that operations moved.
    pub by_file: BTreeMap<i64, u64>,
    /// By number of the file its path.
    pub paths: BTreeMap<i64, String>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Pass {
    /// By lane.
    pub threads: Vec<Option<Thread>>,
    /// The longest calls that wait: for requests, for messages, for other ranks. The collective call, if it is one.
    pub waits: Vec<(Stretch, Option<(i32, u64)>)>,
    /// By communicator and number on it.
    pub meetings: HashMap<(i32, u64), Meeting>,
    /// Whether there were more of these than are told apart.
    pub is_cut: bool,
    /// The slowest MPI-IO calls.
    pub io: Vec<(Stretch, ())>,
    /// Accesses to files.
    pub accesses: Accesses,
    /// By kind, on the first line.
    pub beats: BTreeMap<u32, Beat>,
    /// Arrows that end before they start, the worst first, and how many.
    pub backward: Vec<(u32, Reference, f64)>,
    /// How many these are.
    pub backward_count: u64,
    calls_of_line: Vec<u64>,
}

/// Looks at everything.
///
/// # Errors
/// The file is damaged, or the answer is not wanted any more.
pub fn look(trace: &Trace<'_>, reach: Reach<'_>) -> Result<Pass, Refusal> {
    let lanes = trace
        .lines()
        .iter()
        .map(|line| line.lane as usize + 1)
        .max();
    let fresh = || Pass {
        threads: vec![None; lanes.unwrap_or(0)],
        calls_of_line: vec![0; trace.lines().len()],
        ..Pass::default()
    };
    let pass = std::cell::RefCell::new(fresh());
    in_order(
        trace,
        reach,
        &mut || *pass.borrow_mut() = fresh(),
        &mut |drawable| pass.borrow_mut().put(trace, drawable),
    )?;
    Ok(pass.into_inner())
}

impl Pass {
    fn put(&mut self, trace: &Trace<'_>, drawable: &Drawable<'_>) {
        let (Some(first), Some(last)) = (drawable.vertices.first(), drawable.vertices.last())
        else {
            return;
        };
        let kind = trace.kind_or_undefined(drawable.category, drawable.topology);
        let (Some(line), Some(kind)) = (trace.line(first.line), kind) else {
            return;
        };
        match drawable.topology {
            Topology::State => {
                let state = Stretch {
                    line,
                    kind,
                    start: first.time.min(last.time),
                    end: first.time.max(last.time),
                };
                self.state(trace, state, drawable.info);
            }
            Topology::Arrow if last.time < first.time => {
                self.backward_count += 1;
                let reference = Reference {
                    line: first.line,
                    kind,
                    start: first.time,
                    to: Some((last.line, last.time)),
                    nth: 0,
                };
                self.backward
                    .push((line, reference, first.time - last.time));
                self.backward.sort_by(|a, b| b.2.total_cmp(&a.2));
                self.backward.truncate(3);
            }
            Topology::Arrow => {}
            Topology::Event => self.file(trace, kind, drawable.info),
        }
    }

    fn state(&mut self, trace: &Trace<'_>, state: Stretch, info: &[u8]) {
        let known = &trace.kinds()[state.kind as usize];
        let class = known.class;
        match class {
            Class::User | Class::Other => {}
            Class::Disk => self.operation(trace, state.kind, info),
            _ => self.call(trace, state),
        }
        match class {
            Class::Wait | Class::P2p => keep_longest(&mut self.waits, (state, None)),
            Class::Collective => {
                let meeting = self.meet(trace, state);
                if !is_nonblocking(&known.name) {
                    keep_longest(&mut self.waits, (state, meeting));
                }
            }
            Class::Io => {
                keep_longest(&mut self.io, (state, ()));
                if let Some(bytes) = bytes_of(&known.category, info).filter(|&bytes| bytes > 0) {
                    self.accesses.calls += 1;
                    self.accesses.small += u64::from(bytes < SMALL);
                    let offset = number(trace, state.kind, info, "offset");
                    let is_unaligned = offset.is_some_and(|offset| offset % BLOCK != 0);
                    self.accesses.unaligned += u64::from(is_unaligned);
                }
            }
            _ => {}
        }
        if state.line == 0 && class != Class::Disk {
            let beat = self.beats.entry(state.kind).or_insert(Beat {
                count: 0,
                first: state.start,
                last: state.start,
                longest: (state.start, state.start),
                squares: 0.0,
            });
            let interval = state.start - beat.last;
            if interval > beat.longest.1 - beat.longest.0 {
                beat.longest = (beat.last, state.start);
            }
            beat.count += 1;
            beat.squares += interval * interval;
            beat.last = state.start;
        }
    }

    /// A call of MPI: what was before it on its thread was the program's own.
    fn call(&mut self, trace: &Trace<'_>, state: Stretch) {
        let lane = trace.lines()[state.line as usize].lane;
        let thread = self.threads[lane as usize].get_or_insert(Thread {
            line: state.line,
            computing: 0.0,
            longest: None,
            covered_until: state.start,
        });
        let gap = state.start - thread.covered_until;
        if gap > 0.0 {
            thread.computing += gap;
            if thread.longest.is_none_or(|(from, to, _)| gap > to - from) {
                thread.longest = Some((thread.covered_until, state.start, state));
            }
        }
        thread.covered_until = thread.covered_until.max(state.end);
    }

    /// A rank comes to a collective call: the n-th of its line, so the n-th of the communicator.
    fn meet(&mut self, trace: &Trace<'_>, state: Stretch) -> Option<(i32, u64)> {
        let calls = &mut self.calls_of_line[state.line as usize];
        let key = (trace.lines()[state.line as usize].line.comm, *calls);
        *calls += 1;
        if self.meetings.len() >= MOST_MEETINGS && !self.meetings.contains_key(&key) {
            self.is_cut = true;
            return None;
        }
        let meeting = self.meetings.entry(key).or_insert(Meeting {
            came: 0,
            first: state.start,
            last: state,
            waited: 0.0,
            starts: 0.0,
        });
        meeting.came += 1;
        meeting.starts += state.start - meeting.first;
        // They come by start, so the last is the latest.
        meeting.last = state;
        let latest = state.start - meeting.first;
        meeting.waited = (latest * f64::from(meeting.came) - meeting.starts).max(0.0);
        Some(key)
    }

    fn operation(&mut self, trace: &Trace<'_>, kind: u32, info: &[u8]) {
        let file = number(trace, kind, info, "file");
        let size = number(trace, kind, info, "size").filter(|&size| size > 0);
        if let (Some(file), Some(size)) = (file, size) {
            *self.accesses.by_file.entry(file).or_default() += size as u64;
        }
    }

    fn file(&mut self, trace: &Trace<'_>, kind: u32, info: &[u8]) {
        let kind = &trace.kinds()[kind as usize];
        if kind.class != Class::Disk {
            return;
        }
        let (mut file, mut path) = (None, None);
        for (key, value) in info_values(&kind.category, info) {
            match (&*name_of_key(&key.0), value) {
                ("file", Value::Integer(number)) => file = Some(number),
                ("path", Value::Text(text)) => path = Some(text),
                _ => {}
            }
        }
        if let (Some(file), Some(path)) = (file, path) {
            let path = crate::text::visible(&String::from_utf8_lossy(path));
            self.accesses.paths.entry(file).or_insert(path);
        }
    }
}

fn number(trace: &Trace<'_>, kind: u32, info: &[u8], name: &str) -> Option<i64> {
    let category = &trace.kinds()[kind as usize].category;
    let mut pairs = info_values(category, info);
    pairs.find_map(|(key, value)| match value {
        Value::Integer(number) if name_of_key(&key.0) == name => Some(number),
        _ => None,
    })
}

/// Whether a call only starts something: `MPI_Ibarrier`.
pub fn is_nonblocking(name: &str) -> bool {
    let name = name.strip_prefix("MPI_").unwrap_or(name);
    name.starts_with("Neighbor_") && name.ends_with("_init")
        || name.starts_with('I') && !name.starts_with("In")
        || name.ends_with("_init")
}

fn keep_longest<K>(kept: &mut Vec<(Stretch, K)>, state: (Stretch, K)) {
    let duration = state.0.duration();
    if kept.len() == LONGEST
        && kept
            .last()
            .is_some_and(|last| last.0.duration() >= duration)
    {
        return;
    }
    let at = kept.partition_point(|other| other.0.duration() >= duration);
    kept.insert(at, state);
    kept.truncate(LONGEST);
}
