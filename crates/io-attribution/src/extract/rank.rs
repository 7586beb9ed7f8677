//! The attribution events of a rank's calls.

use super::handles::RankHandles;
use super::machine::machine_number;
use super::operations::{Beginning, RankOperations};
use super::out::ReadyEvents;
use super::walk::{PendingDefinition, ThreadWalk, WalkStep};
use crate::event::{AttributionEventKind, EnclosingCall, ViewPart};
use blockfile::define::FileView;
use blockfile::file::BlockFile;
use blockfile::record::Record;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use trace_model::requests::{OutstandingRequests, RequestUse};
use unify::comms;
use unify::comms::CommId;
use unify::completion::request_call;
use unify::library::Library;
use unify::plan::{CallRole, FileCall, FunctionPlan};
use unify::scan::Scan;
use unify::schema::Schema;
use wrappers::Phase;

/// Runs of a view's pieces in one event.
const RUNS: usize = 1024;

/// The calls of a rank.
#[derive(Debug)]
pub(super) struct RankExtract<'a> {
    walks: Vec<ThreadWalk<'a>>,
    /// Time of the next step of each thread and the thread's index, the earliest on top.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    nexts: Vec<WalkStep>,
    core: RankContext<'a>,
}

#[derive(Debug)]
struct RankContext<'a> {
    schema: &'a Schema<'a>,
    scan: &'a Scan,
    library: Library,
    comms: comms::CommHandles,
    handles: RankHandles,
    /// CallIDs of the accesses that requests stand for.
    requests: OutstandingRequests<u64>,
    operations: RankOperations,
    append: i64,
    request_null: Option<u64>,
    /// When the last call returned, ns on rank 0's clock.
    last_ns: i64,
}

impl<'a> RankExtract<'a> {
    pub fn new(
        file: &BlockFile<'a>,
        scan: &'a Scan,
        schema: &'a Schema<'_>,
        out: &mut ReadyEvents,
    ) -> RankExtract<'a> {
        let (library, comms) = scan.beginning();
        let mut rank = RankExtract {
            walks: Vec::new(),
            next: BinaryHeap::new(),
            nexts: Vec::new(),
            core: RankContext {
                schema,
                scan,
                comms,
                handles: RankHandles::default(),
                requests: OutstandingRequests::default(),
                operations: RankOperations::default(),
                append: library.constant("MPI_MODE_APPEND").unwrap_or(0),
                request_null: library.handle("MPI_REQUEST_NULL"),
                last_ns: scan.last_ns().unwrap_or(0),
                library,
            },
        };
        let first = scan.first_ns().unwrap_or(0);
        for (i, thread) in file.threads().iter().enumerate() {
            let what = AttributionEventKind::Thread {
                tid: thread.tid,
                machine: machine_number(scan),
            };
            out.put(first, thread.number, what);
            let defined = scan.defined.get(i).map_or(&[][..], Vec::as_slice);
            let mut walk = ThreadWalk::new(thread, defined, scan.info.dropped > 0);
            let next = walk.go_on();
            rank.nexts
                .push(next.map_or(WalkStep::Stop, |(_, next)| next));
            rank.next.extend(next.map(|(key, _)| Reverse((key, i))));
            rank.walks.push(walk);
        }
        rank
    }

    /// The next thing that happens; false at the end.
    pub fn step(&mut self, out: &mut ReadyEvents) -> bool {
        let Some(Reverse((key, i))) = self.next.pop() else {
            let ns = self.core.last_ns;
            self.core.operations.finish(ns, out);
            return false;
        };
        let (Some(walk), Some(next)) = (self.walks.get_mut(i), self.nexts.get_mut(i)) else {
            return true;
        };
        let ns = if key == u64::MAX {
            self.core.last_ns.max(out.last)
        } else {
            self.core.scan.clock.ns(key)
        };
        match *next {
            WalkStep::Define => {
                if let Some(definition) = walk.take_early() {
                    self.core.define(definition, walk.thread, ns, out);
                }
            }
            WalkStep::Start => self.core.start(walk, ns, out),
            WalkStep::Operation { inside } => self.core.operation(walk, inside, ns, out),
            WalkStep::Stop => self.core.stop(walk, ns, out),
        }
        if let Some((key, then)) = walk.after(*next) {
            *next = then;
            self.next.push(Reverse((key, i)));
        }
        true
    }
}

