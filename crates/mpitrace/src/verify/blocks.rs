//! The calls of a run as its block files have them, of a run that goes on too.

use super::calls::{Reader, in_world, read_call};
use super::comm_handles::LivingComms;
use super::failed_writes::FailedWrites;
use super::missing::say_what_is_missing;
use super::polls::{self, LatestPolls};
use super::window_groups::WindowGroups;
use crate::block_files::groups::RunFiles;
use crate::block_files::source::BlockFileInput;
use crate::terminal::units::counted;
use analysis::correctness::{
    AskedMessage, CallPlace, CommKey, CorrectnessPass, CorrectnessReport, FunctionKey, ObjectKind,
    OutsideCalls, ProcessState, Signature, UnfinishedCall, WaitsFor, WindowCall, end_in_words,
    lines_of_ends,
};
use blockfile::define::{Definition, matching_only_call};
use blockfile::file::OpenArguments;
use blockfile::layout::{OPEN_REQUESTS, ended};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::sync::Arc;
use trace_formats::clog2::Gid;
use unify::comms::CommId;
use unify::library::Library;
use unify::plan::{FunctionPlan, plans};
use unify::scan::Scan;
use unify::timeline::Timeline;
use wrappers::{Class, Function, Kind, Table};

/// Checks a run.
pub fn check(group: &RunFiles<'_>, table: &Table) -> CorrectnessReport {
    let mut pass = CorrectnessPass::new(group.ranks());
    let ranked: Vec<&BlockFileInput<'_>> = group
        .sources
        .iter()
        .filter(|source| source.info.rank >= 0)
        .collect();
    let mut scans: Vec<Scan> = ranked
        .iter()
        .map(|source| Scan::new(&source.file))
        .collect();
    unify::run_files::adopt_clocks(scans.iter_mut());
    let zero = scans.iter().filter_map(Scan::first_ns).min().unwrap_or(0);
    say_what_is_missing(&mut pass, group, &scans, table);
    let mut comms = RunComms::default();
    let functions: Vec<_> = table
        .functions
        .iter()
        .map(|function| {
            let name = function.name.strip_suffix("_c");
            pass.function(name.unwrap_or(&function.name))
        })
        .collect();
    let plans = ranked
        .first()
        .map(|source| plans(table, source.info.family))
        .unwrap_or_default();
    let mut walks: Vec<ProcessWalk<'_, '_>> = ranked
        .iter()
        .zip(&scans)
        .map(|(source, scan)| {
            let (library, handles) = scan.beginning();
            ProcessWalk {
                source,
                scan,
                plans: &plans,
                table,
                zero,
                timeline: Timeline::new(&source.file),
                library,
                comms: LivingComms::new(handles),
                defined: vec![0; source.file.threads().len()],
                keys: comms.keys_of(scan, &mut pass),
                state: ProcessState::new(source.info.rank as u32),
                polls: LatestPolls::default(),
                failed_writes: FailedWrites::default(),
                groups: WindowGroups::default(),
                functions: &functions,
            }
        })
        .collect();
    // About in the order of time, so that what belongs together is not far apart.
    let mut next: BinaryHeap<Reverse<(i64, usize)>> = (0..walks.len())
        .map(|nth| Reverse((i64::MIN, nth)))
        .collect();
    while let Some(Reverse((_, nth))) = next.pop() {
        if let Some(time) = walks[nth].step(&mut pass) {
            next.push(Reverse((time, nth)));
        }
    }
    let now = walks.iter().filter_map(ProcessWalk::now).reduce(f64::max);
    if let Some(now) = now {
        pass.goes_on(now);
    }
    for walk in &mut walks {
        walk.end(&mut pass);
    }
    polls::note(&mut pass, asking(&walks));
    let mut ends = ends(&walks);
    ends.extend(ends_without_rank(group, table));
    let mut report = pass.finish();
    report.ends = ends;
    report
}

