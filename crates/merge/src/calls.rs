//! What each call adds to the merged records of its process: its state, and records of the communicators it makes and frees.
//! What it sends and receives is in [`super::messages`].

use super::cargo::{Cargo, text_cargo};
use super::handle_numbers::HandleNumbers;
use super::mpe_constants::{COMM_FINALIZE, COMM_INIT, constants};
use super::notes::Notes;
use super::posted_receives::PostedReceives;
use super::ready_records::ReadyRecords;
use super::record::MergedBody;
use super::request_numbers::RequestNumbers;
use super::request_operation::RequestMessages;
use super::settings::MergeSettings;
use blockfile::define::Definition;
use blockfile::file::{BlockFile, OpenCall};
use blockfile::function::FunctionStep;
use blockfile::record::Record as Call;
use std::cell::{Cell, OnceCell};
use std::collections::HashSet;
use trace_formats::clog2::annotations::UNFINISHED;
use trace_formats::clog2::states::{self, FunctionState};
use trace_formats::clog2::{
    CARGO_SIZE, Clog2CommEvent, Clog2RecordHeader, Gid, UNKNOWN_LID, comm_etype,
};
use trace_model::hash::Map;
use trace_model::requests::OutstandingRequests;
use unify::comms::{CommHandles, CommId};
use unify::completion::request_call;
use unify::counters::CounterOrder;
use unify::endpoints::{DrawnEndpoints, EndpointCounts, EndpointSelection};
use unify::files::OpenFiles;
use unify::lanes::{Lane, LaneCall, LaneDefinition, MatchedMessage};
use unify::library::Library;
use unify::places::{CommPlace, CommPlaces};
use unify::plan::{CallRole, FunctionPlan};
use unify::scan::Scan;
use unify::schema::Schema;
use unify::wildcards::{ReceivedMessage, RequestStart};

/// All that is known of a process at a moment of the walk, and the records that are ready.
#[derive(Debug)]
pub(super) struct ProcessWalk<'a> {
    pub schema: &'a Schema<'a>,
    pub file: &'a BlockFile<'a>,
    pub scan: &'a Scan,
    pub settings: MergeSettings<'a>,
    pub library: Library,
    pub handles: CommHandles,
    /// The communicator's handle looked up last, and what it stands for.
    pub last_comm: Cell<Option<(u64, Option<CommId>)>>,
    /// The datatype asked for last and its size.
    pub last_type: Cell<Option<(u64, Option<u64>)>>,
    pub places: CommPlaces,
    pub requests: OutstandingRequests<RequestMessages>,
    pub numbers: RequestNumbers,
    pub posted: PostedReceives,
    /// What receives with wildcards get, once that had to be known.
    pub wildcards: OnceCell<Map<RequestStart, ReceivedMessage>>,
    /// Whether operations are followed that show nothing: with several threads, and where older ones are not known.
    pub follows_sends: bool,
    /// Messages that are still to be drawn or left out.
    pub drawn_endpoints: Option<EndpointSelection>,
    /// Counts of messages in each channel, if they are counted.
    pub counts: Option<EndpointCounts>,
    /// Whether calls before may be missing: handles may stand for what nothing is known of.
    pub has_gap: bool,
    /// Whether the call that is looked at was recorded for matching only.
    pub is_matching_only: bool,
    /// Messages that were taken out of matching, by handle.
    pub matched: Map<u64, MatchedMessage>,
    pub files: OpenFiles,
    pub shared_handles: HandleNumbers,
    /// MPI_PROC_NULL and MPI_ANY_SOURCE.
    pub proc_null: i64,
    pub any_source: i64,
    /// MPI_ERR_TRUNCATE.
    pub truncate_error: Option<i64>,
    /// Counters of the calls whose sends were cancelled.
    pub cancelled: HashSet<u64>,
    /// Start events of the program's functions by address.
    functions: Map<u64, i32>,
    counters: CounterOrder,
    /// LIDs of the sides of intercommunicators that were announced.
    sides: HashSet<i32>,
    /// Time of the latest record, seconds.
    pub last: f64,
    /// Records that can be given.
    pub out: ReadyRecords,
    pub notes: Notes,
}