impl<'a> RankContext<'a> {
    /// CallID of the call with this counter.
    fn call_id(&self, counter: u64) -> u64 {
        self.scan.info.call_id(counter)
    }

    fn plan(&self, call: &Record<'_>) -> Option<&'a FunctionPlan<'a>> {
        let schema: &'a Schema<'a> = self.schema;
        schema.plans.get(usize::from(call.function))
    }

    /// A definition begins to count: one of a call that is not recorded, or of another call than the one that made it.
    fn define(
        &mut self,
        definition: PendingDefinition,
        thread: u32,
        ns: i64,
        out: &mut ReadyEvents,
    ) {
        match definition {
            PendingDefinition::View(view) => {
                if let Some((handle, view)) = self.handles.set_view(view.file, view) {
                    put_view(handle, view, thread, ns, out);
                }
            }
            PendingDefinition::LeftOut {
                file,
                collective,
                outlasts,
            } => {
                let left_out = self.handles.left_out(file, collective, outlasts);
                if let Some(left_out) = left_out {
                    out.put(ns, thread, AttributionEventKind::LeftOut(left_out));
                }
            }
            PendingDefinition::Type { handle, size } => {
                self.library.set_type_size(handle, size);
            }
            PendingDefinition::Comm(id) => self.define_comm(id),
            PendingDefinition::Position { .. } => {}
        }
    }

    fn start(&mut self, walk: &mut ThreadWalk<'_>, ns: i64, out: &mut ReadyEvents) {
        let Some(call) = walk.call() else {
            self.operations.begin(walk.thread, None);
            return;
        };
        let plan = self.plan(&call);
        let made = plan.and_then(|p| p.handle(call.payload, p.new_comm?));
        let makes_type = plan.is_some_and(|p| p.new_type);
        let thread = walk.thread;
        let mut recorded_position = None;
        let own_view = plan.and_then(|p| match p.role {
            CallRole::File(FileCall::View { file, .. }) => p.handle(call.payload, file),
            _ => None,
        });
        let pending = std::mem::take(&mut walk.pending);
        let Some(call) = walk.call() else { return };
        let mut in_call = Vec::new();
        for definition in pending {
            match definition {
                // What the call itself makes or sets does not exist before the call ends.
                PendingDefinition::Type { .. } if makes_type => in_call.push(definition),
                PendingDefinition::Comm(id) if made.is_some() && self.handle_of(id) == made => {
                    in_call.push(definition);
                }
                PendingDefinition::View(ref view) if Some(view.file) == own_view => {
                    in_call.push(definition);
                }
                PendingDefinition::Position { file, etypes } => {
                    recorded_position = Some((file, etypes));
                }
                definition => self.define(definition, thread, ns, out),
            }
        }
        let (mut named, mut freed) = (None, None);
        match plan.map(|p| (p, p.role)) {
            Some((plan, CallRole::Access { io, file })) => {
                let raw = plan.handle(call.payload, file);
                named = raw;
                if io.phase != Phase::End {
                    let recorded_position =
                        recorded_position.filter(|(file, _)| Some(*file) == raw);
                    let recorded_position = recorded_position.map(|(_, etypes)| etypes);
                    let library = &self.library;
                    let mut access =
                        self.handles
                            .access(io, file, plan, &call, library, recorded_position);
                    access.call = self.call_id(call.call);
                    access.start = ns;
                    access.stop = self.scan.clock.ns(call.stop()).max(ns);
                    if io.phase == Phase::Begin
                        && let Some(open) = raw.and_then(|raw| self.handles.get_mut(raw))
                    {
                        open.begun = Some(access.call);
                    }
                    out.put(ns, thread, AttributionEventKind::Access(access));
                }
            }
            Some((plan, CallRole::File(FileCall::Open { file, amode }))) => {
                let appends = plan
                    .int(call.payload, amode)
                    .is_none_or(|m| m & self.append != 0);
                let comm = plan
                    .handle(call.payload, plan.comm.unwrap_or(0))
                    .and_then(|handle| self.comms.lookup(handle));
                let comms = &self.scan.comms;
                let opened = self.handles.open(plan, &call, file, appends, comm, comms);
                named = plan.handle(call.payload, file);
                if let Some(opened) = opened {
                    out.put(ns, thread, AttributionEventKind::Opened(opened));
                }
            }
            Some((plan, CallRole::File(what))) => named = plan.handle(call.payload, what.file()),
            Some((plan, CallRole::FreeComm { comm })) => {
                let handle = plan.handle(call.payload, comm);
                freed = handle.and_then(|handle| Some((handle, self.comms.lookup(handle)?)));
            }
            _ => {}
        }
        let handle = named.and_then(|raw| self.handles.get(raw));
        let inside = EnclosingCall {
            call: self.call_id(call.call),
            function: call.function,
            start: ns,
        };
        let opens = matches!(
            plan.map(|p| p.role),
            Some(CallRole::File(FileCall::Open { .. }))
        );
        let handle = handle.map(|h| (h.number, h.name.as_str()));
        let beginning = Beginning {
            inside,
            handle,
            opens,
        };
        self.operations.begin(thread, Some(beginning));
        walk.pending = in_call;
        walk.frees = freed;
    }

