//! The first walk over a process: what must be known, and agreed on with the other ranks, before its records can be written.

use super::categories::UserCategories;
use super::clock::ClockMap;
use super::comms::{CommHandles, CommId, Comms, MAX_RANKS};
use super::function_set::FunctionSet;
use super::functions::{FunctionNames, FunctionSelection, RecordedFunctions};
use super::library::Library;
use super::timeline::Timeline;
use blockfile::define::{self, Definition};
use blockfile::file::{BlockFile, BlockFileInfo};
use blockfile::function::FunctionStep;
use blockfile::record::FIRST_DEFINITION;
use blockfile::user::{UserCategoryKind, UserEvent, UserEventContent};
use std::collections::HashMap;
use trace_formats::clog2::{Clog2CommKind, Gid};
use wrappers::{Function, Table};

/// Findings about one process.
#[derive(Clone, Debug)]
pub struct Scan {
    /// Header of its block file.
    pub info: BlockFileInfo,
    /// From its ticks to time. [`ClockMap::ignore_noise`] may be called before times are asked for.
    pub clock: ClockMap,
    /// Readings of its own clocks, in the order of the block file.
    pub readings: Vec<define::ClockReading>,
    /// Whether the user says that the clocks of all hosts are one (setting `clock-sync no`).
    pub has_common_clock: bool,
    /// All that was said about its MPI library.
    pub library: Library,
    /// All communicators it ever had.
    pub comms: Comms,
    /// Functions it called, those of running calls included, and whether it made annotations.
    pub functions: FunctionSet,
    /// States and events that the program defined.
    pub categories: UserCategories,
    /// By their numbers, kinds and names of those that have names.
    pub names: HashMap<i32, (UserCategoryKind, String)>,
    /// Number of threads that made MPI calls.
    pub threads: u32,
    /// Recorded calls.
    pub calls: u64,
    /// Recorded operations below MPI.
    pub operations: u64,
    /// Calls that were counted and not recorded, because the settings say so.
    pub ignored: u64,
    /// Of the calls that were counted and not recorded: polls between two that are recorded.
    pub skipped: u64,
    /// Of the calls that were counted and not recorded: those that stand in the blocks for matching only, because messages hang on them.
    pub matching_only_calls: u64,
    /// Whether there may be calls that messages hang on and that are missing: places of messages must be compared.
    pub is_cut: bool,
    /// Records that could not be kept.
    pub lost: u64,
    /// Why, as far as it is told.
    pub lost_reasons: Vec<String>,
    /// Functions of the program that were entered, and where their code came from.
    pub entered: RecordedFunctions,
    /// Names of those that are shown; see [`Scan::name_functions`].
    pub named: FunctionNames,
    /// Names of the performance counters that calls have values of.
    pub counters: Vec<String>,
    /// When how many calls, regions and functions of the program ended.
    pub pace: Pace,
    calls_of: Vec<u64>,
    skipped_of: Vec<u64>,
    /// By function, calls that were counted and not recorded, without skipped polls.
    ignored_of: Vec<u64>,
    /// Start of the first call and end of the last one, or start of a running one, ticks; annotations count, too.
    ticks: Option<(u64, u64)>,
    /// By thread, the communicators its definitions stand for, in their order.
    pub defined: Vec<Vec<CommId>>,
}

/// Spread of the ends of a process's calls over time: the end of each n-th one, where n doubles whenever there are too many.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Ends, in ticks, in the order of the walk.
    ends: Vec<u64>,
    /// Calls for each of them; a power of two.
    stride: u64,
    calls: u64,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace {
            ends: Vec::new(),
            stride: 1,
            calls: 0,
        }
    }
}

impl Pace {
    /// Ends that are kept.
    const MAX_ENDS: usize = 8192;

    /// Notes the end of a call.
    #[inline]
    pub fn note(&mut self, stop: u64) {
        if self.calls & (self.stride - 1) == 0 {
            self.keep(stop);
        }
        self.calls += 1;
    }