impl<'a> ProcessWalk<'a> {
    pub fn new(
        schema: &'a Schema<'a>,
        file: &'a BlockFile<'a>,
        scan: &'a Scan,
        lids: &[i32],
        settings: MergeSettings<'a>,
        cancelled: HashSet<u64>,
    ) -> Self {
        let (library, handles) = scan.beginning();
        let truncate_error = library.constant("MPI_ERR_TRUNCATE");
        let [proc_null, any_source, _] = constants(&library, scan.info.family).map(|(_, v)| v);
        let rank = scan.info.rank;
        let places = CommPlaces::new(&scan.comms, rank, lids, settings.ranks, settings.threads);
        let world_and_self = [CommId::WORLD, CommId::SELF].map(|id| places.get(id).own);
        ProcessWalk {
            schema,
            file,
            scan,
            settings,
            library,
            handles,
            last_comm: Cell::new(None),
            last_type: Cell::new(None),
            requests: OutstandingRequests::default(),
            numbers: RequestNumbers::default(),
            posted: PostedReceives::default(),
            wildcards: OnceCell::new(),
            shared_handles: HandleNumbers::default(),
            follows_sends: scan.threads > 1 || scan.info.dropped > 0 || schema.states.has_details(),
            drawn_endpoints: match settings.drawn_endpoints {
                Some(DrawnEndpoints::Selected(chosen)) => Some(chosen.clone()),
                _ => None,
            },
            counts: None,
            has_gap: scan.info.dropped > 0,
            is_matching_only: false,
            matched: Map::default(),
            files: OpenFiles::default(),
            proc_null,
            any_source,
            truncate_error,
            cancelled,
            functions: scan.named.start_events(settings.functions),
            counters: CounterOrder::new(&scan.counters, settings.counters),
            sides: HashSet::from(world_and_self),
            last: 0.0,
            out: ReadyRecords::default(),
            notes: Notes {
                folded_comms: places.folded(),
                ..Notes::default()
            },
            places,
        }
    }

    /// Communicator that a handle refers to; `None` if not known. Programs use one for many calls.
    #[inline]
    fn comm_of(&self, handle: u64) -> Option<CommId> {
        if let Some((last, id)) = self.last_comm.get()
            && last == handle
        {
            return id;
        }
        let id = self.handles.lookup(handle);
        self.last_comm.set(Some((handle, id)));
        id
    }

    /// Goes to the time at `ticks`, seconds since zero on rank 0's clock; never back. Gives the time.
    #[inline]
    pub fn time(&mut self, ticks: u64) -> f64 {
        let ns = self.scan.clock.ns(ticks);
        let time = ns.wrapping_sub(self.settings.zero_ns) as f64 / 1e9;
        if time > self.last {
            self.last = time;
        }
        self.last
    }

    /// A record at this time, whatever came before.
    pub fn put_at(&mut self, time: f64, place: CommPlace, thread: i32, body: MergedBody) {
        let last = std::mem::replace(&mut self.last, time);
        self.put(place, thread, body);
        self.last = last;
    }

    #[inline]
    pub fn put(&mut self, place: CommPlace, thread: i32, body: MergedBody) {
        self.out.push(self.header(place, thread), body);
    }

    /// Head of a record at the time of the latest one.
    #[inline]
    pub fn header(&self, place: CommPlace, thread: i32) -> Clog2RecordHeader {
        Clog2RecordHeader {
            time: self.last,
            icomm: place.line,
            rank: place.rank,
            thread,
        }
    }

    /// The call that `lane` stands at begins.
    #[inline]
    pub fn begin(&mut self, lane: &mut Lane<'_>) {
        self.begin_call(&mut lane.call, &lane.cursor.record());
    }

    /// The call that `lane` stands at ends.
    #[inline]
    pub fn end(&mut self, lane: &mut Lane<'_>) {
        self.end_call(&mut lane.call, &lane.cursor.record());
    }

