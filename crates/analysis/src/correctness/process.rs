//! What one process has: requests with their operations, objects that it has to free, files and windows.

use super::call::{
    AskedMessage, Call, CallPlace, CommKey, ObjectKind, Peer, ReceivedStatus, Signature,
};
use super::collective::{Arrival, OperationNumber};
use super::left::LeftObjects;
use super::message::{MessageChannel, MessageEnd};
use super::pass::CorrectnessPass;
use super::role::{CollectiveOn, comes_together_on};
use std::collections::BTreeMap;
use trace_model::hash::Map;
use trace_model::requests::{OutstandingRequests, RequestCall, RequestUse};
use wrappers::{Class, Function};

/// The operation that a request stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    /// The call that made the request.
    pub made: CallPlace,
    /// The call that began the operation: of a persistent request the latest that started it.
    pub place: CallPlace,
    pub send: Option<AskedMessage>,
    pub receive: Option<AskedMessage>,
    /// Whether it is a send that ends only when it is received.
    pub is_synchronous: bool,
    /// Whether it is a send that waits for nobody, as its message is put into a buffer of the program.
    pub is_buffered: bool,
    /// Of a collective one, the communicator and the number on it.
    pub collective: Option<OperationNumber>,
    /// Of a persistent collective one, what ranks come together on when they start it.
    pub started_on: Option<CommKey>,
    /// Of a receive of a message that a matched probe has taken, the begin of the probe, seconds.
    pub probed: Option<f64>,
    /// Whether the program has asked to cancel it.
    pub is_cancelled: bool,
}

impl Operation {
    /// When the message of a receive could first go to it, seconds.
    pub(super) fn posted(&self) -> f64 {
        self.probed.unwrap_or(self.place.start)
    }
}

/// A message that a matched probe has taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbedMessage {
    /// The message: of a known sender and with a known tag, as far as the trace tells.
    pub asked: AskedMessage,
    /// Begin of the probe, seconds.
    pub start: f64,
}

/// Receives of a process that are kept which the program has freed before they were complete.
const MAX_FREED: usize = 1 << 16;

/// A process as far as its calls have been looked at.
#[derive(Debug)]
pub struct ProcessState {
    rank: u32,
    requests: OutstandingRequests<Operation>,
    /// Objects that are there: where the first of a handle was made, and how many have the handle.
    objects: Map<(ObjectKind, u64), (CallPlace, u64)>,
    /// By handle, messages that matched probes have taken and that no receive has got.
    matched: Map<u64, ProbedMessage>,
    /// Receives that the program has freed before they were complete: they receive all the same.
    freed: Vec<Operation>,
    /// By handle, files and windows: the communicators that their collective calls are matched on, and when they were made, seconds. A handle that is
    /// freed may be given to another thread before the call that frees it has returned.
    shared: Map<(ObjectKind, u64), Vec<(CommKey, f64)>>,
    /// By communicator, files and windows made on it.
    made_on: Map<(ObjectKind, CommKey), u32>,
    /// Whether it has called MPI_Finalize, or ended the last of its sessions without having called MPI_Init.
    pub has_finalized: bool,
    /// Whether it has put attributes on communicators that live until MPI_Finalize, which calls their callbacks.
    pub(super) has_attributes: bool,
    has_initialized: bool,
    /// Number of its sessions that have not ended.
    sessions: u32,
}

impl ProcessState {
    /// A process of this rank that has done nothing.
    pub fn new(rank: u32) -> ProcessState {
        ProcessState {
            rank,
            requests: OutstandingRequests::default(),
            objects: Map::default(),
            matched: Map::default(),
            freed: Vec::new(),
            shared: Map::default(),
            made_on: Map::default(),
            has_finalized: false,
            has_attributes: false,
            has_initialized: false,
            sessions: 0,
        }
    }

