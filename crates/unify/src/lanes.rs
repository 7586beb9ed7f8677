//! The threads of a process, each standing at one of its calls.

use super::comms::CommId;
use super::functions::FunctionStack;
use super::places::CommPlace;
use super::timeline::Cursor;
use blockfile::counts;
use blockfile::define::{self, Definition};
use blockfile::file::{OpenCall, ThreadBlocks};
use blockfile::function::FunctionStep;
use blockfile::record::{self, Record};
use blockfile::user::UserEvent;
use std::collections::VecDeque;

/// A definition that has been read and does not count yet.
#[derive(Clone, Copy, Debug)]
pub enum LaneDefinition {
    /// A datatype: handle, and size in bytes if it has one.
    Type {
        /// The datatype.
        handle: u64,
        /// Size of the datatype in bytes, where it is known.
        size: Option<u64>,
    },
    /// A communicator.
    Comm(CommId),
}

/// Next step of a thread.
#[derive(Clone, Copy, Debug)]
pub enum LaneStep {
    /// A call of the thread starts.
    Start,
    /// A call of the thread ends.
    Stop,
    /// The program annotates, or polls were skipped.
    Annotation,
    /// The program tells of itself: [`Lane::event_payload`].
    Event,
    /// The program tells something of itself while a call of the thread is running.
    EventInside,
    /// The program tells something of itself while a call is running that never came to its end.
    EventOpen(OpenCall),
    /// The thread enters or leaves a function of the program.
    Step(FunctionStep),
    /// A call starts that never came to its end.
    OpenStart(OpenCall),
    /// The call that never came to its end is given one.
    OpenStop(OpenCall),
    /// From here on calls may be missing.
    Gap,
    /// What a call has made that is not recorded begins to count: [`LaneCall::pending`].
    Define,
    /// The thread has ended: what it had entered and not left ends.
    ThreadEnd,
    /// No more calls; definitions may be left.
    Nothing,
    /// Functions that were never left are given an end.
    Close,
}

/// A region or state that has begun.
#[derive(Clone, Copy, Debug)]
pub struct OpenAnnotation {
    /// Start and end event in the merged records.
    pub etypes: [i32; 2],
    /// When it began, seconds.
    pub start: f64,
    /// Place at which it is drawn.
    pub place: CommPlace,
    /// Whether it is a region: those end at the latest with the log.
    pub region: bool,
}

/// Whether it is an event of the program's own that came while no call was running.
fn is_outside(record: &Record<'_>) -> bool {
    record.function == define::USER_EVENT
        && UserEvent::decode(record.payload).is_none_or(|event| !event.inside)
}

/// Whether a thread stops at the record: at a call, an annotation, a function, a gap or its end.
fn is_step(record: &Record<'_>) -> bool {
    record.is_call()
        || is_outside(record)
        || matches!(
            record.function,
            define::ANNOTATION
                | define::SKIPPED
                | define::GAP
                | define::ENTER
                | define::EXIT
                | define::THREAD_END
        )
}

/// A persistent operation that a call has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartedOperation {
    /// Number of the request among those that the process has made and started.
    pub request: u32,
    /// What it does.
    pub kind: StartedKind,
}

/// What a persistent operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartedKind {
    /// Sends a message.
    Send,
    /// Receives a message.
    Receive,
    /// Collective; the number of the operation among those of the process.
    Collective(u32),
}

/// A message that a call has taken out of matching.
#[derive(Clone, Copy, Debug)]
pub struct MatchedMessage {
    /// Communicator of the message.
    pub comm: CommId,
    /// Number of the call in the order in which the process posts receives.
    pub posted: u64,
}