    /// Begins and ends a call in which nothing else happens.
    #[inline(always)] // as what it calls
    pub fn whole_call(&mut self, lane: &mut LaneCall, call: &Call<'_>) {
        self.is_matching_only = lane.is_matching_only;
        let Some((state, plan)) = self.known(call.function) else {
            self.notes.unknown_calls += 1;
            lane.counts.clear();
            return;
        };
        self.time(call.start);
        self.begin_known_call(lane, call, state, plan);
        self.time(call.stop());
        self.end_known_call(lane, call, state, plan);
    }

    /// State of a function, and its plan where it is in the table; `None` where nothing is known of it.
    #[inline]
    fn known(&self, function: u16) -> Option<(&'a FunctionState, Option<&'a FunctionPlan<'a>>)> {
        let schema = self.schema;
        let state = schema.states.get(function)?;
        Some((state, schema.plans.get(usize::from(function))))
    }

    fn begin_call(&mut self, lane: &mut LaneCall, call: &Call<'_>) {
        self.is_matching_only = lane.is_matching_only;
        match self.known(call.function) {
            Some((state, plan)) => {
                self.time(call.start);
                self.begin_known_call(lane, call, state, plan);
            }
            None => self.notes.unknown_calls += 1,
        }
    }

    fn end_call(&mut self, lane: &mut LaneCall, call: &Call<'_>) {
        self.is_matching_only = lane.is_matching_only;
        match self.known(call.function) {
            Some((state, plan)) => {
                self.time(call.stop());
                self.end_known_call(lane, call, state, plan);
            }
            None => lane.counts.clear(),
        }
    }

    #[inline(always)] // so that only what is used of the record is read
    fn begin_known_call(
        &mut self,
        lane: &mut LaneCall,
        call: &Call<'_>,
        state: &FunctionState,
        plan: Option<&FunctionPlan<'_>>,
    ) {
        if !lane.pending.is_empty() {
            let made = plan.and_then(|p| p.handle(call.payload, p.new_comm?));
            let makes_type = plan.is_some_and(|p| p.new_type);
            // Objects that the call itself has made do not exist before it ends.
            lane.pending.retain(|&pending| {
                let later = match pending {
                    LaneDefinition::Type { .. } => makes_type,
                    LaneDefinition::Comm(id) => {
                        made.is_some() && self.scan.comms.get(id).map(|c| c.handle) == made
                    }
                };
                if !later {
                    self.apply(pending, self.places.world(), lane.thread);
                }
                later
            });
        }
        lane.comm = plan
            .and_then(|p| p.handle(call.payload, p.comm?))
            .and_then(|handle| self.comm_of(handle));
        lane.place = self.places.get(lane.comm.unwrap_or(CommId::WORLD));
        if !lane.is_matching_only {
            lane.began = self.enter(lane.place, lane.thread, state.start());
        }
        let Some(plan) = plan else { return };
        lane.message = plan
            .message
            .and_then(|m| plan.handle(call.payload, m))
            .and_then(|m| self.matched.get(&m))
            .copied();
        if plan.sends && (call.code == 0 || plan.is_cut_short(call)) {
            self.send_messages(lane.comm, lane.thread, plan, call);
            lane.request = self.numbers.begun(&mut lane.started);
        }
    }

