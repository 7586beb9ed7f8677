//! One rank's records: what each of its calls sends, receives and completes.

use std::collections::HashMap;

use super::super::clock::{RecordAxis, RecordTicker};
use super::super::communicators::{Communicators, HandleNames, is_creation};
use super::super::completed::{CallArgs, completed};
use super::super::functions::{FUNCTION_ENTER, FUNCTION_EXIT, MAX_FIELDS};
use super::super::ids;
use super::super::read::DumpiReader;
use super::super::stream::DumpiRecords;
use super::super::types::DumpiRecord;
use super::super::value::{DumpiStatus, FieldValue};
use super::collective::bytes;
use super::messages::{MessageChannel, MessageEnd, MessagesUnderWay, ReceivePattern};
use super::on_communicators::RankLines;
use super::request_numbers::RequestNumbers;
use trace_model::Losses;
use trace_model::requests::{OutstandingRequests, RequestCall, RequestUse};

/// The next call of a rank and its times on the rank's clock, ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct NextCall<'a> {
    pub(super) record: DumpiRecord<'a>,
    pub(super) start: i64,
    pub(super) stop: i64,
    /// The call as requests see it, by the wall clock.
    pub(super) by: RequestCall,
}

/// Operation that a request stands for.
#[derive(Clone, Copy, Debug)]
enum RequestMeaning {
    /// A send that was made already; with its channel, unless it went to nobody.
    Sent(Option<(MessageChannel, u64)>),
    /// A receive that was posted.
    Posted { number: u64, wanted: ReceivePattern },
    /// A persistent send, with its size.
    SendInit {
        channel: Option<MessageChannel>,
        bytes: i64,
    },
    /// A persistent receive.
    RecvInit(Option<ReceivePattern>),
    /// Nothing that moves a message which can be followed.
    Other,
}

/// A rank on its way through its records.
#[derive(Debug)]
pub(super) struct RankWalk<'a> {
    /// World rank, and its place among the ranks that have a file.
    pub(super) rank: u32,
    pub(super) place: usize,
    records: DumpiRecords<'a>,
    ticker: RecordTicker,
    /// Times by the wall clock, whatever the trace is drawn by: they tell what overlaps.
    wall: RecordTicker,
    pub(super) next: Option<NextCall<'a>>,
    pub(super) failed: Option<super::super::DumpiError>,
    pub(super) names: HandleNames,
    /// The numbers by which infos name requests.
    pub(super) numbers: RequestNumbers,
    requests: OutstandingRequests<RequestMeaning>,
    /// Started persistent receives by request.
    started: HashMap<u64, (u64, ReceivePattern)>,
    cancelled: HashMap<u64, u32>,
    pub(super) sizes: Vec<i32>,
    /// By thread the regions that are open: key and start.
    pub(super) open: HashMap<u16, Vec<(u64, i64)>>,
    unknown_comms: u64,
}

/// Whether a rank names a process: it is neither MPI_PROC_NULL nor a wildcard.
fn process(rank: i32) -> bool {
    rank >= 0
}

const ANY: i32 = -1;

impl<'a> RankWalk<'a> {
    pub(super) fn new(rank: u32, place: usize, reader: &DumpiReader<'a>, axis: RecordAxis) -> Self {
        let mut walk = RankWalk {
            rank,
            place,
            records: reader.records(),
            ticker: RecordTicker::new(axis),
            wall: RecordTicker::new(RecordAxis::Wall),
            next: None,
            failed: None,
            names: HandleNames::default(),
            numbers: RequestNumbers::default(),
            requests: OutstandingRequests::default(),
            started: HashMap::new(),
            cancelled: HashMap::new(),
            sizes: reader.type_sizes().ok().flatten().unwrap_or_default(),
            open: HashMap::new(),
            unknown_comms: 0,
        };
        walk.advance();
        walk
    }