/// A thread's call between its beginning and its end, as far as it is known.
#[derive(Debug)]
pub struct LaneCall {
    /// Number of the thread in CLOG2 records.
    pub thread: i32,
    /// Values of performance counters at the beginning and at the end of the call.
    pub counts: Vec<(i64, i64)>,
    /// Definitions that begin to count with this step of the thread: with the call that they were written in, or by themselves.
    pub pending: Vec<LaneDefinition>,
    /// Communicator the call names.
    pub comm: Option<CommId>,
    /// Place at which the call is drawn.
    pub place: CommPlace,
    /// When the call began, seconds.
    pub began: f64,
    /// The matched message that the call receives.
    pub message: Option<MatchedMessage>,
    /// Whether the call is one that is not shown.
    pub is_matching_only: bool,
    /// Number of the request that the call has started when it began.
    pub request: Option<u32>,
    /// Persistent operations that the call has started.
    pub started: Vec<StartedOperation>,
    /// Members of the group that the call names: ranks in MPI_COMM_WORLD.
    pub group: Vec<i32>,
}

/// One thread.
#[derive(Debug)]
pub struct Lane<'a> {
    /// Position of the walk over the thread.
    pub cursor: Cursor<'a>,
    /// Next step of the thread.
    pub next: LaneStep,
    /// The call that the thread stands at.
    pub call: LaneCall,
    /// Numbers of the communicators that are still to be defined.
    defined: std::slice::Iter<'a, CommId>,
    open: Option<OpenCall>,
    /// Payload of the event that [`LaneStep::Event`] is about.
    pub event_payload: Vec<u8>,
    /// Events that came while a call was running whose record stands behind them.
    early_events: VecDeque<(u64, Vec<u8>)>,
    /// Definitions, with the ticks at which they were written, that stand before a record that has not been read yet. Only that one
    /// tells whether they were written in its call, or in an earlier call that has no record.
    early_definitions: VecDeque<(u64, LaneDefinition)>,
    /// Whether blocks were given up for newer ones (`at-disk-limit newest`). Definitions without a time are copies of those in them.
    has_copies: bool,
    /// Whether the record that the cursor stands at has not been given yet.
    held: bool,
    /// Regions and states of the program's own that have begun and not ended.
    pub begun: Vec<OpenAnnotation>,
    /// Functions that the thread is in.
    pub frames: FunctionStack,
    /// Latest time given out.
    latest_key: u64,
}

impl<'a> Lane<'a> {
    /// Before the first call of `thread`, the one at this position in the file. `defined` are its communicators in the order
    /// of their definitions, `open` is the call that never ended, if it is to be shown. `has_copies` tells whether blocks of the process
    /// were given up for newer ones.
    pub fn new(
        thread: &ThreadBlocks<'a>,
        position: usize,
        defined: &'a [CommId],
        open: Option<OpenCall>,
        has_copies: bool,
    ) -> Self {
        Lane {
            cursor: Cursor::new(thread),
            next: LaneStep::Nothing,
            call: LaneCall {
                thread: i32::try_from(position).unwrap_or(i32::MAX),
                pending: Vec::new(),
                counts: Vec::new(),
                comm: None,
                place: CommPlace::default(),
                began: 0.0,
                message: None,
                is_matching_only: false,
                request: None,
                started: Vec::new(),
                group: Vec::new(),
            },
            defined: defined.iter(),
            open,
            event_payload: Vec::new(),
            early_events: VecDeque::new(),
            early_definitions: VecDeque::new(),
            has_copies,
            held: false,
            begun: Vec::new(),
            frames: FunctionStack::default(),
            latest_key: 0,
        }
    }