    #[inline(always)] // so that only what is used of the record is read
    fn end_known_call(
        &mut self,
        lane: &mut LaneCall,
        call: &Call<'_>,
        state: &FunctionState,
        plan: Option<&FunctionPlan<'_>>,
    ) {
        if !lane.pending.is_empty() {
            let place = lane.place;
            for pending in lane.pending.drain(..) {
                self.apply(pending, place, lane.thread);
            }
        }
        if state.has_details {
            self.numbers
                .end_call(lane.request.take(), &mut lane.started);
        }
        let mut access = None;
        if let Some(plan) = plan.filter(|plan| plan.ends_something) {
            match plan.role {
                CallRole::Access { io, file } => {
                    access = Some(self.files.access(io, file, plan, call, &self.library));
                    if io.collective {
                        self.receive_messages(lane.comm, None, lane.thread, plan, call);
                    }
                }
                CallRole::File(_) if call.code != 0 => {}
                CallRole::File(what) => self.files.follow(what, plan, call, &self.library),
                CallRole::FreeComm { comm } => {
                    if let (Some(id), 0) = (lane.comm, call.code) {
                        self.free(id, lane.place, lane.thread);
                        if let Some(handle) = plan.handle(call.payload, comm) {
                            self.last_comm.set(None);
                            self.handles.release(handle, id);
                        }
                    }
                }
                _ => self.receive_messages(lane.comm, lane.message, lane.thread, plan, call),
            }
        }
        if lane.is_matching_only {
            return;
        }
        let etypes = [state.start(), state.end()];
        let has_info = !matches!(state.cargo, states::StateCargo::None) || state.has_details;
        if !has_info && lane.counts.is_empty() {
            // By itself, so that nothing that is not there is copied.
            return self.leave(lane.place, lane.thread, lane.began, etypes, None);
        }
        // What counters have counted stands behind the info, as details do, so what it has must be as long as it is.
        let is_exact = state.has_details || !self.settings.counters.is_empty();
        let mut out = std::mem::take(&mut self.out);
        let header = self.header(lane.place, lane.thread);
        let info = out.push_state(header, lane.began, etypes);
        if !matches!(state.cargo, states::StateCargo::None) {
            let cargo = self.cargo(state, call, |i| plan?.int(call.payload, i), access);
            let bytes = if is_exact {
                state.cargo.bytes()
            } else {
                CARGO_SIZE
            };
            info.push_data(&cargo[..bytes.min(CARGO_SIZE)]);
        }
        if state.has_details {
            let by = request_call(call, lane.thread);
            self.details(info, state.details, &lane.group, plan, call, by);
        }
        if !self.settings.counters.is_empty() {
            info.set_counts(self.counters.counted(&lane.counts).unwrap_or_default());
        }
        self.out = out;
        lane.counts.clear();
        lane.group.clear();
    }

    /// A state begins at the time of the latest record. Gives that time.
    #[inline]
    pub fn enter(&mut self, place: CommPlace, thread: i32, etype: i32) -> f64 {
        if self.settings.enters {
            self.put(place, thread, MergedBody::Enter { etype });
        }
        self.last
    }

    /// A state without counters ends.
    #[inline]
    pub fn leave(
        &mut self,
        place: CommPlace,
        thread: i32,
        start: f64,
        etypes: [i32; 2],
        cargo: Option<Cargo>,
    ) {
        let header = self.header(place, thread);
        let info = self.out.push_state(header, start, etypes);
        if let Some(cargo) = cargo {
            info.push_data(&cargo);
        }
    }

    /// An event without data.
    pub fn put_event(&mut self, place: CommPlace, thread: i32, etype: i32) {
        let cargo = None;
        self.put(place, thread, MergedBody::Event { etype, cargo });
    }

    /// From here on calls may be missing that messages hang on: what requests stand for is not known any more.
    pub fn cut(&mut self) {
        self.has_gap = true;
        // Otherwise the completion of a send would be taken for that of an unknown receive.
        self.follows_sends = true;
        self.requests = OutstandingRequests::default();
        self.matched.clear();
        self.posted.clear();
        if let Some(counts) = &mut self.counts {
            counts.cut();
        }
    }

    /// The program annotates at `ticks`, or polls were skipped from then on. There is room for the beginning of the text.
    pub fn annotate(&mut self, lane: &Lane<'_>, ticks: u64) {
        let record = lane.cursor.record();
        let text = match Definition::decode(record.function, record.payload) {
            Some(Definition::Annotation { text, .. }) => text,
            Some(Definition::Skipped(skipped)) => {
                let name = self.schema.states.get(skipped.function);
                let name =
                    name.map_or_else(String::new, |s| s.definition.name.to_str().into_owned());
                format!("+{} {name}", skipped.calls)
            }
            _ => return,
        };
        self.time(ticks);
        self.text(lane.call.thread, &text);
    }

    /// Text at the time of the latest record.
    pub fn text(&mut self, thread: i32, text: &str) {
        let body = MergedBody::Event {
            etype: self.schema.states.annotation(),
            cargo: Some(text_cargo(text.as_bytes())),
        };
        self.put(self.places.world(), thread, body);
    }