    fn keep(&mut self, stop: u64) {
        if self.ends.len() == Self::MAX_ENDS {
            let mut nth = 0;
            self.ends.retain(|_| {
                nth += 1;
                nth % 2 == 1
            });
            self.stride *= 2;
            if self.calls & (self.stride - 1) != 0 {
                return;
            }
        }
        self.ends.push(stop);
    }

    /// Calls, regions, markers and functions of the program.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Ends, in ticks, and the number of calls that each stands for.
    pub fn ends(&self) -> (&[u64], u64) {
        (&self.ends, self.stride)
    }
}

/// Whether settings, in lines, say that the clocks of all hosts are one.
fn is_one_clock(settings: &str) -> bool {
    let mut lines = settings.lines();
    lines.any(|line| line.split_whitespace().eq(["clock-sync", "no"]))
}

impl Scan {
    /// Walks over all records of `file`.
    pub fn new(file: &BlockFile<'_>) -> Scan {
        let info = file.info();
        let mut scan = Scan {
            info,
            clock: ClockMap::new(info.clock, &[], &[]),
            readings: Vec::new(),
            has_common_clock: false,
            library: Library::default(),
            comms: Comms::new(info),
            functions: FunctionSet::default(),
            categories: UserCategories::default(),
            names: HashMap::new(),
            threads: u32::try_from(file.threads().len()).unwrap_or(u32::MAX),
            calls: 0,
            operations: 0,
            ignored: 0,
            skipped: 0,
            matching_only_calls: 0,
            is_cut: info.dropped > 0 || info.lost_since.is_some(),
            lost: info.lost,
            lost_reasons: Vec::new(),
            entered: RecordedFunctions::default(),
            named: FunctionNames::default(),
            counters: Vec::new(),
            pace: Pace::default(),
            calls_of: vec![0; usize::from(FIRST_DEFINITION)],
            skipped_of: vec![0; usize::from(FIRST_DEFINITION)],
            ignored_of: vec![0; usize::from(FIRST_DEFINITION)],
            ticks: None,
            defined: vec![Vec::new(); file.threads().len()],
        };
        let mut syncs = Vec::new();
        let mut timeline = Timeline::new(file);
        loop {
            timeline.take_calls(|function, start, stop| scan.call(function, start, stop));
            if !timeline.advance() {
                break;
            }
            let record = timeline.record();
            if record.is_call() {
                scan.call(record.function, record.start, record.stop());
                continue;
            }
            if record.is_operation() {
                scan.operations += 1;
                continue;
            }
            if record.function == define::USER_EVENT {
                scan.user_event(record.start, record.payload);
                continue;
            }
            if let Some(step) = FunctionStep::of(&record) {
                scan.entered.step(&step);
                scan.seen(record.start, record.start);
                continue;
            }
            if matches!(record.function, define::MATCHING_ONLY | define::GAP) {
                scan.matching_only_calls += u64::from(record.function == define::MATCHING_ONLY);
                scan.is_cut = true;
                continue;
            }
            match Definition::decode(record.function, record.payload) {
                Some(Definition::UserCategory(category)) => {
                    if !matches!(
                        category.kind,
                        UserCategoryKind::State | UserCategoryKind::Event
                    ) {
                        let name = (category.kind, category.name.clone());
                        scan.names.insert(category.number, name);
                    }
                    scan.categories.define(category);
                }
                Some(Definition::Comm(comm)) => {
                    let id = scan.comms.define(comm);
                    if let Some(defined) = scan.defined.get_mut(timeline.position()) {
                        defined.push(id);
                    }
                }
                Some(Definition::Neighbours(neighbours)) => {
                    scan.comms.define_neighbours(neighbours);
                }
                Some(Definition::Clock(reading)) => scan.readings.push(reading),
                Some(Definition::Sync(sync)) => syncs.push(sync),
                Some(Definition::Settings(lines)) => scan.has_common_clock = is_one_clock(&lines),
                Some(Definition::Lost { count, reason }) => {
                    scan.lost = scan.lost.saturating_add(count);
                    if !scan.lost_reasons.contains(&reason) {
                        scan.lost_reasons.push(reason);
                    }
                }
                Some(Definition::Ignored { function, calls }) => {
                    if let Some(last) = scan.ignored_of.get_mut(usize::from(function)) {
                        *last = calls;
                    }
                }
                Some(Definition::Skipped(skipped)) => {
                    scan.skipped = scan.skipped.saturating_add(skipped.calls);
                    if let Some(n) = scan.skipped_of.get_mut(usize::from(skipped.function)) {
                        *n = n.saturating_add(skipped.calls);
                    }
                    scan.functions.insert(define::ANNOTATION);
                }
                Some(Definition::Annotation { .. }) => {
                    scan.functions.insert(define::ANNOTATION);
                    scan.seen(record.start, record.start);
                }
                Some(Definition::Counters { names }) => scan.counters = names,
                Some(Definition::Module(module)) => scan.entered.module(module),
                Some(Definition::Choice { include, exclude }) => {
                    scan.entered.choose(include, exclude);
                }
                Some(other) => scan.library.define(&other),
                None => {}
            }
        }
        scan.note_functions(file);
        let ignored = scan.ignored_of.iter().chain([&scan.skipped]);
        scan.ignored = ignored.fold(0, |sum: u64, n| sum.saturating_add(*n));
        scan.clock = ClockMap::new(info.clock, &scan.readings, &syncs);
        scan
    }