/// What processes are in, or ended in, whose ranks are not known as MPI_Init had not returned: a line for all that are alike.
fn ends_without_rank(group: &RunFiles<'_>, table: &Table) -> Vec<String> {
    let mut by_end: BTreeMap<String, u64> = BTreeMap::new();
    let unranked = group.sources.iter().filter(|source| source.info.rank < 0);
    for source in unranked {
        let threads = source.file.threads().iter();
        let open = threads.filter_map(|thread| source.open_call(thread));
        let names: Vec<&str> = open
            .filter_map(|open| table.functions.get(usize::from(open.function)))
            .map(|function| function.name.as_str())
            .collect();
        let end = match (source.running, names.is_empty()) {
            (true, true) => "running outside of MPI calls".to_owned(),
            (true, false) => format!("running in {}", names.join(", ")),
            (false, _) => end_in_words(&names),
        };
        *by_end.entry(end).or_default() += 1;
    }
    let lines = by_end.into_iter();
    lines
        .map(|(end, count)| format!("{} without a rank yet: {end}", counted(count, "process")))
        .collect()
}

/// Ranks that have not come to MPI_Finalize and ask again and again, by function.
fn asking<'t>(walks: &[ProcessWalk<'t, '_>]) -> BTreeMap<&'t str, Vec<u32>> {
    let mut asking: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for walk in walks {
        let source = walk.source;
        let has_finalized = source.reached_finalize() || walk.state.has_finalized;
        if has_finalized || source.ended_itself() {
            continue;
        }
        for thread in source.file.threads() {
            // The call that it is in may be the next of the row.
            let open = source.open_call(thread);
            let is_other = open.is_some_and(|open| {
                let function = walk.table.functions.get(usize::from(open.function));
                !function.is_some_and(polls::asks)
            });
            if let Some(function) = walk.polls.of(thread.number).filter(|_| !is_other) {
                asking.entry(function).or_default().push(walk.state.rank());
            }
        }
    }
    asking
}

/// What ranks are in that have not come to MPI_Finalize, or how they ended: a line for all that are alike.
fn ends(walks: &[ProcessWalk<'_, '_>]) -> Vec<String> {
    let mut by_end: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for walk in walks {
        let source = walk.source;
        if source.reached_finalize() || walk.state.has_finalized {
            continue;
        }
        let threads = source.file.threads().iter();
        let open = threads.filter_map(|thread| source.open_call(thread));
        let names: Vec<&str> = open
            .filter_map(|open| walk.table.functions.get(usize::from(open.function)))
            .map(|function| function.name.as_str())
            .collect();
        let end = match (source.running, names.is_empty()) {
            (true, true) => "running outside of MPI calls".to_owned(),
            (true, false) => format!("running in {}", names.join(", ")),
            (false, _) if source.ended_itself() && !names.is_empty() => {
                format!("ended in {}", names.join(", "))
            }
            (false, _) => source.end(walk.table, &walk.library),
        };
        by_end.entry(end).or_default().push(walk.state.rank());
    }
    lines_of_ends(by_end)
}

/// The communicators of a run.
#[derive(Default)]
struct RunComms {
    keys: HashMap<Gid, CommKey>,
    /// By the two sides of intercommunicators in order, the communicator by which their messages are told.
    channels: HashMap<[Gid; 2], CommKey>,
    made: u32,
}

impl RunComms {
    /// By number, the communicators of a process.
    fn keys_of(&mut self, scan: &Scan, pass: &mut CorrectnessPass) -> Vec<CommKey> {
        let all = scan.comms.all().iter().zip(0..);
        all.map(|(comm, nth)| {
            if let Some(&known) = self.keys.get(&comm.gid) {
                return known;
            }
            let name = match CommId(nth) {
                CommId::WORLD => "MPI_COMM_WORLD".to_owned(),
                CommId::SELF => "MPI_COMM_SELF".to_owned(),
                _ => {
                    self.made += 1;
                    format!("communicator {} of {} ranks", self.made, comm.members.len())
                }
            };
            let sides = comm
                .sides
                .map(|(local, remote)| [local.min(remote), local.max(remote)]);
            let channel = sides.and_then(|sides| self.channels.get(&sides).copied());
            let partners: Arc<[i32]> = comm.partners().into();
            let key = pass.define_comm(name, comm.members.clone(), partners, channel);
            self.keys.insert(comm.gid, key);
            if let Some(sides) = sides {
                self.channels.entry(sides).or_insert(key);
            }
            key
        })
        .collect()
    }
}