    pub(super) fn advance(&mut self) {
        self.next = match self.records.next() {
            None => None,
            Some(Ok(record)) => {
                let (start, stop) = self.ticker.times(&record);
                let (began, returned) = self.wall.times(&record);
                let by = RequestCall {
                    thread: i32::from(record.thread),
                    start: began,
                    stop: returned,
                };
                Some(NextCall {
                    record,
                    start,
                    stop,
                    by,
                })
            }
            Some(Err(error)) => {
                self.failed = Some(error);
                None
            }
        };
    }

    pub(super) fn losses(&self, losses: &mut Losses) {
        let what = "message on a communicator that cannot be followed";
        losses.add(what, self.unknown_comms);
    }

    /// Takes note of what a call does with messages. `shift` is added to times, `lines` are those of the rank.
    pub(super) fn take(
        &mut self,
        next: &NextCall<'_>,
        args: &[FieldValue<'_>; MAX_FIELDS],
        (shift, lines): (i64, &RankLines),
        comms: &Communicators,
        messages: &mut MessagesUnderWay,
    ) {
        let id = next.record.function.id;
        if id == FUNCTION_ENTER || id == FUNCTION_EXIT {
            return;
        }
        if is_creation(id) {
            self.names.take(&next.record);
            return;
        }
        let flow = Flow {
            start: next.start + shift,
            stop: next.stop + shift,
            lines,
            thread: next.record.thread,
            by: next.by,
        };
        self.take_transfer(id, CallArgs(args), &flow, comms, messages);
    }

    /// Takes note of a call that sends, receives or prepares either; hands any other on to [`RankWalk::take_request`].
    fn take_transfer(
        &mut self,
        id: u16,
        args: CallArgs<'_, '_>,
        flow: &Flow<'_>,
        comms: &Communicators,
        messages: &mut MessagesUnderWay,
    ) {
        match id {
            ids::SEND | ids::BSEND | ids::SSEND | ids::RSEND => {
                self.send(
                    args.int(2),
                    args.int(3),
                    args.int(4),
                    args.amount(0),
                    flow,
                    comms,
                    messages,
                );
            }
            ids::ISEND | ids::IBSEND | ids::ISSEND | ids::IRSEND => {
                let amount = args.amount(0);
                let sent = self.send(
                    args.int(2),
                    args.int(3),
                    args.int(4),
                    amount,
                    flow,
                    comms,
                    messages,
                );
                let (request, operation) = (args.request(5), RequestMeaning::Sent(sent));
                (self.requests).insert(request, operation, RequestUse::Shared, flow.by);
            }
            ids::RECV => {
                let wanted = self.wanted(args.int(2), args.int(3), args.int(4), comms);
                self.receive(
                    wanted,
                    args.status(5),
                    args.amount(0),
                    flow,
                    comms,
                    messages,
                );
            }
            ids::IRECV => {
                let operation = match self.wanted(args.int(2), args.int(3), args.int(4), comms) {
                    Some(wanted) => RequestMeaning::Posted {
                        number: messages.post(wanted),
                        wanted,
                    },
                    None => RequestMeaning::Other,
                };
                (self.requests).insert(args.request(5), operation, RequestUse::Own, flow.by);
            }
            ids::SEND_INIT | ids::BSEND_INIT | ids::SSEND_INIT | ids::RSEND_INIT => {
                let channel = self.channel(args.int(2), args.int(3), args.int(4), comms);
                let bytes = bytes(args.int(0), args.int(1), &self.sizes);
                let operation = RequestMeaning::SendInit { channel, bytes };
                let request = args.request(5);
                (self.requests).insert(request, operation, RequestUse::Persistent, flow.by);
            }
            ids::RECV_INIT => {
                let operation = RequestMeaning::RecvInit(self.wanted(
                    args.int(2),
                    args.int(3),
                    args.int(4),
                    comms,
                ));
                let request = args.request(5);
                (self.requests).insert(request, operation, RequestUse::Persistent, flow.by);
            }
            ids::START => self.start(args.request(0), flow, messages),
            ids::STARTALL => {
                if let FieldValue::Ints(requests) = args.0[1] {
                    for request in requests.iter() {
                        self.start(request as u32 as u64, flow, messages);
                    }
                }
            }
            ids::SENDRECV => {
                self.send(
                    args.int(2),
                    args.int(3),
                    args.int(8),
                    args.amount(0),
                    flow,
                    comms,
                    messages,
                );
                let wanted = self.wanted(args.int(6), args.int(7), args.int(8), comms);
                self.receive(
                    wanted,
                    args.status(9),
                    args.amount(4),
                    flow,
                    comms,
                    messages,
                );
            }
            ids::SENDRECV_REPLACE => {
                self.send(
                    args.int(2),
                    args.int(3),
                    args.int(6),
                    args.amount(0),
                    flow,
                    comms,
                    messages,
                );
                let wanted = self.wanted(args.int(4), args.int(5), args.int(6), comms);
                self.receive(
                    wanted,
                    args.status(7),
                    args.amount(0),
                    flow,
                    comms,
                    messages,
                );
            }
            _ => self.take_request(id, args, flow, comms, messages),
        }
    }

    /// Takes note of a call that completes, cancels or frees requests, or makes one that moves no message.
    fn take_request(
        &mut self,
        id: u16,
        args: CallArgs<'_, '_>,
        flow: &Flow<'_>,
        comms: &Communicators,
        messages: &mut MessagesUnderWay,
    ) {
        for (request, status) in completed(id, args.0) {
            self.complete(request, status, flow, comms, messages);
        }
        match id {
            ids::REQUEST_FREE => {
                let request = args.request(0);
                if let Some(RequestMeaning::Posted { number, wanted }) =
                    self.requests.free(request, flow.by)
                {
                    messages.forget(number, &wanted);
                }
                if let Some((number, wanted)) = self.started.remove(&request) {
                    messages.forget(number, &wanted);
                }
            }
            ids::CANCEL => *self.cancelled.entry(args.request(0)).or_default() += 1,
            // Any other call that gives a request back.
            ids::GREQUEST_START => {
                let operation = RequestMeaning::Other;
                self.requests
                    .insert(args.request(0), operation, RequestUse::Own, flow.by);
            }
            _ => {}
        }
    }

    /// The channel of a message to `dest`; `None` if it goes to nobody or cannot be followed.
    fn channel(
        &mut self,
        dest: i32,
        tag: i32,
        comm: i32,
        comms: &Communicators,
    ) -> Option<MessageChannel> {
        if !process(dest) {
            return None;
        }
        let index = comms.index(self.place, self.names.comm(comm));
        let found = index.and_then(|comm| {
            Some(MessageChannel {
                comm,
                source: self.rank,
                dest: comms.world_rank(comm, self.rank, dest)?,
                tag,
            })
        });
        self.unknown_comms += u64::from(found.is_none());
        found
    }

    #[allow(clippy::too_many_arguments)] // those of the call
    fn send(
        &mut self,
        dest: i32,
        tag: i32,
        comm: i32,
        (count, datatype): (i32, i32),
        flow: &Flow<'_>,
        comms: &Communicators,
        messages: &mut MessagesUnderWay,
    ) -> Option<(MessageChannel, u64)> {
        let channel = self.channel(dest, tag, comm, comms)?;
        let bytes = bytes(count, datatype, &self.sizes);
        Some((
            channel,
            messages.send(channel, flow.sent(channel.comm, bytes)),
        ))
    }

    /// Messages that a receive may take; `None` if none, or if its communicator cannot be followed.
    fn wanted(
        &self,
        source: i32,
        tag: i32,
        comm: i32,
        comms: &Communicators,
    ) -> Option<ReceivePattern> {
        let comm = comms.index(self.place, self.names.comm(comm))?;
        let source = match source {
            ANY => None,
            source => Some(comms.world_rank(comm, self.rank, source)?),
        };
        Some(ReceivePattern {
            comm,
            source,
            dest: self.rank,
            tag: Some(tag).filter(|tag| *tag != ANY),
        })
    }

    /// A receive that is complete when it returns.
    fn receive(
        &mut self,
        wanted: Option<ReceivePattern>,
        status: Option<DumpiStatus>,
        (count, datatype): (i32, i32),
        flow: &Flow<'_>,
        comms: &Communicators,
        messages: &mut MessagesUnderWay,
    ) {
        if let Some(wanted) = wanted {
            let number = messages.post(wanted);
            let bytes = bytes(count, datatype, &self.sizes);
            self.arrive(number, &wanted, status, bytes, flow, comms, messages);
        }
    }

    fn start(&mut self, request: u64, flow: &Flow<'_>, messages: &mut MessagesUnderWay) {
        match self.requests.start(request, flow.by, |_| {}) {
            Some(RequestMeaning::SendInit {
                channel: Some(channel),
                bytes,
            }) => {
                messages.send(channel, flow.sent(channel.comm, bytes));
            }
            Some(RequestMeaning::RecvInit(Some(wanted))) => {
                let number = messages.post(wanted);
                if let Some((number, wanted)) = self.started.insert(request, (number, wanted)) {
                    messages.forget(number, &wanted);
                }
            }
            _ => {}
        }
    }

    fn complete(
        &mut self,
        request: u64,
        status: Option<DumpiStatus>,
        flow: &Flow<'_>,
        comms: &Communicators,
        messages: &mut MessagesUnderWay,
    ) {
        let operation = self.requests.complete(request, flow.by);
        let cancelled = match status {
            Some(status) => status.cancelled != 0,
            // Without a status, a request that the program tried to cancel is taken to be cancelled.
            None => self.cancelled.contains_key(&request),
        };
        if let Some(tries) = self.cancelled.get_mut(&request) {
            *tries -= 1;
            if *tries == 0 {
                self.cancelled.remove(&request);
            }
        }
        let posted = match operation {
            Some(RequestMeaning::Posted { number, wanted }) => Some((number, wanted)),
            Some(RequestMeaning::RecvInit(_)) => self.started.remove(&request),
            Some(RequestMeaning::Sent(Some((channel, number)))) if cancelled => {
                messages.cancel_send(channel, number);
                None
            }
            _ => None,
        };
        let Some((number, wanted)) = posted else {
            return;
        };
        if cancelled {
            messages.cancel(number, &wanted);
        } else {
            self.arrive(number, &wanted, status, 0, flow, comms, messages);
        }
    }

    /// A message has come to a receive.
    #[allow(clippy::too_many_arguments)] // of which most are passed on
    fn arrive(
        &self,
        number: u64,
        wanted: &ReceivePattern,
        status: Option<DumpiStatus>,
        bytes: i64,
        flow: &Flow<'_>,
        comms: &Communicators,
        messages: &mut MessagesUnderWay,
    ) {
        let source = match (wanted.source, status) {
            (Some(source), _) => Some(source),
            (None, Some(status)) if process(status.source) => {
                comms.world_rank(wanted.comm, self.rank, status.source)
            }
            (None, Some(_)) => None,
            (None, None) => None,
        };
        let tag = wanted.tag.or(status.map(|status| status.tag));
        let end = MessageEnd {
            ns: flow.stop,
            line: flow.line(wanted.comm),
            bytes: status.map_or(bytes, |status| status.bytes.into()),
        };
        let (Some(source), Some(tag)) = (source, tag) else {
            match status {
                // From nobody.
                Some(_) => messages.cancel(number, wanted),
                None => messages.unknown(number, wanted, end),
            }
            return;
        };
        let taken = MessageChannel {
            comm: wanted.comm,
            source,
            dest: wanted.dest,
            tag,
        };
        let told = status.map(|status| i64::from(status.bytes));
        messages.complete(number, wanted, taken, (end, told));
    }
}

/// When and where a call was.
struct Flow<'l> {
    start: i64,
    stop: i64,
    lines: &'l RankLines,
    thread: u16,
    by: RequestCall,
}

impl Flow<'_> {
    /// The end of a message that the call sends on the communicator with this index.
    fn sent(&self, comm: u32, bytes: i64) -> MessageEnd {
        MessageEnd {
            ns: self.start,
            line: self.line(comm),
            bytes,
        }
    }

    fn line(&self, comm: u32) -> i32 {
        self.lines.line(self.thread, comm)
    }
}