    /// What a walk over the records of the process begins with: predefined handles and constants. Datatypes and other communicators are
    /// known from their definitions on.
    pub fn beginning(&self) -> (Library, CommHandles) {
        let mut library = self.library.clone();
        library.forget_types();
        let mut handles = CommHandles::default();
        for (name, id) in [
            ("MPI_COMM_WORLD", CommId::WORLD),
            ("MPI_COMM_SELF", CommId::SELF),
        ] {
            if let Some(handle) = library.handle(name) {
                handles.insert(handle, id);
            }
        }
        (library, handles)
    }

    /// Notes the functions of the calls that were counted, and those of running calls.
    fn note_functions(&mut self, file: &BlockFile<'_>) {
        if self.is_cut {
            // One says how many messages are not drawn.
            self.functions.insert(define::ANNOTATION);
        }
        for (function, calls) in (0..).zip(&self.calls_of) {
            if *calls > 0 {
                self.calls += calls;
                self.functions.insert(function);
            }
        }
        for thread in file.threads() {
            if let Some(open) = thread.open_call() {
                self.functions.insert(open.function);
                // It is marked as unfinished by one.
                self.functions.insert(define::ANNOTATION);
                self.seen(open.start, open.start);
            }
        }
    }

    /// Kind and name of the region or marker with this number.
    pub fn name_of(&self, number: i32) -> Option<(UserCategoryKind, &str)> {
        self.names
            .get(&number)
            .map(|(kind, name)| (*kind, name.as_str()))
    }

    #[inline]
    fn user_event(&mut self, start: u64, payload: &[u8]) {
        self.seen(start, start);
        if let Some(UserEvent {
            number,
            content: UserEventContent::Mpe(_),
            ..
        }) = UserEvent::decode(payload)
        {
            self.categories.note(number);
        }
    }

    #[inline]
    fn call(&mut self, function: u16, start: u64, stop: u64) {
        if let Some(calls) = self.calls_of.get_mut(usize::from(function)) {
            *calls += 1;
        }
        self.seen(start, stop);
    }

    #[inline]
    fn seen(&mut self, start: u64, stop: u64) {
        self.pace.note(stop);
        let (first, last) = self.ticks.unwrap_or((start, stop));
        self.ticks = Some((first.min(start), last.max(stop)));
    }

    /// Looks up the names of the program's functions: reads the files that their code came from.
    pub fn name_functions(&mut self, choice: &FunctionSelection) {
        self.named = FunctionNames::new(&self.entered, choice);
    }

    /// Recorded calls of one function.
    pub fn calls_of(&self, function: u16) -> u64 {
        self.calls_of
            .get(usize::from(function))
            .copied()
            .unwrap_or(0)
    }

