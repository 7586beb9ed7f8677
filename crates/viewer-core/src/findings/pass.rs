//! One pass over all drawables in order: what the findings are made of.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use trace_formats::slog2::Topology;
use trace_model::{Drawable, InfoValue, info_values};

use crate::trace::class::ActivityClass;
use crate::trace::info::name_of_key;
use crate::trace::reference::DrawableReference;
use crate::trace::states::TraceState;
use crate::trace::{DrawableKind, OpenTrace};

/// A rank has waited itself if it did for so much of the time in which others waited for it.
pub(super) const MIN_WAITING_SHARE: f64 = 0.5;
/// Longest ones that are kept of anything.
pub const MAX_LONGEST: usize = 10;
/// Collective calls that not all ranks have reached yet.
const MAX_OPEN_COLLECTIVES: usize = 1 << 18;
/// The longest calls that may wait, of which those that waited longest are shown.
const MAX_WAIT_CANDIDATES: usize = 64;
/// The longest waits in collective calls of which it is known whom they were for.
const MAX_COLLECTIVE_WAITS: usize = 4096;
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

/// The calls in which a thread could wait, by time. When there are many, neighbours are put together, as a stretch of which
/// a part was spent in such calls.
#[derive(Clone, Debug, Default)]
struct WaitHistory {
    /// From when to when, and seconds in such calls in between.
    stretches: Vec<(f64, f64, f64)>,
}

impl WaitHistory {
    /// Stretches that are kept at the most.
    const MAX_STRETCHES: usize = 128;

    fn add(&mut self, from: f64, to: f64) {
        if self.stretches.len() == WaitHistory::MAX_STRETCHES {
            // The newest ones stay apart: they are asked for most.
            let newest = self.stretches.split_off(WaitHistory::MAX_STRETCHES / 2);
            let pairs = self.stretches.chunks(2);
            let joined = pairs.map(|pair| {
                let last = pair[pair.len() - 1];
                (
                    pair[0].0,
                    last.1.max(pair[0].1),
                    pair.iter().map(|w| w.2).sum(),
                )
            });
            self.stretches = joined.chain(newest).collect();
        }
        self.stretches.push((from, to, to - from));
    }

    /// Whether most of this time was spent in such calls.
    fn are_most_of(&self, from: f64, to: f64) -> bool {
        let inside = |&(start, end, waited): &(f64, f64, f64)| {
            let part = (end.min(to) - start.max(from)).max(0.0);
            if part > 0.0 {
                waited * part / (end - start)
            } else {
                0.0
            }
        };
        self.stretches.iter().map(inside).sum::<f64>() > MIN_WAITING_SHARE * (to - from)
    }
}

/// A collective call of all ranks of a communicator, as far as they have arrived.
#[derive(Clone, Copy, Debug)]
pub struct CollectiveCall {
    /// Ranks that arrived.
    pub arrived: u32,
    /// Arrival of the first one.
    pub first: f64,
    /// The one that arrived last.
    pub last: TraceState,
    /// Ranks that had not left when the last one arrived: they waited for it.
    pub waiting: u32,
    /// Seconds that the others waited for the last one, added up: of those that had not left by then, from when they arrived.
    pub waited: f64,
    /// Whether the last one waited itself meanwhile.
    pub is_caused_elsewhere: bool,
}

/// A rank in a collective call; the one that leaves first is the greatest.
#[derive(Clone, Copy, Debug)]
struct RankInside {
    line: u32,
    start: f64,
    end: f64,
}

/// A rank's wait in a collective call, for the last one that arrived before the rank left.
#[derive(Clone, Copy, Debug)]
pub struct CollectiveWait {
    /// Line of the rank that waited.
    line: u32,
    /// Start of its call.
    start: f64,
    /// Line of the rank that it waited for.
    pub last: u32,
    /// Arrival of that rank.
    pub until: f64,
}

impl CollectiveWait {
    /// Wait of a rank that left after `last` arrived.
    fn new(own: &RankInside, last: &TraceState) -> Option<CollectiveWait> {
        (last.line != own.line && last.start > own.start).then_some(CollectiveWait {
            line: own.line,
            start: own.start,
            last: last.line,
            until: last.start,
        })
    }

    fn duration(&self) -> f64 {
        self.until - self.start
    }
}

/// The longest waits in collective calls.
#[derive(Clone, Debug, Default)]
struct CollectiveWaits {
    /// The shortest one is the greatest.
    kept: BinaryHeap<ShortestFirst>,
}

#[derive(Clone, Copy, Debug)]
struct ShortestFirst(CollectiveWait);