    /// Rank in MPI_COMM_WORLD.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Takes the next call in order of completion.
    pub fn take(&mut self, call: &Call<'_>, pass: &mut CorrectnessPass) {
        pass.counts.calls += 1;
        if let Some(code) = call.code.filter(|&code| code != 0)
            && call.function.class != Class::Tool
        {
            let class = pass
                .error_names
                .get(&code)
                .map_or(code, |(class, _)| *class);
            pass.failures.add(call.place, class, code);
        }
        match call.function.class {
            Class::Init => self.has_initialized = true,
            Class::Finalize => self.has_finalized = true,
            Class::Session if call.worked() => self.count_sessions(&call.function.name),
            Class::Send | Class::Recv | Class::Sendrecv => self.transfer(call, pass),
            _ => {}
        }
        let collective = self.come_together(call, pass);
        if !call.worked() {
            // Of a call that failed, some operations may be complete.
            self.complete(call, pass);
            return;
        }
        let sets_attribute =
            ["MPI_Comm_set_attr", "MPI_Attr_put"].contains(&call.function.name.as_str());
        if sets_attribute && call.comm.is_some_and(|comm| pass.is_predefined(comm)) {
            self.has_attributes = true;
        }
        self.make(call, collective, pass);
        for &request in &call.starts {
            let known = self.requests.get(request, request_call(call));
            let collective = known.and_then(|known| self.come_to_start(call.place, &known, pass));
            let started = self
                .requests
                .start(request, request_call(call), |operation| {
                    operation.place = call.place;
                    operation.is_cancelled = false;
                    operation.collective = collective.or(operation.collective);
                });
            if let Some(operation) = started {
                self.send(call.place, operation.send, pass);
            }
        }
        self.complete(call, pass);
        if let Some(said) = call.window
            && let Some(window) = self.shared_on(call.on, call.place.start)
            && let Some(caller) = pass.window_caller(window, self.rank, &call.function.name, said)
        {
            pass.one_sided.take(caller);
        }
        if let Some(request) = call.cancels {
            let cancel = |operation: &mut Operation| operation.is_cancelled = true;
            self.requests.change(request, request_call(call), cancel);
        }
        if let Some((kind, handle)) = call.frees {
            self.free(call, kind, handle, pass);
        }
    }

    /// A call of the function `name`, which may begin or end a session, has worked.
    fn count_sessions(&mut self, name: &str) {
        match name {
            "MPI_Session_init" => {
                self.sessions = self.sessions.saturating_add(1);
                self.has_finalized = false;
            }
            "MPI_Session_finalize" => {
                self.sessions = self.sessions.saturating_sub(1);
                self.has_finalized = self.sessions == 0 && !self.has_initialized;
            }
            _ => {}
        }
    }

    /// The process starts an operation, and comes together with other ranks if that is a collective one.
    fn come_to_start(
        &self,
        place: CallPlace,
        operation: &Operation,
        pass: &mut CorrectnessPass,
    ) -> Option<OperationNumber> {
        // The operation tells what is done, whatever function starts it.
        let place = CallPlace {
            function: operation.made.function,
            ..place
        };
        let signature = Signature::default();
        pass.come(
            operation.started_on?,
            self.rank,
            Arrival { place, signature },
        )
    }

    /// A blocking call sends, receives, or both.
    fn transfer(&mut self, call: &Call<'_>, pass: &mut CorrectnessPass) {
        if call.worked() {
            self.send(call.place, call.send, pass);
        }
        let matched = call
            .message
            .and_then(|message| self.matched.remove(&message));
        if let Some(asked) = call.receive.map(|asked| received(asked, matched)) {
            self.receive(call.place, asked, call.status, !call.worked(), pass);
        }
    }

    /// A message leaves the process.
    fn send(&self, place: CallPlace, asked: Option<AskedMessage>, pass: &mut CorrectnessPass) {
        if let Some((channel, bytes)) =
            asked.and_then(|asked| Some((self.sent_on(asked, pass)?, asked.bytes)))
        {
            let failed = false;
            pass.messages.add(
                channel,
                MessageEnd {
                    place,
                    bytes,
                    failed,
                },
                true,
            );
        }
    }

