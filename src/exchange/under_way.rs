//! The messages of the recorder that have been started and are not complete. A merge that is given up knows them by this list alone:
//! where memory ends, nothing else is left of them.

use crate::mpi::pmpi;
use crate::mpi::status::Status;
use crate::mpi::types::MPI_Request;
use parking_lot::Mutex;
use std::ffi::c_int;

/// Most messages at a time: two for each edge of the tree and those that are waited for at once, or those of a merge by slices.
const MAX_MESSAGES: usize = 320;

/// One message.
#[derive(Clone, Copy)]
struct ListedMessage {
    request: MPI_Request,
    receives: bool,
}

// SAFETY: a handle, valid in every thread.
unsafe impl Send for ListedMessage {}

/// Nothing is allocated, and MPI not called, while it is locked.
static LIST: Mutex<[Option<ListedMessage>; MAX_MESSAGES]> = Mutex::new([None; MAX_MESSAGES]);

/// Enters a message. False if there is no room.
pub fn add(request: MPI_Request, receives: bool) -> bool {
    let mut list = LIST.lock();
    let free = list.iter_mut().find(|place| place.is_none());
    free.map(|place| *place = Some(ListedMessage { request, receives }))
        .is_some()
}

/// Takes a message that is complete out of the list, if it is there.
pub fn remove(request: MPI_Request) {
    let mut list = LIST.lock();
    let is_it = |place: &&mut Option<ListedMessage>| {
        place.is_some_and(|message| message.request.bits() == request.bits())
    };
    if let Some(place) = list.iter_mut().find(is_it) {
        *place = None;
    }
}

/// The messages of the list.
fn all() -> impl Iterator<Item = ListedMessage> {
    let list = *LIST.lock();
    list.into_iter().flatten()
}

/// Takes back what is to be received. It is complete then, unless the message has come already.
pub fn cancel_receives() {
    for message in all().filter(|message| message.receives) {
        // SAFETY: a request of ours that is not complete.
        unsafe { pmpi::MPI_Cancel(&message.request) };
    }
}

/// Whether all messages are complete now, as far as MPI can tell.
pub fn are_complete() -> bool {
    let mut are_all = true;
    for ListedMessage { mut request, .. } in all() {
        let known = request;
        let mut flag: c_int = 0;
        let mut status = Status::unset();
        // SAFETY: a request of ours, and places for the answer.
        let code = unsafe { pmpi::MPI_Test(&mut request, &mut flag, status.place()) };
        if code != 0 || flag != 0 {
            remove(known);
        } else {
            are_all = false;
        }
    }
    are_all
}

/// Leaves what is not complete to MPI, so that MPI_Finalize finds no request of ours.
pub fn release() {
    cancel_receives();
    for ListedMessage { mut request, .. } in all() {
        remove(request);
        // SAFETY: a request of ours; its buffer stays for good.
        unsafe { pmpi::MPI_Request_free(&mut request) };
    }
}
