//! Messages from neighbours that give the merge up ([`super::giving_up`]). What has come stays: each later wait of the
//! rank ends with it, too.

use super::failure::ExchangeFailure;
use super::line::Exchange;
use super::tree::{children, parent};
use crate::mpi::constants::predefined;
use crate::mpi::pmpi;
use crate::mpi::status::Status;
use crate::mpi::types::MPI_Datatype;
use blockfile::encode::MpiStatus;
use parking_lot::Mutex;
use std::ffi::c_int;

/// Tag of the messages that say why a rank gives up, in UTF-8.
pub const REASON_TAG: i32 = 790;
/// Most bytes of a reason.
pub const MAX_REASON_BYTES: usize = 240;

/// The first such message that this rank has got.
#[derive(Clone, Copy, Debug)]
struct HeardReason {
    from: i32,
    why: [u8; MAX_REASON_BYTES],
    length: usize,
}

/// Nothing is allocated while it is locked, as want of memory may end the work that has locked it.
static HEARD: Mutex<Option<HeardReason>> = Mutex::new(None);

/// The ranks that this one exchanges messages with in the tree.
pub fn neighbours(line: &Exchange) -> impl Iterator<Item = i32> {
    parent(line.rank)
        .into_iter()
        .chain(children(line.rank, line.size))
}

/// Whether a neighbour has given up.
pub fn heard(line: &Exchange) -> Option<ExchangeFailure> {
    let known = *HEARD.lock();
    if let Some(heard) = known {
        return Some(ExchangeFailure::GivenUp(heard.from));
    }
    neighbours(line).find_map(|from| {
        let mut why = [0; MAX_REASON_BYTES];
        let length = take(line, from, REASON_TAG, &mut why)?.bytes;
        *HEARD.lock() = Some(HeardReason { from, why, length });
        Some(ExchangeFailure::GivenUp(from))
    })
}

/// A message that was taken.
#[derive(Clone, Copy, Debug)]
pub struct TakenMessage {
    /// The rank that sent it.
    pub from: i32,
    /// The tag with which it was sent.
    pub tag: i32,
    /// Bytes in the place that was given for it.
    pub bytes: usize,
}

/// Takes a message with this tag from that rank, if one is there that has room in `place`. A longer one is never asked for: of such a message Open MPI 4.1.4
/// writes all bytes, also behind the place.
pub fn take(line: &Exchange, from: i32, tag: i32, place: &mut [u8]) -> Option<TakenMessage> {
    let found = line.probe(from, tag).ok()??;
    (found.bytes <= place.len() as u64).then(|| take_found(line, found, place))
}

/// Takes the message that a look has found. `place` has room for it.
pub fn take_found(line: &Exchange, found: MpiStatus, place: &mut [u8]) -> TakenMessage {
    let mut status = Status::unset();
    let byte: MPI_Datatype = predefined("MPI_BYTE");
    // SAFETY: the message is there, so that nobody waits for long, and the place has room for it.
    unsafe {
        pmpi::MPI_Recv(
            place.as_mut_ptr().cast(),
            place.len() as c_int,
            byte,
            found.source,
            found.tag,
            line.comm.0,
            status.place(),
        )
    };
    TakenMessage {
        from: found.source,
        tag: found.tag,
        bytes: place.len().min(found.bytes as usize),
    }
}

/// The reason of the rank that gave up first, as far as this one has heard of it: a line that names that rank.
pub fn reason() -> Option<String> {
    let heard = *HEARD.lock();
    heard.map(|heard| {
        let why = heard.why.get(..heard.length).unwrap_or_default();
        String::from_utf8_lossy(why).into_owned()
    })
}