/// A process whose calls are being looked at.
struct ProcessWalk<'a, 'f> {
    source: &'a BlockFileInput<'f>,
    scan: &'a Scan,
    plans: &'a [FunctionPlan<'a>],
    table: &'a Table,
    zero: i64,
    timeline: Timeline<'f>,
    library: Library,
    comms: LivingComms,
    /// By thread, the communicators that it has defined so far.
    defined: Vec<usize>,
    /// By number of the communicator.
    keys: Vec<CommKey>,
    state: ProcessState,
    polls: LatestPolls<'a>,
    failed_writes: FailedWrites,
    groups: WindowGroups,
    functions: &'a [FunctionKey],
}

impl<'a> ProcessWalk<'a, '_> {
    /// What the next record has to be read with.
    fn reader(&self) -> Reader<'_, 'a> {
        Reader {
            rank: self.source.info.rank as u32,
            scan: self.scan,
            zero: self.zero,
            plans: self.plans,
            table: self.table,
            library: &self.library,
            handles: self.comms.handles(),
            keys: &self.keys,
            groups: &self.groups,
            functions: self.functions,
        }
    }

    /// The moment of the second look, seconds, of a process that goes on and is in a call.
    fn now(&self) -> Option<f64> {
        let look = self.source.second_look.as_ref()?;
        let mut threads = self.source.file.threads().iter();
        threads.find_map(|thread| {
            let open = thread.open_call()?;
            let since = look.still_in(thread.number, open)??;
            Some(self.reader().seconds(open.start) + since)
        })
    }

    /// Takes the next record. Gives its time in ns; `None` at the end.
    fn step(&mut self, pass: &mut CorrectnessPass) -> Option<i64> {
        if !self.timeline.advance() {
            return None;
        }
        let (thread, position) = (self.timeline.thread(), self.timeline.position());
        let record = self.timeline.record();
        let time = self.scan.clock.ns(record.stop());
        if record.is_call() {
            if let Some(function) = self.table.functions.get(usize::from(record.function)) {
                self.polls
                    .take(thread, function, self.source.info.family, &record);
                if let Some(error) = self.failed_writes.take_call(thread, function, &record)
                    && let Some(place) = self.reader().place(&record, thread)
                {
                    pass.write_failed(place, error);
                }
            }
            let number = usize::from(record.function);
            if let (Some(function), Some(plan)) =
                (self.table.functions.get(number), self.plans.get(number))
            {
                let comms = (self.comms.handles(), self.scan);
                self.groups.take(thread, function, plan, &record, comms);
            }
            // Its arguments may stand in the timeline, which must not go on meanwhile.
            if let Some(call) = read_call(&record, thread, &self.reader(), pass) {
                self.state.take(&call, pass);
                let freed = match call.frees {
                    Some((ObjectKind::Communicator, handle)) if call.worked() => Some(handle),
                    _ => None,
                };
                if let Some(handle) = freed {
                    self.comms.free(handle, &record);
                }
            }
            return Some(time);
        }
        if record.is_operation() {
            self.failed_writes.take_operation(thread, &record);
            return Some(time);
        }
        if matching_only_call(&record).is_some() {
            return Some(time);
        }
        match Definition::decode(record.function, record.payload) {
            Some(Definition::Comm(comm)) => {
                let nth = self.defined.get_mut(position)?;
                let id = self
                    .scan
                    .defined
                    .get(position)
                    .and_then(|ids| ids.get(*nth));
                *nth += 1;
                if let Some(&id) = id {
                    self.comms.define(comm.handle, id, &record);
                }
            }
            Some(definition @ Definition::Type(_)) => self.library.define(&definition),
            Some(Definition::Group(members)) => self.groups.tell(thread, members),
            _ => {}
        }
        Some(time)
    }

    /// All records have been taken: looks at what the process is in.
    fn end(&mut self, pass: &mut CorrectnessPass) {
        let rank = self.source.info.rank as u32;
        let outside = match self.source.info.ended {
            _ if self.state.has_finalized => OutsideCalls::Finalized,
            ended::FINALIZED => OutsideCalls::Finalized,
            ended::EXITED if !self.source.running => OutsideCalls::Exited,
            _ => OutsideCalls::Computes,
        };
        // The call that was running has ended the process, by the error handler as a rule: it waits for nobody.
        let ended_itself = self.source.ended_itself();
        let mut is_open = false;
        let threads = self.source.file.threads();
        for thread in threads {
            let Some(open) = self.source.open_call(thread) else {
                continue;
            };
            let Some(function) = self.table.functions.get(usize::from(open.function)) else {
                continue;
            };
            is_open = true;
            if function.class == Class::Finalize {
                pass.end_outside(rank, OutsideCalls::Finalized);
                continue;
            }
            let place = CallPlace {
                rank,
                thread: thread.number,
                function: self.functions[usize::from(open.function)],
                start: self.reader().seconds(open.start),
            };
            let arguments = thread.open_arguments();
            let unfinished =
                arguments.and_then(|arguments| self.unfinished(function, &arguments, pass));
            let receives = function.class != Class::Probe;
            if let Some(unfinished) = unfinished.filter(|_| receives && !self.source.running) {
                pass.ended_in(&self.state, place, &unfinished);
            }
            let waits = match unfinished.filter(|_| !ended_itself) {
                Some(unfinished) => pass.waits_for(&self.state, function, place, &unfinished),
                None => WaitsFor::Unknown,
            };
            pass.end_in_call(place, waits);
        }
        if !is_open {
            pass.end_outside(rank, outside);
        } else if threads.len() > 1 && self.source.running {
            // Another thread may be computing and go on.
            let is_free = |thread| self.source.open_call(thread).is_none();
            let has_free = threads.iter().any(is_free);
            if has_free {
                pass.end_outside(rank, OutsideCalls::Computes);
            }
        }
        pass.end_process(&self.state);
    }

    /// What is known of a running call; `None` if nothing was told.
    fn unfinished(
        &self,
        function: &Function,
        open: &OpenArguments,
        pass: &mut CorrectnessPass,
    ) -> Option<UnfinishedCall> {
        let reader = self.reader();
        if let Some(wait) = function.waits_on_window() {
            let window = Some(open.comm).filter(|&window| open.tells_window && window != 0)?;
            let group = wait.group.and_then(|_| self.groups.of(open.requests[0]));
            let lock = wait.lock_type.map(|_| i64::from(open.tag));
            return Some(UnfinishedCall {
                on: Some((ObjectKind::Window, window)),
                window: Some(WindowCall {
                    target: wait.target.map(|_| open.dest),
                    is_exclusive: reader.is_exclusive(lock),
                    group: group.map(|members| pass.define_group(&in_world(members))),
                }),
                ..UnfinishedCall::default()
            });
        }
        let wait = function.waits()?;
        if wait.requests.is_some() {
            let count = Some(open.request_count).filter(|&count| count > 0)?;
            let known = (count as usize).min(OPEN_REQUESTS);
            let mut requests = [None; OPEN_REQUESTS];
            for (to, &from) in requests.iter_mut().zip(&open.requests[..known]) {
                *to = Some(from);
            }
            return Some(UnfinishedCall {
                request_count: Some(count),
                requests,
                ..UnfinishedCall::default()
            });
        }
        let handle = Some(open.comm).filter(|&handle| handle != 0)?;
        if let Some(object) = wait.object {
            let kind = ObjectKind::of(function.params[object].kind)?;
            return Some(UnfinishedCall {
                on: Some((kind, handle)),
                ..UnfinishedCall::default()
            });
        }
        let comm = reader.comm(handle)?;
        let asked = |peer: i32, is_send| AskedMessage {
            comm,
            peer: reader.peer(peer.into()),
            tag: match wait.send_tag {
                Some(_) if is_send => open.send_tag,
                _ => reader.tag(open.tag.into()),
            },
            bytes: None,
        };
        let has = |kind| function.first(kind).is_some();
        let root = has(Kind::Root).then_some(open.dest);
        Some(UnfinishedCall {
            comm: Some(comm),
            send: has(Kind::Dest).then(|| asked(open.dest, true)),
            receive: has(Kind::Source).then(|| asked(open.source, false)),
            signature: Signature {
                root,
                ..Signature::default()
            },
            ..UnfinishedCall::default()
        })
    }
}
