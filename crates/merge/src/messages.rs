//! Messages: who sends what to whom, and when it has arrived.
//!
//! What MPI_PROC_NULL gets, what failed and what was cancelled is no message.

use super::calls::ProcessWalk;
use super::posted_receives::CompletedReceive;
use super::request_operation::{ReceiveOperation, RequestMessages, SendOperation};
use blockfile::args::Array;
use blockfile::encode::MpiStatus;
use blockfile::record::Record as Call;
use trace_formats::clog2::{Clog2Msg, msg_etype};
use trace_model::requests::{RequestCall, RequestUse};
use unify::comms::CommId;
use unify::completion::{Completed, request_call};
use unify::endpoints::channel;
use unify::lanes::{MatchedMessage, StartedKind};
use unify::plan::{CallRole, FunctionPlan, ParameterIndex, RecvPart, SendPart};
use unify::wildcards::{ReceivedMessage, RequestStart, wildcard_messages};

impl ProcessWalk<'_> {
    /// At the start of a call that succeeded or got a message cut short: what it sends.
    #[inline]
    pub fn send_messages(
        &mut self,
        comm: Option<CommId>,
        thread: i32,
        plan: &FunctionPlan<'_>,
        call: &Call<'_>,
    ) {
        match plan.role {
            CallRole::Blocking | CallRole::Nonblocking { .. } => {
                if let Some(outgoing) = plan.send.and_then(|s| self.outgoing(plan, s, call))
                    && !self.cancelled.contains(&call.call)
                {
                    self.send(comm, thread, outgoing);
                }
            }
            CallRole::Start { requests } => {
                let by = request_call(call, thread);
                if let Some(handle) = plan.handle(call.payload, requests) {
                    self.start(by, handle);
                } else if let Some(args) = plan.decode(call.payload) {
                    for handle in args.array(requests).into_iter().flat_map(Array::ints) {
                        self.start(by, handle as u64);
                    }
                }
            }
            _ => {}
        }
    }

    /// At the end of a call: what it has received, and what its requests stand for from now on. `comm` is the communicator that the call names, and
    /// `message` the matched message that it receives.
    #[inline]
    pub fn receive_messages(
        &mut self,
        comm: Option<CommId>,
        message: Option<MatchedMessage>,
        thread: i32,
        plan: &FunctionPlan<'_>,
        call: &Call<'_>,
    ) {
        let comm = comm.or(message.map(|message| message.comm));
        let payload = call.payload;
        let by = request_call(call, thread);
        match plan.role {
            CallRole::Complete(completion) => {
                completion.each(plan, call, |done| self.complete(by, done));
            }
            // Nothing else does anything if it fails, but get a message that is longer than the room for it.
            _ if call.code != 0 && !plan.is_cut_short(call) => {}
            CallRole::Blocking => {
                if let Some(incoming) = plan.recv.map(|r| self.incoming(plan, r, call)) {
                    let status = plan.status.and_then(|i| plan.status(payload, i));
                    let posted = message.map(|message| message.posted);
                    self.receive((comm, posted), thread, incoming, status);
                }
            }
            CallRole::Nonblocking { request } => {
                let Some(handle) = plan.handle(payload, request) else {
                    return;
                };
                let number = self.numbers.make();
                match plan.recv.map(|r| self.incoming(plan, r, call)) {
                    // From MPI_PROC_NULL nothing comes, but a wildcard is negative, too.
                    Some(recv) if !self.is_null(recv.source) => {
                        let start = RequestStart::of(call.call);
                        let posted = match message {
                            Some(message) => message.posted,
                            None => self.posted.post(comm, recv.wanted(), start),
                        };
                        let operation = RequestMessages {
                            recv: Some(recv),
                            start,
                            posted,
                            ..RequestMessages::other(comm, number)
                        };
                        self.requests.insert(handle, operation, RequestUse::Own, by);
                    }
                    // The completion of a send shows nothing, but must not be taken for that of another thread's receive.
                    _ if self.follows_sends => {
                        let nothing = RequestMessages::other(comm, number);
                        self.requests
                            .insert(handle, nothing, RequestUse::Shared, by);
                    }
                    _ => self.requests.forget(handle, by),
                }
            }
            CallRole::Init { request } => {
                if let Some(handle) = plan.handle(payload, request) {
                    let prepared = match plan.is_collective {
                        true => self.numbers.prepare(),
                        false => 0,
                    };
                    let operation = RequestMessages {
                        prepared,
                        send: plan.send.and_then(|s| self.outgoing(plan, s, call)),
                        recv: plan.recv.map(|r| self.incoming(plan, r, call)),
                        start: RequestStart::of(call.call),
                        ..RequestMessages::other(comm, 0)
                    };
                    self.requests
                        .insert(handle, operation, RequestUse::Persistent, by);
                }
            }
            CallRole::Look(completion) => {
                completion.each(plan, call, |done| self.look(by, done));
            }
            CallRole::FreeRequest { request } => {
                if let Some(handle) = plan.handle(payload, request) {
                    self.requests.free(handle, by);
                }
            }
            CallRole::Cancel { request } => {
                let handle = plan.handle(payload, request);
                if let Some(operation) = handle.and_then(|handle| self.requests.get(handle, by)) {
                    self.posted.cancel(operation.posted);
                }
            }
            CallRole::OtherRequest { request } => {
                if let Some(handle) = plan.handle(payload, request) {
                    self.make_request(comm, handle, by);
                }
            }
            CallRole::Access { io, .. } if io.collective => {
                let request = plan.request();
                if let Some(handle) = request.and_then(|request| plan.handle(payload, request)) {
                    self.make_request(comm, handle, by);
                }
            }
            CallRole::Match { message, flag } => {
                let found = flag.is_none_or(|f| plan.int(payload, f) == Some(1));
                if let (true, Some(handle)) = (found, plan.handle(payload, message)) {
                    match comm {
                        Some(comm) => {
                            let posted = self.post_matched(comm, plan, call);
                            let message = MatchedMessage { comm, posted };
                            self.matched.insert(handle, message)
                        }
                        None => self.matched.remove(&handle),
                    };
                }
            }
            _ => {}
        }
    }

    /// A call has made a request for something that is no message.
    fn make_request(&mut self, comm: Option<CommId>, handle: u64, by: RequestCall) {
        if !self.schema.states.has_details() {
            self.requests.forget(handle, by);
            return;
        }
        let operation = RequestMessages::other(comm, self.numbers.make());
        self.requests
            .insert(handle, operation, RequestUse::Shared, by);
    }

    /// A message of this communicator was taken out of matching. Gives its number in the order in which receives are posted; 0 if its status does not tell the
    /// sender.
    fn post_matched(&mut self, comm: CommId, plan: &FunctionPlan<'_>, call: &Call<'_>) -> u64 {
        let status = plan.status.and_then(|i| plan.status(call.payload, i));
        match status {
            Some(status) if status.source >= 0 => {
                let (source, tag) = (status.source.into(), status.tag.into());
                let wanted = ReceivedMessage { source, tag };
                self.posted
                    .post(Some(comm), wanted, RequestStart::of(call.call))
            }
            _ => 0,
        }
    }

    fn is_null(&self, source: i64) -> bool {
        self.proc_null == source
    }

    fn outgoing(
        &self,
        plan: &FunctionPlan<'_>,
        send: SendPart,
        call: &Call<'_>,
    ) -> Option<SendOperation> {
        Some(SendOperation {
            dest: plan.int(call.payload, send.dest)?,
            tag: plan.int(call.payload, send.tag)?,
            bytes: self.bytes(plan, call, send.count, send.datatype, send.partitions),
        })
    }

    fn incoming(
        &self,
        plan: &FunctionPlan<'_>,
        recv: RecvPart,
        call: &Call<'_>,
    ) -> ReceiveOperation {
        let int = |i| plan.int(call.payload, i);
        let envelope = recv
            .envelope
            .and_then(|(source, tag)| int(source).zip(int(tag)));
        // Source and tag of a matched message come with the status.
        let (source, tag) = envelope.unwrap_or((self.any_source, -1));
        ReceiveOperation {
            source,
            tag,
            bytes: self.bytes(plan, call, recv.count, recv.datatype, recv.partitions),
            exact: recv.partitions.is_some(),
        }
    }

    fn bytes(
        &self,
        plan: &FunctionPlan<'_>,
        call: &Call<'_>,
        count: ParameterIndex,
        datatype: ParameterIndex,
        partitions: Option<ParameterIndex>,
    ) -> u64 {
        let number = |i| {
            plan.int(call.payload, i)
                .and_then(|n| u64::try_from(n).ok())
        };
        let size = plan
            .handle(call.payload, datatype)
            .and_then(|t| self.type_size(t));
        number(count)
            .unwrap_or(0)
            .saturating_mul(size.unwrap_or(0))
            .saturating_mul(partitions.map_or(1, |p| number(p).unwrap_or(0)))
    }

    /// Bytes of a datatype; `None` if they are not known. Programs use one for many calls.
    #[inline]
    fn type_size(&self, handle: u64) -> Option<u64> {
        if let Some((last, size)) = self.last_type.get()
            && last == handle
        {
            return size;
        }
        let size = self.library.type_size(handle);
        self.last_type.set(Some((handle, size)));
        size
    }

    /// A persistent operation is started.
    fn start(&mut self, by: RequestCall, handle: u64) {
        let Some(operation) = self.requests.start(handle, by, |operation| {
            operation.number = self.numbers.make();
            operation.start.starts += 1;
            operation.is_received = false;
            if let Some(recv) = operation.recv.filter(|recv| recv.source != self.proc_null) {
                let wanted = recv.wanted();
                operation.posted = self.posted.post(operation.comm, wanted, operation.start);
            }
        }) else {
            if let (true, Some(counts)) = (self.has_gap, &mut self.counts) {
                counts.cut_sends();
            }
            return;
        };
        if self.schema.states.has_details() {
            let kind = match operation {
                RequestMessages { prepared: 1.., .. } => {
                    StartedKind::Collective(operation.prepared)
                }
                RequestMessages { send: Some(_), .. } => StartedKind::Send,
                _ => StartedKind::Receive,
            };
            self.numbers.start(operation.number, kind);
        }
        if let Some(outgoing) = operation.send {
            self.send(operation.comm, by.thread, outgoing);
        }
    }

    /// A call has told that an operation is complete, and has left its request as it was. A receive ends there, as the program may free the request next
    /// and never complete it.
    fn look(&mut self, by: RequestCall, done: Completed) {
        let Some(status) = done.status else { return };
        if !self.requests.is_active(done.request, by) {
            return;
        }
        let operation = self.requests.get(done.request, by);
        let Some(operation) = operation.filter(|operation| !operation.is_received) else {
            return;
        };
        if let Some(incoming) = operation.recv {
            let set = |operation: &mut RequestMessages| operation.is_received = true;
            self.requests.change(done.request, by, set);
            let posted = (operation.comm, Some(operation.posted));
            self.receive(posted, by.thread, incoming, Some(status));
        }
    }

    /// An operation was completed.
    fn complete(&mut self, by: RequestCall, done: Completed) {
        let Some(operation) = self.requests.complete(done.request, by) else {
            if self.has_gap
                && let (Some(status), Some(counts)) = (done.status, &mut self.counts)
            {
                counts.cut_receives(status.tag);
            }
            return;
        };
        if self.schema.states.has_details() {
            self.numbers.complete(operation.number);
        }
        let is_cut_short = |status: MpiStatus| Some(i64::from(status.error)) == self.truncate_error;
        let has_received = done.worked || done.status.is_some_and(is_cut_short);
        let has_received = has_received && !operation.is_received;
        if let (Some(incoming), true) = (operation.recv, has_received) {
            let posted = (operation.comm, Some(operation.posted));
            self.receive(posted, by.thread, incoming, done.status);
        }
    }

    fn send(&mut self, comm: Option<CommId>, thread: i32, message: SendOperation) {
        if message.dest >= 0 {
            let (etype, tag) = (msg_etype::SEND, message.tag);
            let message = (message.dest, tag, message.bytes);
            self.message(comm, thread, (etype, 0), message);
        }
    }

    /// A receive is completed. `posted` is its number in the order of posting; `None` if one call posts and completes it.
    fn receive(
        &mut self,
        (comm, posted): (Option<CommId>, Option<u64>),
        thread: i32,
        asked: ReceiveOperation,
        status: Option<MpiStatus>,
    ) {
        let got = match status {
            Some(s) if s.cancelled => None,
            Some(s) if asked.may_get(s) => Some((s.source.into(), s.tag.into(), s.bytes)),
            _ => Some((asked.source, asked.tag, asked.bytes)),
        };
        let Some((source, tag, bytes)) = got.filter(|&(source, ..)| source >= 0) else {
            return self.posted.remove(posted.unwrap_or(0));
        };
        let (file, plans) = (self.file, &self.schema.plans);
        let receive = CompletedReceive {
            posted,
            comm,
            got: ReceivedMessage { source, tag },
        };
        let ahead = self.posted.complete(receive, || {
            self.wildcards
                .get_or_init(|| wildcard_messages(file, plans))
        });
        self.message(comm, thread, (msg_etype::RECV, ahead), (source, tag, bytes));
    }

    /// Rank of a partner as the timeline of the message has ranks: in its communicator, or in MPI_COMM_WORLD if that has no timeline of its own. `None`
    /// if there is no such rank.
    pub(super) fn shown_partner(&self, comm: CommId, partner: i64) -> Option<i32> {
        let partners = self.scan.comms.get(comm)?.partners();
        let rank = *partners.get(usize::try_from(partner).ok()?)?;
        // A message from outside MPI_COMM_WORLD has its other end in the trace of another one.
        match self.places.get(comm).folded {
            true => Some(rank).filter(|&rank| rank >= 0),
            false => i32::try_from(partner).ok(),
        }
    }

    /// A message is sent or received: its event, and by how many places a receive is ahead of its turn; partner, tag and bytes.
    pub(super) fn message(
        &mut self,
        comm: Option<CommId>,
        thread: i32,
        (etype, ahead): (i32, i32),
        (partner, tag, bytes): (i64, i64, u64),
    ) {
        // By its size, so that both ranks say the same, whichever of its two calls is there.
        if !self.library.wants_message(bytes) {
            self.notes.unwanted_messages += 1;
            return;
        }
        let place = comm.map(|id| (id, self.places.get(id)));
        let rank = comm.and_then(|id| self.shown_partner(id, partner));
        let (Some((_, place)), Some(rank)) = (place, rank) else {
            self.notes.unknown_messages += 1;
            return;
        };
        let is_send = etype == msg_etype::SEND;
        let (own, partner) = ([place.line, place.rank], [place.partner, rank]);
        let channel = || channel(is_send, own, partner, tag as i32);
        if let Some(counts) = &mut self.counts {
            counts.add(is_send, channel(), !self.is_matching_only);
            return;
        }
        if self.is_matching_only {
            return;
        }
        let lost = match (&mut self.drawn_endpoints, self.settings.drawn_endpoints) {
            (Some(chosen), _) => chosen.leaves_out(is_send, channel()),
            (None, drawn_endpoints) => drawn_endpoints.is_some(),
        };
        if lost {
            self.notes.unmatched_endpoints += 1;
            return;
        }
        if is_send && i32::try_from(bytes).is_err() {
            self.notes.large_messages += 1;
        }
        let message = Clog2Msg {
            etype,
            icomm: place.partner,
            rank,
            tag: tag as i32,
            size: i32::try_from(bytes).unwrap_or(i32::MAX),
        };
        // Of some channels not all messages are drawn, or those of several communicators stand in one.
        let is_whole = self.settings.drawn_endpoints.is_none() && !place.folded;
        let ahead = if is_whole { ahead } else { 0 };
        let header = self.header(place, thread);
        self.out.push_message(header, message, ahead);
    }
}