    /// A function is entered or left at `ticks`.
    #[inline]
    pub fn step(&mut self, lane: &mut Lane<'_>, step: &FunctionStep, ticks: u64) {
        self.time(ticks);
        let (place, thread) = (self.places.world(), lane.call.thread);
        let start = |core: &Self, address| core.functions.get(&address).copied();
        let mut frames = std::mem::take(&mut lane.frames);
        let entered = frames.step(step, self.last, |frame| {
            if let Some(etype) = start(self, frame.address) {
                self.leave(place, thread, frame.entered, [etype, etype + 1], None);
            }
        });
        lane.frames = frames;
        if let Some(etype) = start(self, step.address).filter(|_| entered) {
            self.enter(place, thread, etype);
        }
    }

    /// The thread of `lane` has ended, at `ticks`: what pthread_exit has left open ends with it.
    pub fn end_thread(&mut self, lane: &mut Lane<'_>, ticks: u64) {
        self.time(ticks);
        self.leave_functions(lane, None);
        self.leave_regions(lane);
    }

    /// Functions that were never left end with the run.
    pub fn close_functions(&mut self, lane: &mut Lane<'_>) {
        self.go_to_end();
        let is_killed = self.settings.open_until_ns.is_some();
        self.leave_functions(lane, is_killed.then_some(states::UNFINISHED));
    }

    /// All functions that the thread of `lane` is in end now; `cargo` is what their ends tell.
    fn leave_functions(&mut self, lane: &mut Lane<'_>, cargo: Option<Cargo>) {
        let (place, thread) = (self.places.world(), lane.call.thread);
        for frame in lane.frames.close() {
            let Some(&etype) = self.functions.get(&frame.address) else {
                continue;
            };
            self.leave(place, thread, frame.entered, [etype, etype + 1], cargo);
        }
    }

    /// In a run that was killed, the latest time known of it has come.
    pub fn go_to_end(&mut self) {
        if let Some(until) = self.settings.open_until_ns {
            let seconds = until.wrapping_sub(self.settings.zero_ns) as f64 / 1e9;
            self.last = self.last.max(seconds);
        }
    }

    /// A call begins that never came to its end. Of its arguments only the communicator is known. An annotation tells it from those that did.
    pub fn begin_open(&mut self, lane: &mut Lane<'_>, open: OpenCall) {
        self.time(open.start);
        let comm = self.comm_of_open(lane.call.thread, open.function);
        lane.call.place = self.places.get(comm.unwrap_or(CommId::WORLD));
        let schema = self.schema;
        if let Some(state) = schema.states.get(open.function) {
            lane.call.began = self.enter(lane.call.place, lane.call.thread, state.start());
            let name = state.definition.name.to_str();
            self.text(lane.call.thread, &format!("{UNFINISHED}{name}"));
        }
    }

    /// Communicator of the call of a function that a thread is in at its end; `None` where the call does not tell.
    fn comm_of_open(&self, thread: i32, function: u16) -> Option<CommId> {
        let plan = self.schema.plans.get(usize::from(function))?;
        let number = u32::try_from(thread).ok()?;
        let mut threads = self.file.threads().iter();
        let thread = threads.find(|thread| thread.number == number)?;
        let told = thread.open_arguments()?.comm;
        let is_told = plan.tells_comm_while_running() && told != 0;
        self.comm_of(told).filter(|_| is_told)
    }

    /// Ends a call that never came to its end, at the latest time that is known of the run.
    pub fn end_open(&mut self, lane: &mut Lane<'_>, open: OpenCall) {
        self.go_to_end();
        let Some(state) = self.schema.states.get(open.function) else {
            return;
        };
        let cargo = match state.cargo {
            states::StateCargo::None => None,
            _ => Some(pack([self.call_id(open.call) as i64, -1, -1])),
        };
        let etypes = [state.start(), state.end()];
        self.leave(
            lane.call.place,
            lane.call.thread,
            lane.call.began,
            etypes,
            cargo,
        );
    }