    /// Channel of a message that the process sends; `None` where there is none or the receiver is not known.
    fn sent_on(&self, asked: AskedMessage, pass: &CorrectnessPass) -> Option<MessageChannel> {
        let Peer::Rank(to) = asked.peer else {
            return None;
        };
        Some(MessageChannel {
            comm: pass.channel_of(asked.comm),
            from: self.rank,
            to: pass.partner(asked.comm, to)?,
            tag: asked.tag?,
        })
    }

    /// A receive has ended.
    fn receive(
        &self,
        place: CallPlace,
        asked: AskedMessage,
        status: Option<ReceivedStatus>,
        failed: bool,
        pass: &mut CorrectnessPass,
    ) {
        let is_no_message = |status: ReceivedStatus| {
            // A receive from MPI_PROC_NULL may be told as one from anybody: only its status tells them apart.
            status.cancelled || asked.peer == Peer::Anybody && status.is_from_nobody && !failed
        };
        if asked.peer == Peer::Nobody || status.is_some_and(is_no_message) {
            return;
        }
        // The status of a failed call may be anything, and MPICH 4.0 leaves that of MPI_Isendrecv as it was.
        let fits = |status: &ReceivedStatus| {
            let source = match asked.peer {
                Peer::Rank(rank) => rank == status.source,
                _ => status.source >= 0,
            };
            source && asked.tag.is_none_or(|tag| tag == status.tag)
        };
        let status = status.filter(fits);
        let source = match (asked.peer, status) {
            (Peer::Rank(rank), _) => Some(rank),
            (_, Some(status)) => Some(status.source),
            _ => None,
        };
        let tag = asked.tag.or(status.map(|status| status.tag));
        let from = source.and_then(|source| pass.partner(asked.comm, source));
        let comm = pass.channel_of(asked.comm);
        match from.zip(tag) {
            Some((from, tag)) => {
                let channel = MessageChannel {
                    comm,
                    from,
                    to: self.rank,
                    tag,
                };
                let bytes = asked.bytes;
                let end = MessageEnd {
                    place,
                    bytes,
                    failed,
                };
                pass.messages.add(channel, end, false);
            }
            None => pass.messages.add_unknown_receive(comm, self.rank),
        }
    }

    /// The process comes to a collective call. Gives the operation.
    fn come_together(
        &mut self,
        call: &Call<'_>,
        pass: &mut CorrectnessPass,
    ) -> Option<OperationNumber> {
        let comm = self.comes_on(call.function, call.comm, call.on, call.place.start)?;
        let arrival = Arrival {
            place: call.place,
            signature: call.signature,
        };
        let operation = pass.come(comm, self.rank, arrival)?;
        if !call.worked() {
            pass.collectives.end_after(operation);
        }
        Some(operation)
    }

    /// Communicator that stands for a file or window which a call names that began at this time.
    pub(super) fn shared_on(&self, on: Option<(ObjectKind, u64)>, began: f64) -> Option<CommKey> {
        let known = self.shared.get(&on?)?;
        let made_before = known.iter().rfind(|(_, made)| *made <= began);
        made_before.or(known.last()).map(|(key, _)| *key)
    }

    /// Communicator on which a call that began at this time comes together with those of other ranks.
    pub(super) fn comes_on(
        &self,
        function: &Function,
        comm: Option<CommKey>,
        on: Option<(ObjectKind, u64)>,
        began: f64,
    ) -> Option<CommKey> {
        match comes_together_on(function)? {
            CollectiveOn::Communicator => comm,
            CollectiveOn::Object => self.shared_on(on, began),
        }
    }