    /// Functions of which calls were counted and not recorded, other than polls between two that are.
    pub fn ignored_functions(&self) -> impl Iterator<Item = u16> {
        let counts = (0..).zip(&self.ignored_of);
        counts.filter_map(|(function, &calls)| (calls > 0).then_some(function))
    }

    /// Collective calls on communicators that were counted and not recorded. `functions` are those of the table, by number.
    pub fn collectives_left_out<'f>(&self, functions: impl Iterator<Item = &'f Function>) -> u64 {
        let counts = functions.zip(&self.ignored_of);
        let of_collectives = counts.filter(|(function, _)| function.is_collective_on_comm());
        of_collectives.fold(0, |sum: u64, (_, &calls)| sum.saturating_add(calls))
    }

    /// The functions that the merged file defines for this process. Annotations are among them where one says what was left out.
    pub fn defined_functions(&self, table: &Table) -> FunctionSet {
        let mut functions = self.functions;
        if self.collectives_left_out(table.functions.iter()) > 0 {
            functions.insert(define::ANNOTATION);
        }
        functions
    }

    /// Polls of one function between two that are recorded.
    pub fn skipped_of(&self, function: u16) -> u64 {
        self.skipped_of
            .get(usize::from(function))
            .copied()
            .unwrap_or(0)
    }

    /// Rank in MPI_COMM_WORLD; `None` if MPI_Init did not return.
    pub fn rank(&self) -> Option<u32> {
        u32::try_from(self.info.rank).ok()
    }

    /// Size of MPI_COMM_WORLD.
    pub fn ranks(&self) -> u32 {
        let least = self.rank().map_or(0, |r| r.saturating_add(1));
        self.info.size.max(least).min(MAX_RANKS as u32)
    }

    /// Number of lines that a communicator must have room for: the size of MPI_COMM_WORLD, or that of the largest group of a
    /// communicator that reaches beyond it.
    pub fn width(&self) -> u32 {
        let crossing = self.comms.all().iter().filter(|c| c.crosses_border());
        let widest = crossing.map(|c| c.members.len().max(c.remote.len())).max();
        let widest = widest.unwrap_or(0).min(MAX_RANKS as usize) as u32;
        self.ranks().max(widest)
    }

    /// Start of the first call, ns on rank 0's clock; `None` without calls. If the program tells of itself, somewhat earlier:
    /// what it tells is defined before everything.
    pub fn first_ns(&self) -> Option<i64> {
        let before = if self.categories.is_empty() { 0 } else { 1000 };
        self.ticks
            .map(|(first, _)| self.clock.ns(first).saturating_sub(before))
    }

    /// End of the last call, or start of a running one if that is later, ns on rank 0's clock; `None` without calls.
    pub fn last_ns(&self) -> Option<i64> {
        self.ticks.map(|(_, last)| self.clock.ns(last))
    }

    /// First reading of the process's own clocks, ns on rank 0's clock: a run without any call begins there. `None` without readings.
    pub fn began_ns(&self) -> Option<i64> {
        let ticks = self.readings.iter().map(|reading| reading.ticks).min();
        ticks.map(|ticks| self.clock.ns(ticks))
    }

    /// Tick of the first call.
    pub fn first_tick(&self) -> Option<u64> {
        self.ticks.map(|(first, _)| first)
    }

    /// Tick of the end of the last call.
    pub fn last_tick(&self) -> Option<u64> {
        self.ticks.map(|(_, last)| last)
    }

    /// The rank's communicator table (`spec/clog2.md` section 5.3): its communicators in order of creation, an
    /// intercommunicator as itself, its local and its remote side.
    pub fn gids(&self) -> Vec<(Gid, Clog2CommKind)> {
        let mut gids = Vec::with_capacity(self.comms.all().len());
        for comm in self.comms.all() {
            match comm.sides {
                None => gids.push((comm.gid, Clog2CommKind::Intra)),
                Some((local, remote)) => gids.extend([
                    (comm.gid, Clog2CommKind::Inter),
                    (local, Clog2CommKind::Local),
                    (remote, Clog2CommKind::Remote),
                ]),
            }
        }
        gids
    }
}