impl Ord for ShortestFirst {
    fn cmp(&self, other: &ShortestFirst) -> Ordering {
        other.0.duration().total_cmp(&self.0.duration())
    }
}

impl PartialOrd for ShortestFirst {
    fn partial_cmp(&self, other: &ShortestFirst) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ShortestFirst {
    fn eq(&self, other: &ShortestFirst) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ShortestFirst {}

impl CollectiveWaits {
    fn add(&mut self, wait: CollectiveWait) {
        if self.kept.len() < MAX_COLLECTIVE_WAITS {
            self.kept.push(ShortestFirst(wait));
        } else if let Some(mut shortest) = self.kept.peek_mut()
            && shortest.0.duration() < wait.duration()
        {
            *shortest = ShortestFirst(wait);
        }
    }
}

impl Ord for RankInside {
    fn cmp(&self, other: &RankInside) -> Ordering {
        other.end.total_cmp(&self.end)
    }
}

impl PartialOrd for RankInside {
    fn partial_cmp(&self, other: &RankInside) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RankInside {
    fn eq(&self, other: &RankInside) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for RankInside {}

/// A collective call that not all ranks have reached yet, and who is in it.
#[derive(Clone, Debug)]
struct OpenCollective {
    collective: CollectiveCall,
    inside: BinaryHeap<RankInside>,
    /// Seconds from the first arrival to those of the ranks inside, added up.
    after_first: f64,
}

impl OpenCollective {
    fn new(state: TraceState) -> OpenCollective {
        OpenCollective {
            collective: CollectiveCall {
                arrived: 0,
                first: state.start,
                last: state,
                waiting: 0,
                waited: 0.0,
                is_caused_elsewhere: false,
            },
            inside: BinaryHeap::new(),
            after_first: 0.0,
        }
    }

    /// A rank comes, not before those that arrived earlier. Some may have left meanwhile, as the leaves of a reduction do: they waited
    /// for the one that had arrived last by then, and for nobody after it. Gives the call as it was for them; `ended` gets their waits.
    fn arrive(&mut self, state: TraceState, ended: &mut CollectiveWaits) -> Option<CollectiveCall> {
        let before = self.collective;
        let mut waited = 0.0;
        while let Some(first) = self.inside.peek().filter(|own| own.end <= state.start) {
            waited += before.last.start - first.start;
            if let Some(wait) = CollectiveWait::new(first, &before.last) {
                ended.add(wait);
            }
            self.after_first -= first.start - before.first;
            self.inside.pop();
        }
        let collective = &mut self.collective;
        collective.arrived += 1;
        collective.last = state;
        collective.waiting = self.inside.len() as u32;
        let latest = state.start - collective.first;
        collective.waited = (latest * self.inside.len() as f64 - self.after_first).max(0.0);
        self.after_first += latest;
        self.inside.push(RankInside {
            line: state.line,
            start: state.start,
            end: state.end,
        });
        (waited > 0.0).then_some(CollectiveCall { waited, ..before })
    }

    /// No other rank comes: `ended` gets the waits for the last one.
    fn end(&mut self, ended: &mut CollectiveWaits) {
        let last = self.collective.last;
        let waits = self.inside.drain();
        for wait in waits.filter_map(|own| CollectiveWait::new(&own, &last)) {
            ended.add(wait);
        }
    }
}

/// The collective calls that a thread came last to.
#[derive(Clone, Copy, Debug)]
pub struct LateArrivals {
    /// Number of collective calls.
    pub collectives: u64,
    /// Seconds that others waited there, added up.
    pub waited: f64,
    /// The one at which they waited most.
    pub costliest: CollectiveCall,
}

/// Regular beginnings of a kind on one line.
#[derive(Clone, Copy, Debug)]
pub struct RegularStarts {
    /// Number of starts.
    pub count: u64,
    /// The first start.
    pub first: f64,
    /// The last start.
    pub last: f64,
    /// Start and end of the longest interval.
    pub longest: (f64, f64),
    squares: f64,
}

impl RegularStarts {
    /// Mean interval in seconds.
    pub fn mean(&self) -> f64 {
        (self.last - self.first) / (self.count.max(2) - 1) as f64
    }

    /// Standard deviation of the intervals as a part of their mean.
    pub fn deviation(&self) -> f64 {
        let mean = self.mean();
        let variance = self.squares / (self.count.max(2) - 1) as f64 - mean * mean;
        variance.max(0.0).sqrt() / mean
    }
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
    /// By lane the calls in which the thread could wait.
    waiting: Vec<WaitHistory>,
    /// The longest calls that can wait: for requests, for messages, for other ranks. The collective call, if it is one; of each
    /// collective call the longest.
    pub waits: Vec<(TraceState, Option<CollectiveKey>)>,
    /// Collective calls by the lane that came last without having waited itself.
    pub late: BTreeMap<u32, LateArrivals>,
    /// Number of the other collective calls, and the seconds waited in them.
    pub caused_elsewhere: (u64, f64),
    /// Collective calls of ranks that are in none of these, since too many had not ended.
    pub unmatched_calls: u64,
    /// Collective calls that have not ended, and those of the longest waits.
    collectives: HashMap<CollectiveKey, OpenCollective>,
    /// The longest waits in collective calls, which need not be among `waits`: of those only the longest of a call is.
    collective_waits: CollectiveWaits,
    /// By communicator its lines.
    sizes: HashMap<i32, u32>,
    /// The slowest MPI-IO calls.
    pub io: Vec<(TraceState, Option<()>)>,
    /// Accesses to files.
    pub accesses: FileAccesses,
    /// Regular starts by kind, on the first line.
    pub rhythms: BTreeMap<u32, RegularStarts>,
    /// Arrows that end before they start, the worst first, and how many.
    pub backward: Vec<(u32, DrawableReference, f64)>,
    /// Number of all arrows that end before they start.
    pub backward_count: u64,
    calls_of_line: Vec<u64>,
}

/// A collective call: the communicator, and the number of the call on it.
pub type CollectiveKey = (i32, u64);

impl DrawablePass {
    /// Nothing yet.
    pub fn new(trace: &OpenTrace<'_>) -> Self {
        let lanes = trace.lines().iter().map(|line| line.lane as usize + 1);
        let mut sizes = HashMap::new();
        for line in trace.lines() {
            *sizes.entry(line.line.comm).or_default() += 1;
        }
        let lanes = lanes.max().unwrap_or(0);
        DrawablePass {
            threads: vec![None; lanes],
            waiting: vec![WaitHistory::default(); lanes],
            calls_of_line: vec![0; trace.lines().len()],
            sizes,
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
        match class {
            ActivityClass::Wait | ActivityClass::P2p => {
                keep_longest(&mut self.waits, MAX_WAIT_CANDIDATES, (state, None))
            }
            ActivityClass::Collective => self.meet(trace, state),
            ActivityClass::Io => {
                keep_longest(&mut self.io, MAX_LONGEST, (state, None));
                if let Some(bytes) = known.bytes_of(info).filter(|&bytes| bytes > 0) {
                    self.accesses.calls += 1;
                    self.accesses.small += u64::from(bytes < SMALL_ACCESS_BYTES);
                    let offset = number(trace, state.kind, info, "offset");
                    let is_unaligned = offset.is_some_and(|offset| offset % ALIGNMENT_BYTES != 0);
                    self.accesses.unaligned += u64::from(is_unaligned);
                }
            }
            _ => {}
        }
        if state.line == 0 && class != ActivityClass::Disk {
            let rhythm = self.rhythms.entry(state.kind).or_insert(RegularStarts {
                count: 0,
                first: state.start,
                last: state.start,
                longest: (state.start, state.start),
                squares: 0.0,
            });
            let interval = state.start - rhythm.last;
            if interval > rhythm.longest.1 - rhythm.longest.0 {
                rhythm.longest = (rhythm.last, state.start);
            }
            rhythm.count += 1;
            rhythm.squares += interval * interval;
            rhythm.last = state.start;
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
        if can_wait(&trace.kinds()[state.kind as usize]) {
            self.waiting[lane as usize].add(state.start, state.end);
        }
    }

    /// A rank comes to a collective call: the n-th of its line, so the n-th of the communicator.
    fn meet(&mut self, trace: &OpenTrace<'_>, state: TraceState) {
        let line = &trace.lines()[state.line as usize];
        let calls = &mut self.calls_of_line[state.line as usize];
        let key = (line.line.comm, *calls);
        *calls += 1;
        if self.collectives.len() >= MAX_OPEN_COLLECTIVES && !self.collectives.contains_key(&key) {
            self.unmatched_calls += 1;
            return keep_longest(&mut self.waits, MAX_WAIT_CANDIDATES, (state, None));
        }
        let open = (self.collectives.entry(key)).or_insert_with(|| OpenCollective::new(state));
        let is_nonblocking = is_nonblocking(&trace.kinds()[state.kind as usize].name);
        // Nobody waits in a call that only starts something.
        let mut none = CollectiveWaits::default();
        let ended = match is_nonblocking {
            true => &mut none,
            false => &mut self.collective_waits,
        };
        let of_those_gone = open.arrive(state, ended);
        let is_complete = self.sizes.get(&line.line.comm) == Some(&open.collective.arrived);
        if is_complete {
            open.end(ended);
        }
        let collective = &mut open.collective;
        let waits = &self.waiting[line.lane as usize];
        collective.is_caused_elsewhere = waits.are_most_of(collective.first, state.start);
        let collective = *collective;
        if is_nonblocking {
            if is_complete {
                self.collectives.remove(&key);
            }
            return;
        }
        keep_longest(&mut self.waits, MAX_WAIT_CANDIDATES, (state, Some(key)));
        if let Some(collective) = of_those_gone {
            self.end(trace, &collective);
        }
        if is_complete {
            self.end(trace, &collective);
            // The finding about the longest waits names who came last.
            if !self.waits.iter().any(|(_, wait)| *wait == Some(key)) {
                self.collectives.remove(&key);
            }
        }
    }

    /// Nobody waits any more for the one that came last to a collective call.
    fn end(&mut self, trace: &OpenTrace<'_>, collective: &CollectiveCall) {
        if collective.arrived < 2 || collective.waited <= 0.0 {
            return;
        }
        if collective.is_caused_elsewhere {
            self.caused_elsewhere.0 += 1;
            self.caused_elsewhere.1 += collective.waited;
            return;
        }
        let lane = trace.lines()[collective.last.line as usize].lane;
        let late = self.late.entry(lane).or_insert(LateArrivals {
            collectives: 0,
            waited: 0.0,
            costliest: *collective,
        });
        late.collectives += 1;
        late.waited += collective.waited;
        if collective.waited > late.costliest.waited {
            late.costliest = *collective;
        }
    }

    /// Ends the pass: collective calls that are not complete by now are added to `late`.
    pub fn finish(&mut self, trace: &OpenTrace<'_>) {
        for open in self.collectives.values_mut() {
            if !is_nonblocking(&trace.kinds()[open.collective.last.kind as usize].name) {
                open.end(&mut self.collective_waits);
            }
        }
        let sizes = &self.sizes;
        let is_open = |(key, at): &(&CollectiveKey, &OpenCollective)| {
            sizes.get(&key.0) != Some(&at.collective.arrived)
        };
        let mut open: Vec<(CollectiveKey, CollectiveCall)> =
            (self.collectives.iter().filter(is_open))
                .map(|(key, open)| (*key, open.collective))
                .collect();
        open.sort_by_key(|(key, _)| *key);
        for (_, collective) in open {
            if !is_nonblocking(&trace.kinds()[collective.last.kind as usize].name) {
                self.end(trace, &collective);
            }
        }
    }

    /// Wait of the collective call that began at this time on this line, if it is one of the longest.
    pub fn collective_wait(&self, line: u32, start: f64) -> Option<&CollectiveWait> {
        let mut kept = self.collective_waits.kept.iter();
        let found = kept.find(|ShortestFirst(wait)| wait.line == line && wait.start == start);
        found.map(|ShortestFirst(wait)| wait)
    }

    /// The collective call of one of the longest waits.
    pub fn collective(&self, key: CollectiveKey) -> Option<&CollectiveCall> {
        self.collectives.get(&key).map(|open| &open.collective)
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

/// Whether calls of a kind may have to wait for others.
pub fn can_wait(kind: &DrawableKind) -> bool {
    matches!(
        kind.class,
        ActivityClass::P2p | ActivityClass::Wait | ActivityClass::Collective
    ) && !is_nonblocking(&kind.name)
}

/// Whether a call only starts something: `MPI_Ibarrier`.
pub fn is_nonblocking(name: &str) -> bool {
    let name = name.strip_prefix("MPI_").unwrap_or(name);
    name.starts_with("Neighbor_") && name.ends_with("_init")
        || name.starts_with('I') && !name.starts_with("In")
        || name.ends_with("_init")
}

/// Keeps the longest `most` states; of those with the same key only the longest.
fn keep_longest<K: PartialEq>(
    kept: &mut Vec<(TraceState, Option<K>)>,
    most: usize,
    state: (TraceState, Option<K>),
) {
    let duration = state.0.duration();
    let is_full = kept.len() == most;
    if is_full && (kept.last()).is_some_and(|last| last.0.duration() >= duration) {
        return;
    }
    if state.1.is_some()
        && let Some(same) = kept.iter().position(|kept| kept.1 == state.1)
    {
        if kept[same].0.duration() >= duration {
            return;
        }
        kept.remove(same);
    }
    let at = kept.partition_point(|other| other.0.duration() >= duration);
    kept.insert(at, state);
    kept.truncate(most);
}