    /// Notes what a call has made.
    fn make(
        &mut self,
        call: &Call<'_>,
        collective: Option<OperationNumber>,
        pass: &mut CorrectnessPass,
    ) {
        for &(kind, handle) in &call.creates {
            if kind == ObjectKind::Request {
                self.make_request(call, handle, collective, pass);
                continue;
            }
            let known = self.objects.entry((kind, handle));
            let known = known.or_insert((call.place, 0));
            if known.1 == 0 {
                known.0 = call.place;
            }
            known.1 += 1;
            if matches!(kind, ObjectKind::File | ObjectKind::Window)
                && let Some(comm) = call.comm
            {
                let nth = self.made_on.entry((kind, comm)).or_default();
                *nth += 1;
                let shared = pass.shared_object(kind, comm, *nth);
                let known = self.shared.entry((kind, handle)).or_default();
                known.push((shared, call.end));
            }
        }
        if call.function.class == Class::Probe
            && let (Some(message), Some(comm)) = (call.message, call.comm)
        {
            let asked = call.receive.unwrap_or(AskedMessage {
                comm,
                peer: Peer::Anybody,
                tag: None,
                bytes: None,
            });
            let asked = match call.status {
                Some(status) if status.source >= 0 => AskedMessage {
                    peer: Peer::Rank(status.source),
                    tag: Some(status.tag),
                    ..asked
                },
                _ => asked,
            };
            let start = call.place.start;
            self.matched.insert(message, ProbedMessage { asked, start });
        }
    }

    fn make_request(
        &mut self,
        call: &Call<'_>,
        handle: u64,
        collective: Option<OperationNumber>,
        pass: &mut CorrectnessPass,
    ) {
        let matched = call
            .message
            .and_then(|message| self.matched.remove(&message));
        let operation = Operation {
            made: call.place,
            place: call.place,
            send: call.send,
            receive: call.receive.map(|asked| received(asked, matched)),
            is_buffered: is_buffered(call.function),
            is_synchronous: call.function.name.to_ascii_lowercase().contains("ssend"),
            collective,
            started_on: None,
            probed: matched.map(|message| message.start),
            is_cancelled: false,
        };
        let handle_use = match call.function.class {
            Class::SendInit
            | Class::RecvInit
            | Class::PsendInit
            | Class::PrecvInit
            | Class::CollectiveInit
            | Class::NeighborInit => RequestUse::Persistent,
            Class::Isend => RequestUse::Shared,
            // Libraries give one request to all operations that were complete when they began.
            _ if operation
                .receive
                .is_none_or(|asked| asked.peer == Peer::Nobody) =>
            {
                RequestUse::Shared
            }
            _ => RequestUse::Own,
        };
        let operation = Operation {
            started_on: operation
                .collective
                .filter(|_| handle_use == RequestUse::Persistent)
                .map(|made| pass.started_together(made)),
            ..operation
        };
        self.requests
            .insert(handle, operation, handle_use, request_call(call));
        if handle_use != RequestUse::Persistent {
            self.send(call.place, call.send, pass);
        }
    }

    /// Operations are complete.
    fn complete(&mut self, call: &Call<'_>, pass: &mut CorrectnessPass) {
        for done in &call.completes {
            let Some(operation) = self.requests.complete(done.request, request_call(call)) else {
                continue;
            };
            let is_send_cancelled = match done.status {
                Some(status) => status.cancelled,
                // Nobody knows: it is not called lost.
                None => operation.is_cancelled,
            };
            match operation.receive {
                Some(asked) if operation.is_cancelled && done.status.is_none() => {
                    self.receive_unknown(asked, pass);
                }
                Some(asked) => {
                    self.receive(operation.place, asked, done.status, !done.worked, pass);
                }
                None if is_send_cancelled => self.cancel_send(&operation, pass),
                None => {}
            }
        }
    }

    /// A send was cancelled, or may have been: its message is not waited for.
    fn cancel_send(&self, operation: &Operation, pass: &mut CorrectnessPass) {
        let channel = operation.send.and_then(|asked| self.sent_on(asked, pass));
        if let Some(channel) = channel {
            pass.messages.cancel(channel);
        }
    }