    /// Goes to the next call or annotation. Gives the time, in ticks, at which what [`Lane::next`] then says happens; `None` at the end.
    #[inline]
    pub fn go_on(&mut self) -> Option<u64> {
        loop {
            if !std::mem::take(&mut self.held) {
                let Some(function) = self.cursor.advance_to_matching_only() else {
                    break;
                };
                if record::is_call(function) && self.has_nothing_early() {
                    self.call.is_matching_only = false;
                    self.latest_key = self.latest_key.max(self.cursor.record().start);
                    self.next = LaneStep::Start;
                    return Some(self.latest_key);
                }
            }
            self.call.is_matching_only = self.cursor.is_matching_only();
            let record = self.cursor.record();
            let event = (self.early_events.front())
                .map(|(start, _)| *start)
                .filter(|start| record.is_call() && record.start > *start || is_outside(&record));
            let definition = (self.early_definitions.front())
                .map(|(time, _)| *time)
                .filter(|time| *time < record.start && is_step(&record));
            if event.is_some() || definition.is_some() {
                // They belong to a call that has no record.
                self.held = true;
                return self.next_early(event, definition);
            }
            if record.is_call() {
                self.latest_key = self.latest_key.max(record.start);
                self.wait_for_call();
                self.next = LaneStep::Start;
                return Some(self.latest_key);
            }
            if let Some(step) = FunctionStep::of(&record) {
                self.latest_key = self.latest_key.max(record.start);
                self.next = LaneStep::Step(step);
                return Some(self.latest_key);
            }
            match record.function {
                define::COMM => {
                    let time = record.start;
                    if let Some(&id) = self.defined.next() {
                        self.define(time, LaneDefinition::Comm(id));
                    }
                }
                define::TYPE => {
                    if let Some(Definition::Type(t)) =
                        Definition::decode(define::TYPE, record.payload)
                    {
                        let definition = LaneDefinition::Type {
                            handle: t.handle,
                            size: u64::try_from(t.size).ok(),
                        };
                        let time = record.start;
                        self.define(time, definition);
                    }
                }
                define::GROUP => {
                    if let Some(Definition::Group(members)) =
                        Definition::decode(define::GROUP, record.payload)
                    {
                        self.call.group = members;
                    }
                }
                define::COUNTS => {
                    self.call.counts.clear();
                    self.call.counts.extend(counts::decode(record.payload));
                }
                define::ANNOTATION | define::SKIPPED => {
                    self.latest_key = self.latest_key.max(record.start);
                    self.next = LaneStep::Annotation;
                    return Some(self.latest_key);
                }
                define::GAP => {
                    self.latest_key = self.latest_key.max(record.start);
                    self.next = LaneStep::Gap;
                    return Some(self.latest_key);
                }
                define::THREAD_END if !self.frames.is_empty() || !self.begun.is_empty() => {
                    self.latest_key = self.latest_key.max(record.start);
                    self.next = LaneStep::ThreadEnd;
                    return Some(self.latest_key);
                }
                define::USER_EVENT if is_outside(&record) => {
                    self.event_payload.clear();
                    self.event_payload.extend_from_slice(record.payload);
                    self.latest_key = self.latest_key.max(record.start);
                    self.next = LaneStep::Event;
                    return Some(self.latest_key);
                }
                define::USER_EVENT => {
                    let event = (record.start, record.payload.to_vec());
                    self.early_events.push_back(event);
                }
                _ => {}
            }
        }
        // A call that never ended has no record after its events and definitions.
        let began = self.open.map_or(u64::MAX, |open| open.start);
        let event = self.early_events.front().map(|(start, _)| *start);
        let definition = self.early_definitions.front().map(|(time, _)| *time);
        if let Some(step) = self.next_early(
            event.filter(|start| *start < began),
            definition.filter(|time| *time < began),
        ) {
            return Some(step);
        }
        self.wait_for_call();
        // A call that was completed is in the records, too: then the process died before it could say that it is not open.
        if let Some(open) = self
            .open
            .take()
            .filter(|open| open.start >= self.latest_key)
        {
            self.latest_key = open.start;
            self.next = LaneStep::OpenStart(open);
            return Some(self.latest_key);
        }
        self.next = LaneStep::Nothing;
        (!self.call.pending.is_empty() || !self.frames.is_empty()).then_some(self.latest_key)
    }

    /// Ends the lane when there are no more records, at the end of all.
    pub fn close(&mut self) -> Option<u64> {
        self.next = LaneStep::Close;
        (!self.frames.is_empty()).then_some(u64::MAX)
    }