    fn operation(
        &mut self,
        walk: &mut ThreadWalk<'_>,
        inside: bool,
        ns: i64,
        out: &mut ReadyEvents,
    ) {
        let thread = walk.thread;
        for file in std::mem::take(&mut walk.files) {
            self.operations.file(thread, file, ns, out);
        }
        if let (Some(open), true) = (walk.open_call(), inside) {
            self.operations.inside_open(
                thread,
                EnclosingCall {
                    call: self.call_id(open.call),
                    function: open.function,
                    start: self.scan.clock.ns(open.start),
                },
            );
        }
        let clock = &self.scan.clock;
        self.operations
            .operation(thread, &walk.operation(), inside, clock, out);
    }

    fn stop(&mut self, walk: &mut ThreadWalk<'_>, ns: i64, out: &mut ReadyEvents) {
        let thread = walk.thread;
        let mut pending = std::mem::take(&mut walk.pending);
        for file in std::mem::take(&mut walk.files) {
            self.operations.file(thread, file, ns, out);
        }
        let freed = walk.frees.take();
        let ended = self.operations.end(thread, ns, out);
        if let (Some(inside), 1..) = (ended, walk.inside) {
            out.put(ns, thread, AttributionEventKind::Returned(inside));
        }
        let Some(call) = walk.call() else { return };
        if let Some(plan) = self.plan(&call) {
            self.end(thread, plan, &call, &mut pending, ns, out);
        }
        if let (Some((handle, id)), 0) = (freed, call.code) {
            self.comms.release(handle, id);
        }
        for pending in pending.drain(..) {
            match pending {
                PendingDefinition::Type { handle, size } => {
                    self.library.set_type_size(handle, size)
                }
                PendingDefinition::Comm(id) => self.define_comm(id),
                PendingDefinition::View(_)
                | PendingDefinition::Position { .. }
                | PendingDefinition::LeftOut { .. } => {}
            }
        }
        walk.pending = pending;
    }