    /// A receive got a message, or may have got one, of which the trace does not tell which.
    fn receive_unknown(&self, asked: AskedMessage, pass: &mut CorrectnessPass) {
        if asked.peer != Peer::Nobody {
            let comm = pass.channel_of(asked.comm);
            pass.messages.add_unknown_receive(comm, self.rank);
        }
    }

    fn free(&mut self, call: &Call<'_>, kind: ObjectKind, handle: u64, pass: &mut CorrectnessPass) {
        if kind == ObjectKind::Request {
            let is_active = self.requests.is_active(handle, request_call(call));
            let freed = self.requests.free(handle, request_call(call));
            let Some(operation) = freed.filter(|_| is_active) else {
                return;
            };
            if operation.is_cancelled {
                self.cancel_send(&operation, pass);
            }
            // It may still receive.
            if let Some(asked) = operation.receive {
                self.receive_unknown(asked, pass);
                if asked.peer != Peer::Nobody
                    && !operation.is_cancelled
                    && self.freed.len() < MAX_FREED
                {
                    self.freed.push(operation);
                }
            }
            return;
        }
        if let Some(known) = self.objects.get_mut(&(kind, handle)) {
            known.1 = known.1.saturating_sub(1);
            if known.1 == 0 {
                self.objects.remove(&(kind, handle));
            }
        }
        if let Some(known) = self.shared.get_mut(&(kind, handle)) {
            known.retain(|(_, made)| *made > call.place.start);
            if known.is_empty() {
                self.shared.remove(&(kind, handle));
            }
        }
    }

    /// The operation of a request that a call waits for.
    pub(super) fn operation(&self, request: u64) -> Option<Operation> {
        self.requests.current(request)
    }

    /// Receives that the program has freed before they were complete.
    pub(super) fn freed_receives(&self) -> &[Operation] {
        &self.freed
    }

    /// Messages that matched probes have taken and that no receive has got, in no order.
    pub(super) fn probed_messages(&self) -> impl Iterator<Item = ProbedMessage> {
        self.matched.values().copied()
    }

    /// Operations that are not complete, in no order.
    pub(super) fn operations(&self) -> Vec<Operation> {
        self.requests.active().collect()
    }

    /// What is left at the end, by kind and the function that made it.
    pub(super) fn left(&self) -> Vec<LeftObjects> {
        let mut left: BTreeMap<(ObjectKind, u32), LeftObjects> = BTreeMap::new();
        let mut add = |kind, place: CallPlace, count: u64| {
            let known = left.entry((kind, place.function.0));
            let known = known.or_insert(LeftObjects {
                kind,
                first: place,
                count: 0,
            });
            known.count += count;
            if place.start < known.first.start {
                known.first = place;
            }
        };
        for operation in self.requests.values() {
            add(ObjectKind::Request, operation.made, 1);
        }
        for (&(kind, _), &(place, count)) in &self.objects {
            add(kind, place, count);
        }
        left.into_values().collect()
    }
}

/// Whether a function sends from a buffer of the program (MPI_Bsend and its kind).
pub(super) fn is_buffered(function: &Function) -> bool {
    function.name.to_ascii_lowercase().contains("bsend")
}

/// What a call receives that asks for this, if a matched probe has taken the message before.
fn received(asked: AskedMessage, matched: Option<ProbedMessage>) -> AskedMessage {
    matched.map_or(asked, |message| AskedMessage {
        bytes: asked.bytes,
        ..message.asked
    })
}

/// The call as requests see it, in nanoseconds.
fn request_call(call: &Call<'_>) -> RequestCall {
    let ns = |seconds: f64| (seconds * 1e9) as i64;
    RequestCall {
        thread: i32::try_from(call.place.thread).unwrap_or(i32::MAX),
        start: ns(call.place.start),
        stop: ns(call.end),
    }
}