    /// Definitions that still wait begin to count at `ticks`.
    pub fn define(&mut self, lane: &mut Lane<'_>, ticks: u64) {
        self.time(ticks);
        for pending in lane.call.pending.drain(..) {
            self.apply(pending, self.places.world(), lane.call.thread);
        }
    }

    /// A definition begins to count. `on` is where the call was made that it belongs to.
    fn apply(&mut self, pending: LaneDefinition, on: CommPlace, thread: i32) {
        match pending {
            LaneDefinition::Type { handle, size } => {
                self.last_type.set(None);
                self.library.set_type_size(handle, size);
            }
            LaneDefinition::Comm(id) => {
                if let Some(comm) = self.scan.comms.get(id) {
                    self.last_comm.set(None);
                    self.handles.insert(comm.handle, id);
                }
                if id > CommId::SELF {
                    self.create(id, on, thread);
                }
            }
        }
    }

    /// Records of a new communicator (`spec/clog2.md` section 5.1).
    fn create(&mut self, id: CommId, on: CommPlace, thread: i32) {
        let place = self.places.get(id);
        let Some(comm) = self.scan.comms.get(id) else {
            return;
        };
        if place.folded {
            return;
        }
        let (gid, sides) = (comm.gid, comm.sides);
        match sides {
            None => self.announce(
                on,
                thread,
                comm_etype::INTRA_CREATE,
                place.own,
                place.rank,
                gid,
            ),
            Some((local, remote)) => {
                self.announce(
                    on,
                    thread,
                    comm_etype::INTER_CREATE,
                    place.own,
                    place.rank,
                    gid,
                );
                // Announced again, lines of other threads would count as unused (`spec/slog2.md` section 7.2).
                if self.sides.insert(place.line) {
                    let etype = comm_etype::INTRA_LOCAL;
                    self.announce(on, thread, etype, place.line, place.rank, local);
                }
                if self.places.may_announce_remote(place.partner) {
                    let etype = comm_etype::INTRA_REMOTE;
                    self.announce(on, thread, etype, place.partner, -1, remote);
                }
            }
        }
        self.put_event(place, thread, COMM_INIT);
    }

    /// Records of a freed communicator.
    fn free(&mut self, id: CommId, place: CommPlace, thread: i32) {
        if place.folded {
            return;
        }
        let own = CommPlace {
            line: self.places.get(id).own,
            ..place
        };
        self.put(
            own,
            thread,
            MergedBody::Comm(Clog2CommEvent {
                etype: comm_etype::FREE,
                icomm: UNKNOWN_LID,
                rank: -1,
                wrank: -1,
                gid: Gid::NULL,
            }),
        );
        self.put_event(place, thread, COMM_FINALIZE);
    }

    /// A COMM record in whose header stands the communicator itself, also if events are drawn on a side of it.
    pub fn announce(
        &mut self,
        on: CommPlace,
        thread: i32,
        etype: i32,
        icomm: i32,
        rank: i32,
        gid: Gid,
    ) {
        let header = CommPlace { line: on.own, ..on };
        let wrank = self.places.world().rank;
        self.put(
            header,
            thread,
            MergedBody::Comm(Clog2CommEvent {
                etype,
                icomm,
                rank,
                wrank,
                gid,
            }),
        );
    }

    /// CallID of the call with this counter.
    fn call_id(&self, counter: u64) -> u64 {
        self.scan.info.call_id(counter)
    }

    fn cargo(
        &self,
        state: &FunctionState,
        call: &Call<'_>,
        value: impl Fn(usize) -> Option<i64>,
        access: Option<unify::files::AccessSize>,
    ) -> Cargo {
        let id = self.call_id(call.call) as i64;
        match (state.cargo, access) {
            (states::StateCargo::Access, Some(access)) => pack([id, access.bytes, access.offset]),
            (states::StateCargo::Value(i), _) => pack([id, value(i.into()).unwrap_or(-1), 0]),
            _ => pack([id, 0, 0]),
        }
    }
}

fn pack(values: [i64; 3]) -> Cargo {
    let mut bytes = [0; CARGO_SIZE];
    for (to, value) in bytes.chunks_exact_mut(8).zip(values) {
        to.copy_from_slice(&value.to_be_bytes());
    }
    bytes
}