    /// Applies the effects of a recorded call that returns.
    fn end(
        &mut self,
        thread: u32,
        plan: &FunctionPlan<'_>,
        call: &Record<'_>,
        pending: &mut Vec<PendingDefinition>,
        ns: i64,
        out: &mut ReadyEvents,
    ) {
        let payload = call.payload;
        let by = request_call(call, i32::try_from(thread).unwrap_or(i32::MAX));
        let id = self.call_id(call.call);
        let mut complete = |call, moved, failed| {
            let what = AttributionEventKind::Complete {
                call,
                moved,
                failed,
            };
            out.put(ns, thread, what);
        };
        // A call that has failed may have a view as well: one that nobody knows.
        let mut views = pending.iter();
        let sets_view = views.any(|pending| matches!(pending, PendingDefinition::View(_)));
        match plan.role {
            CallRole::Access { io, file } => {
                let status = plan.status.and_then(|i| plan.status(payload, i));
                let moved = status.filter(|_| call.code == 0).map(|s| s.bytes);
                let raw = plan.handle(payload, file);
                match io.phase {
                    Phase::Blocking => complete(id, moved, call.code != 0),
                    Phase::Nonblocking => {
                        let request = plan.request().filter(|_| call.code == 0);
                        let request = request
                            .and_then(|i| plan.handle(payload, i))
                            .filter(|&request| Some(request) != self.request_null);
                        match request {
                            Some(request) => {
                                // A handle that is given out again stands for something that is over.
                                if let Some(old) = self.requests.take_current(request) {
                                    complete(old, None, false);
                                }
                                self.requests.insert(request, id, RequestUse::Own, by);
                            }
                            None => complete(id, None, call.code != 0),
                        }
                    }
                    Phase::Begin if call.code != 0 => complete(id, None, true),
                    Phase::Begin => {}
                    Phase::End => {
                        let open = raw.and_then(|raw| self.handles.get_mut(raw));
                        if let Some(begun) = open.and_then(|open| open.begun.take()) {
                            complete(begun, moved, call.code != 0);
                        }
                    }
                }
            }
            CallRole::Complete(completion) if !self.requests.is_empty() => {
                completion.each(plan, call, |done| {
                    if let Some(access) = self.requests.complete(done.request, by) {
                        let moved = done.status.filter(|_| done.worked).map(|s| s.bytes);
                        complete(access, moved, !done.worked);
                    }
                });
            }
            _ if call.code != 0 && !sets_view => {}
            CallRole::File(FileCall::Close { file }) => {
                let raw = plan.handle(payload, file);
                if let Some(closed) = raw.and_then(|raw| self.handles.remove(raw)) {
                    let handle = closed.number;
                    out.put(ns, thread, AttributionEventKind::Closed { handle });
                }
            }
            CallRole::File(what) => {
                let library = &self.library;
                if let Some((handle, view)) =
                    self.handles.follow(what, plan, call, library, pending)
                {
                    put_view(handle, view, thread, ns, out);
                }
            }
            CallRole::FreeRequest { request } if !self.requests.is_empty() => {
                if let Some(handle) = plan.handle(payload, request) {
                    self.requests.free(handle, by);
                }
            }
            CallRole::Nonblocking { request }
            | CallRole::Init { request }
            | CallRole::OtherRequest { request }
                if !self.requests.is_empty() =>
            {
                if let Some(handle) = plan.handle(payload, request) {
                    self.requests.forget(handle, by);
                }
            }
            _ => {}
        }
    }

    fn handle_of(&self, id: CommId) -> Option<u64> {
        self.scan.comms.get(id).map(|c| c.handle)
    }

    fn define_comm(&mut self, id: CommId) {
        if let Some(handle) = self.handle_of(id) {
            self.comms.insert(handle, id);
        }
    }
}

fn put_view(handle: u32, mut view: FileView, thread: u32, ns: i64, out: &mut ReadyEvents) {
    let runs = std::mem::take(&mut view.runs);
    let parts = runs.chunks(RUNS).count().max(1);
    for i in 0..parts {
        let part = runs.chunks(RUNS).nth(i).unwrap_or_default();
        let part = ViewPart {
            handle,
            first: i == 0,
            last: i + 1 == parts,
            view: FileView {
                runs: part.to_vec(),
                ..view.clone()
            },
        };
        out.put(ns, thread, AttributionEventKind::View(part));
    }
}
