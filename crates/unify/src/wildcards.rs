//! What receives with wildcards got: that is known only where they are completed.
//!
//! A walk over the process of its own, made only where a receive was completed while one that was posted earlier, and could have got the same message,
//! was still under way.

use super::completion::request_call;
use super::plan::{CallRole, FunctionPlan};
use super::timeline::each_call;
use blockfile::args::Array;
use blockfile::encode::MpiStatus;
use blockfile::file::BlockFile;
use blockfile::record::Record as Call;
use trace_model::hash::Map;
use trace_model::requests::{OutstandingRequests, RequestUse};

/// Source and tag of a message. Of a receive that is posted, negative ones are wildcards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedMessage {
    /// Rank of the sender in the communicator.
    pub source: i64,
    /// Tag of the message.
    pub tag: i64,
}

/// The start of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RequestStart {
    /// Counter of the call that made the request.
    pub call: u64,
    /// How often the request has been started, this time too; 0 if it is not persistent.
    pub starts: u32,
}

impl RequestStart {
    /// An operation of the call with this counter, before any start of its own.
    pub fn of(call: u64) -> RequestStart {
        RequestStart { call, starts: 0 }
    }
}

/// Messages that are remembered; beyond that a receive with a wildcard counts where it is completed.
const MAX_MESSAGES: usize = 1 << 18;

/// A receive that was posted.
#[derive(Clone, Copy, Debug)]
struct PostedReceive {
    start: RequestStart,
    /// Number of the receive in the order of posting; 0 before its start.
    number: u64,
    has_wildcard: bool,
}

/// The receives of a process in the order in which they were posted.
#[derive(Debug, Default)]
struct PostingOrder {
    /// Number of the receive that was posted last.
    posted: u64,
    /// Number of the one that was posted last of those that are complete.
    latest: u64,
    /// What receives with wildcards got that were completed behind one that was posted later.
    got: Map<RequestStart, ReceivedMessage>,
}

impl PostingOrder {
    /// A receive is posted. Gives its number, from 1.
    fn post(&mut self) -> u64 {
        self.posted += 1;
        self.posted
    }

    /// A receive is complete.
    fn complete(&mut self, receive: PostedReceive, status: Option<MpiStatus>) {
        if receive.has_wildcard
            && self.latest > receive.number
            && self.got.len() < MAX_MESSAGES
            && let Some(status) = status.filter(|status| !status.cancelled)
        {
            let (source, tag) = (status.source.into(), status.tag.into());
            let message = ReceivedMessage { source, tag };
            self.got.insert(receive.start, message);
        }
        self.latest = self.latest.max(receive.number);
    }
}

/// The messages of receives with wildcards that were completed behind a receive that was posted later.
pub fn wildcard_messages(
    file: &BlockFile<'_>,
    plans: &[FunctionPlan<'_>],
) -> Map<RequestStart, ReceivedMessage> {
    let mut receives: OutstandingRequests<PostedReceive> = OutstandingRequests::default();
    let mut all = PostingOrder::default();
    each_call(file, plans, |plan, call, thread| {
        let by = request_call(call, thread);
        match plan.role {
            CallRole::Complete(completion) => completion.each(plan, call, |done| {
                let Some(receive) = receives.complete(done.request, by) else {
                    return;
                };
                all.complete(receive, done.status);
            }),
            CallRole::Look(completion) if call.code == 0 => completion.each(plan, call, |done| {
                if !receives.is_active(done.request, by) {
                    return;
                }
                if let Some(receive) = receives.get(done.request, by) {
                    all.complete(receive, done.status);
                }
            }),
            _ if call.code != 0 && !plan.is_cut_short(call) => {}
            CallRole::Blocking if plan.recv.is_none() => {}
            CallRole::Blocking | CallRole::Match { .. } => {
                all.latest = all.post();
            }
            CallRole::Start { requests } => {
                let handle = plan.handle(call.payload, requests);
                let args = handle
                    .is_none()
                    .then(|| plan.decode(call.payload))
                    .flatten();
                let array = args.iter().filter_map(|args| args.array(requests));
                let handles = array.flat_map(Array::ints).map(|handle| handle as u64);
                for handle in handle.into_iter().chain(handles) {
                    receives.start(handle, by, |receive| {
                        receive.number = all.post();
                        receive.start.starts += 1;
                    });
                }
            }
            CallRole::Nonblocking { request } | CallRole::Init { request } => {
                let Some(handle) = plan.handle(call.payload, request) else {
                    return;
                };
                if plan.recv.is_none() {
                    return receives.forget(handle, by);
                }
                let mut receive = PostedReceive {
                    start: RequestStart::of(call.call),
                    number: 0,
                    has_wildcard: has_wildcard(plan, call),
                };
                let request_use = match plan.role {
                    CallRole::Init { .. } => RequestUse::Persistent,
                    _ => {
                        receive.number = all.post();
                        RequestUse::Own
                    }
                };
                receives.insert(handle, receive, request_use, by);
            }
            CallRole::FreeRequest { request } => {
                if let Some(handle) = plan.handle(call.payload, request) {
                    receives.free(handle, by);
                }
            }
            CallRole::OtherRequest { request } => {
                if let Some(handle) = plan.handle(call.payload, request) {
                    receives.forget(handle, by);
                }
            }
            _ => {}
        }
    });
    all.got
}

/// Whether the call posts a receive that leaves source or tag open.
fn has_wildcard(plan: &FunctionPlan<'_>, call: &Call<'_>) -> bool {
    let envelope = plan.recv.and_then(|receive| receive.envelope);
    envelope.is_some_and(|(source, tag)| {
        let is_open = |i| plan.int(call.payload, i).is_some_and(|value| value < 0);
        is_open(source) || is_open(tag)
    })
}
