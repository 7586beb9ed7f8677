//! The waits of calls and the critical path of a trace, as the analysis of the whole trace found them: by state, for pictures and details.

use analysis::performance::{CallWait, PathStretch, RankThread, WaitPattern, WaitsOfCalls};
use std::collections::HashMap;

use super::OpenTrace;
use super::states::TraceState;

/// A wait of a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateWait {
    /// Number of the line of the state.
    pub line: u32,
    /// Kind of the state.
    pub kind: u32,
    /// Begin of the state, seconds.
    pub start: f64,
    /// Begin of the wait, seconds.
    pub from: f64,
    /// End of the wait, seconds.
    pub to: f64,
    /// Why it waited.
    pub pattern: WaitPattern,
    /// Number of a line of the thread that was waited for.
    pub culprit: u32,
}

/// A stretch of the critical path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathPart {
    /// Number of a line of the thread that the path runs through.
    pub line: u32,
    /// Begin, seconds.
    pub from: f64,
    /// End, seconds.
    pub to: f64,
}

/// The waits of a trace by state, and the critical path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceWaits {
    /// By line, begin of the state and begin of the wait.
    waits: Vec<StateWait>,
    shortest: f64,
    path: Vec<PathPart>,
}

/// Bytes of the head of encoded waits: the shortest, number of waits, number of stretches of the path.
const HEAD_BYTES: usize = 24;
/// Bytes of an encoded wait.
const WAIT_BYTES: usize = 44;
/// Bytes of an encoded stretch of the path.
const STRETCH_BYTES: usize = 24;

impl TraceWaits {
    /// The waits that the analysis of a trace found. What is about lines or categories that the trace has not is left out.
    pub fn new(trace: &OpenTrace<'_>, found: &WaitsOfCalls) -> TraceWaits {
        let mut line_of: HashMap<RankThread, u32> = HashMap::new();
        for (number, line) in (0..).zip(trace.lines()) {
            let thread = RankThread {
                rank: line.line.rank,
                thread: line.line.thread,
            };
            line_of.entry(thread).or_insert(number);
        }
        let waits = found.waits.iter().filter_map(|wait| {
            Some(StateWait {
                line: trace.line(wait.line)?,
                kind: trace.kind(wait.category)?,
                start: wait.start,
                from: wait.from,
                to: wait.to,
                pattern: wait.pattern,
                culprit: *line_of.get(&wait.culprit)?,
            })
        });
        let mut waits: Vec<StateWait> = waits.collect();
        waits.sort_by(|a, b| {
            let times = a.start.total_cmp(&b.start).then(a.from.total_cmp(&b.from));
            a.line.cmp(&b.line).then(times)
        });
        let path = found.path.iter().filter_map(|stretch| {
            Some(PathPart {
                line: *line_of.get(&stretch.on)?,
                from: stretch.from,
                to: stretch.to,
            })
        });
        TraceWaits {
            waits,
            shortest: found.shortest,
            path: path.collect(),
        }
    }

    /// The waits of a state.
    pub fn of_state(&self, state: &TraceState) -> impl Iterator<Item = &StateWait> {
        let (line, start, kind) = (state.line, state.start, state.kind);
        let first = (self.waits)
            .partition_point(|wait| wait.line < line || wait.line == line && wait.start < start);
        let waits = self.waits[first..].iter();
        let own = waits.take_while(move |wait| wait.line == line && wait.start == start);
        own.filter(move |wait| wait.kind == kind)
    }

    /// All waits.
    pub(crate) fn all(&self) -> &[StateWait] {
        &self.waits
    }

    /// Number of waits.
    pub fn len(&self) -> usize {
        self.waits.len()
    }

    /// Whether nobody waited.
    pub fn is_empty(&self) -> bool {
        self.waits.is_empty()
    }

    /// Waits shorter than this many seconds are missing; 0 if all are there.
    pub fn shortest(&self) -> f64 {
        self.shortest
    }

