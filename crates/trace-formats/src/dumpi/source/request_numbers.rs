//! Numbers of the requests of a rank, by which infos say what a call starts and completes.

use super::super::completed::{CallArgs, completed};
use super::super::functions::MAX_FIELDS;
use super::super::ids;
use super::super::value::FieldValue;
use trace_model::requests::{OutstandingRequests, RequestCall, RequestUse};

/// Numbers of the requests of a rank: those that the call has to do with that is looked at.
///
/// The handles in a file do not tell requests apart: both MPIs give one handle to all sends that are complete when they begin.
#[derive(Debug, Default)]
pub(super) struct RequestNumbers {
    /// Number of the last request; the first has 1.
    last: u32,
    outstanding: OutstandingRequests<u32>,
    /// The request that the call makes, starts, frees or asks for; 0 if there is none.
    pub(super) request: u32,
    /// The requests that the call completes, in order.
    pub(super) completed: Vec<u32>,
}

/// Whether a handle stands for no request: an error or MPI_REQUEST_NULL (`spec/dumpi.md` section 6).
fn is_null(handle: u64) -> bool {
    handle <= 1
}

/// A source below that of MPI_ANY_SOURCE, which is none: a receive from it is complete when it begins.
const BELOW_ANY: i32 = -2;

impl RequestNumbers {
    /// Takes note of a call of a function other than Function_enter and Function_exit.
    pub(super) fn take(&mut self, id: u16, args: &[FieldValue<'_>; MAX_FIELDS], by: RequestCall) {
        self.request = 0;
        self.completed.clear();
        for (handle, _) in completed(id, args) {
            self.complete(handle, by);
        }
        self.completed.sort_unstable();
        let args = CallArgs(args);
        let (at, handle_use) = match id {
            ids::ISEND | ids::IBSEND | ids::ISSEND | ids::IRSEND => (5, RequestUse::Shared),
            ids::IRECV if args.int(2) <= BELOW_ANY => (5, RequestUse::Shared),
            ids::IRECV => (5, RequestUse::Own),
            ids::SEND_INIT
            | ids::BSEND_INIT
            | ids::SSEND_INIT
            | ids::RSEND_INIT
            | ids::RECV_INIT => (5, RequestUse::Persistent),
            ids::GREQUEST_START => (0, RequestUse::Own),
            ids::START => {
                self.request = self.start(args.request(0), by);
                return;
            }
            ids::STARTALL => {
                if let FieldValue::Ints(handles) = args.0[1] {
                    for handle in handles.iter() {
                        self.start(u64::from(handle as u32), by);
                    }
                }
                return;
            }
            ids::REQUEST_FREE => {
                let freed = self.outstanding.free(args.request(0), by);
                self.request = freed.unwrap_or(0);
                return;
            }
            ids::CANCEL | ids::GREQUEST_COMPLETE | ids::REQUEST_GET_STATUS => {
                let found = self.outstanding.get(args.request(0), by);
                self.request = found.unwrap_or(0);
                return;
            }
            _ => return,
        };
        self.request = self.make();
        let (handle, number) = (args.request(at), self.request);
        self.outstanding.insert(handle, number, handle_use, by);
    }

    fn make(&mut self) -> u32 {
        self.last = self.last.wrapping_add(1);
        self.last
    }

    /// Starts a persistent operation. Gives the number of its request, or 0 if the call that made it is not in the file.
    fn start(&mut self, handle: u64, by: RequestCall) -> u32 {
        let number = self.outstanding.start(handle, by, |_| {});
        number.unwrap_or(0)
    }

    fn complete(&mut self, handle: u64, by: RequestCall) {
        if is_null(handle) {
            return;
        }
        match self.outstanding.complete(handle, by) {
            Some(number) => self.completed.push(number),
            // A persistent operation that was not started.
            None if self.outstanding.get(handle, by).is_some() => {}
            // Of a call whose arguments are not in the file: one of MPI-3, or one that was left out.
            None => {
                let number = self.make();
                self.completed.push(number);
            }
        }
    }
}
