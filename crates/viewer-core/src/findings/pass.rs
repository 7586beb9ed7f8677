//! One pass over all drawables in order: what the findings are made of.

use std::collections::BTreeMap;
use trace_formats::slog2::Topology;
use trace_model::{Drawable, InfoValue, info_values};

use crate::trace::OpenTrace;
use crate::trace::class::ActivityClass;
use crate::trace::info::name_of_key;
use crate::trace::reference::DrawableReference;
use crate::trace::states::TraceState;

/// Longest ones that are kept of anything.
pub const MAX_LONGEST: usize = 10;
/// Accesses below this many bytes are small.
pub const SMALL_ACCESS_BYTES: u64 = 64 << 10;
/// Accesses that do not begin at a multiple of this are unaligned.
const ALIGNMENT_BYTES: i64 = 4096;

/// Activity of a thread outside MPI.
#[derive(Clone, Copy, Debug)]
pub struct ThreadActivity {
    /// One of its lines.
    pub line: u32,
    /// Seconds outside of all MPI calls, from its first state to its last.
    pub computing: f64,
    /// The longest of these stretches, and the call behind it.
    pub longest: Option<(f64, f64, TraceState)>,
    covered_until: f64,
}

/// Accesses to files.
#[derive(Clone, Debug, Default)]
pub struct FileAccesses {
    /// Calls that move bytes.
    pub calls: u64,
    /// Calls that move less than [`SMALL_ACCESS_BYTES`].
    pub small: u64,
    /// Calls whose offset is no multiple of 4096.
    pub unaligned: u64,
    /// Bytes that operations moved, by number of the file.
    pub by_file: BTreeMap<i64, u64>,
    /// Path of each file, by its number.
    pub paths: BTreeMap<i64, String>,
}

/// Result of the pass over all drawables.
#[derive(Debug, Default)]
pub struct DrawablePass {
    /// Activity by lane.
    pub threads: Vec<Option<ThreadActivity>>,
    /// The slowest MPI-IO calls.
    pub io: Vec<TraceState>,
    /// Accesses to files.
    pub accesses: FileAccesses,
    /// Arrows that end before they start, the worst first, and how many.
    pub backward: Vec<(u32, DrawableReference, f64)>,
    /// Number of all arrows that end before they start.
    pub backward_count: u64,
}

impl DrawablePass {
    /// Nothing yet.
    pub fn new(trace: &OpenTrace<'_>) -> Self {
        let lanes = trace.lines().iter().map(|line| line.lane as usize + 1);
        DrawablePass {
            threads: vec![None; lanes.max().unwrap_or(0)],
            ..DrawablePass::default()
        }
    }

    /// Looks at a drawable; they arrive by start.
    pub fn put(&mut self, trace: &OpenTrace<'_>, drawable: &Drawable<'_>) {
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
                let state = TraceState {
                    line,
                    kind,
                    start: first.time.min(last.time),
                    end: first.time.max(last.time),
                };
                self.state(trace, state, drawable.info);
            }
            Topology::Arrow if last.time < first.time => {
                self.backward_count += 1;
                let reference = DrawableReference {
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

    fn state(&mut self, trace: &OpenTrace<'_>, state: TraceState, info: &[u8]) {
        let known = &trace.kinds()[state.kind as usize];
        let class = known.class;
        match class {
            ActivityClass::User | ActivityClass::Other => {}
            ActivityClass::Disk => self.operation(trace, state.kind, info),
            _ => self.call(trace, state),
        }
        if class == ActivityClass::Io {
            self.keep_slowest(state);
            if let Some(bytes) = known.bytes_of(info).filter(|&bytes| bytes > 0) {
                self.accesses.calls += 1;
                self.accesses.small += u64::from(bytes < SMALL_ACCESS_BYTES);
                let offset = number(trace, state.kind, info, "offset");
                let is_unaligned = offset.is_some_and(|offset| offset % ALIGNMENT_BYTES != 0);
                self.accesses.unaligned += u64::from(is_unaligned);
            }
        }
    }

    /// A call of MPI: what was before it on its thread was the program's own.
    fn call(&mut self, trace: &OpenTrace<'_>, state: TraceState) {
        let lane = trace.lines()[state.line as usize].lane;
        let thread = self.threads[lane as usize].get_or_insert(ThreadActivity {
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

    fn keep_slowest(&mut self, state: TraceState) {
        let duration = state.duration();
        let at = self
            .io
            .partition_point(|other| other.duration() >= duration);
        if at < MAX_LONGEST {
            self.io.insert(at, state);
            self.io.truncate(MAX_LONGEST);
        }
    }

    fn operation(&mut self, trace: &OpenTrace<'_>, kind: u32, info: &[u8]) {
        let file = number(trace, kind, info, "file");
        let size = number(trace, kind, info, "size").filter(|&size| size > 0);
        if let (Some(file), Some(size)) = (file, size) {
            *self.accesses.by_file.entry(file).or_default() += size as u64;
        }
    }

    fn file(&mut self, trace: &OpenTrace<'_>, kind: u32, info: &[u8]) {
        let kind = &trace.kinds()[kind as usize];
        if kind.class != ActivityClass::Disk {
            return;
        }
        let (mut file, mut path) = (None, None);
        for (key, value) in info_values(&kind.category, info) {
            match (&*name_of_key(&key.0), value) {
                ("file", InfoValue::Integer(number)) => file = Some(number),
                ("path", InfoValue::Text(text)) => path = Some(text),
                _ => {}
            }
        }
        if let (Some(file), Some(path)) = (file, path) {
            let path = crate::base::text::visible(&String::from_utf8_lossy(path));
            self.accesses.paths.entry(file).or_insert(path);
        }
    }
}

fn number(trace: &OpenTrace<'_>, kind: u32, info: &[u8], name: &str) -> Option<i64> {
    let category = &trace.kinds()[kind as usize].category;
    let mut pairs = info_values(category, info);
    pairs.find_map(|(key, value)| match value {
        InfoValue::Integer(number) if name_of_key(&key.0) == name => Some(number),
        _ => None,
    })
}