    /// The critical path, in order of time.
    pub fn path(&self) -> &[PathPart] {
        &self.path
    }

    /// Bytes for [`TraceWaits::decode`]: of the states that begin before `to` and end their waits after `from`, and of the path in between.
    pub fn encode(&self, trace: &OpenTrace<'_>, from: f64, to: f64) -> Vec<u8> {
        let waits = || (self.waits.iter()).filter(|wait| wait.from < to && wait.to > from);
        let path = || (self.path.iter()).filter(|part| part.from < to && part.to > from);
        let thread = |line: u32| {
            let line = &trace.lines()[line as usize].line;
            [line.rank, line.thread]
        };
        let mut out = Vec::new();
        out.extend_from_slice(&self.shortest.to_le_bytes());
        for count in [waits().count(), path().count()] {
            out.extend_from_slice(&(count as u64).to_le_bytes());
        }
        let put_all = |out: &mut Vec<u8>, numbers: &[i32], times: &[f64]| {
            let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
            out.extend(bytes.chain(times.iter().flat_map(|time| time.to_le_bytes())));
        };
        for wait in waits() {
            let line = trace.lines()[wait.line as usize].line.id;
            let category = trace.kinds()[wait.kind as usize].category.index;
            let patterns = WaitPattern::ALL.iter();
            let pattern = patterns.take_while(|one| **one != wait.pattern).count() as i32;
            let [rank, thread] = thread(wait.culprit);
            let numbers = [line, category, pattern, rank, thread];
            put_all(&mut out, &numbers, &[wait.start, wait.from, wait.to]);
        }
        for part in path() {
            put_all(&mut out, &thread(part.line), &[part.from, part.to]);
        }
        out
    }

    /// Reads what [`TraceWaits::encode`] wrote; `None` of other bytes.
    pub fn decode(trace: &OpenTrace<'_>, bytes: &[u8]) -> Option<TraceWaits> {
        let (head, rest) = bytes.split_at_checked(HEAD_BYTES)?;
        let count = |at: usize| usize::try_from(u64_at(head, at)).ok();
        let (waits, path) = (count(8)?, count(16)?);
        let (waits, path) = rest
            .split_at_checked(waits.checked_mul(WAIT_BYTES)?)
            .filter(|(_, rest)| Some(rest.len()) == path.checked_mul(STRETCH_BYTES))?;
        let waits = waits.chunks_exact(WAIT_BYTES).map(|bytes| {
            Some(CallWait {
                line: i32_at(bytes, 0),
                category: i32_at(bytes, 4),
                pattern: *WaitPattern::ALL.get(usize::try_from(i32_at(bytes, 8)).ok()?)?,
                culprit: RankThread {
                    rank: i32_at(bytes, 12),
                    thread: i32_at(bytes, 16),
                },
                start: f64_at(bytes, 20),
                from: f64_at(bytes, 28),
                to: f64_at(bytes, 36),
            })
        });
        let path = path.chunks_exact(STRETCH_BYTES).map(|bytes| PathStretch {
            on: RankThread {
                rank: i32_at(bytes, 0),
                thread: i32_at(bytes, 4),
            },
            from: f64_at(bytes, 8),
            to: f64_at(bytes, 16),
        });
        let found = WaitsOfCalls {
            waits: waits.collect::<Option<_>>()?,
            shortest: f64_at(head, 0),
            path: path.collect(),
        };
        Some(TraceWaits::new(trace, &found))
    }
}

fn i32_at(bytes: &[u8], at: usize) -> i32 {
    let found = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    found.map_or(0, i32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let found = bytes
        .get(at..at + 8)
        .and_then(|eight| eight.try_into().ok());
    found.map_or(0, u64::from_le_bytes)
}

fn f64_at(bytes: &[u8], at: usize) -> f64 {
    f64::from_bits(u64_at(bytes, at))
}