    /// Takes out what has begun at this position of [`Lane::begun`]. Of several with the same events at the same place, that which
    /// began first ends first, as in an SLOG2 file made of a CLOG2 file.
    pub fn take_begun(&mut self, position: usize) -> OpenAnnotation {
        let mut taken = self.begun.remove(position);
        for other in self.begun[..position].iter_mut().rev() {
            let is_alike = other.etypes == taken.etypes
                && (other.place.line, other.place.rank) == (taken.place.line, taken.place.rank);
            if is_alike {
                std::mem::swap(&mut other.start, &mut taken.start);
            }
        }
        taken
    }

    /// Goes to the first of the events that wait.
    fn next_event(&mut self, next: LaneStep) -> Option<u64> {
        let (start, event) = self.early_events.pop_front()?;
        self.event_payload = event;
        self.latest_key = self.latest_key.max(start);
        self.next = next;
        Some(self.latest_key)
    }

    /// A definition was written at `time`. One without a time belongs to the next call, if it is no copy: of a copy, the call is
    /// given up, too.
    fn define(&mut self, time: u64, definition: LaneDefinition) {
        match time {
            0 if !self.has_copies => self.call.pending.push(definition),
            _ => self.early_definitions.push_back((time, definition)),
        }
    }

    /// The definitions that are left were written in the call that the thread stands at.
    fn wait_for_call(&mut self) {
        let definitions = self.early_definitions.drain(..);
        self.call.pending.extend(definitions.map(|(_, d)| d));
    }

    /// Goes to the first event or the first definition that waits: to the earlier one, by these times of theirs.
    fn next_early(&mut self, event: Option<u64>, definition: Option<u64>) -> Option<u64> {
        match (event, definition) {
            (Some(event), definition) if definition.is_none_or(|time| event < time) => {
                self.next_event(LaneStep::Event)
            }
            (_, Some(_)) => {
                let (time, definition) = self.early_definitions.pop_front()?;
                self.call.pending.push(definition);
                self.latest_key = self.latest_key.max(time);
                self.next = LaneStep::Define;
                Some(self.latest_key)
            }
            _ => None,
        }
    }

    /// Whether no event and no definition waits for what follows it.
    #[inline]
    fn has_nothing_early(&self) -> bool {
        self.early_events.is_empty() && self.early_definitions.is_empty()
    }

    /// The record that the thread stands at, if no event waits for its turn and it is as it stands in its block.
    #[inline(always)] // as what it calls
    fn undisturbed(&self) -> Option<Record<'a>> {
        self.cursor
            .record_in_place()
            .filter(|_| self.early_events.is_empty())
    }

    /// Goes to what comes while the call runs that the cursor stands at, else to its end. Gives the time.
    #[inline]
    pub fn go_through(&mut self, key: u64) -> u64 {
        let stop = self.cursor.record().stop();
        if self
            .early_events
            .front()
            .is_some_and(|(start, _)| *start <= stop)
            && let Some(key) = self.next_event(LaneStep::EventInside)
        {
            return key;
        }
        self.next = LaneStep::Stop;
        self.stop_key(key)
    }

    /// The call that starts now, if nothing else happens in it.
    #[inline(always)] // as what it calls
    pub fn whole_call(&self) -> Option<Record<'a>> {
        self.undisturbed()
            .filter(|_| matches!(self.next, LaneStep::Start))
    }

    /// Goes past the end of `call`, the one that starts now, and then on as [`Lane::go_on`].
    #[inline]
    pub fn go_past(&mut self, call: &Record<'_>) -> Option<u64> {
        self.latest_key = self.latest_key.max(call.stop());
        self.go_on()
    }

    /// Goes to the next event while a call is open, in ticks.
    pub fn go_on_open(&mut self, open: OpenCall) -> u64 {
        match self.next_event(LaneStep::EventOpen(open)) {
            Some(key) => key,
            None => {
                self.next = LaneStep::OpenStop(open);
                u64::MAX
            }
        }
    }

    /// Time at which the call that started at `start` ends, ticks.
    #[inline]
    pub fn stop_key(&mut self, start: u64) -> u64 {
        self.latest_key = start.max(self.cursor.record().stop());
        self.latest_key
    }
}
