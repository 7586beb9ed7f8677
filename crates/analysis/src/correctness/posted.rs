//! Receives that are under way at the end of a trace.

use super::call::{AskedTag, CommKey};
use std::collections::BTreeMap;

/// A receive that has begun and not ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PostedReceive {
    /// Communicator of the message.
    pub comm: CommKey,
    /// Ranks in MPI_COMM_WORLD that may send it.
    pub from: Vec<u32>,
    /// The tag that is asked for.
    pub tag: AskedTag,
    /// Begin of the call that posted it, seconds.
    pub posted: f64,
    /// Whether a matched probe (MPI_Mprobe) has taken the message for it, and no receive of that message has begun: the message goes to no other receive, and a
    /// send that waits for a receive still waits.
    pub is_probe: bool,
}

/// By rank in MPI_COMM_WORLD, its receives that have begun and not ended.
pub(super) type PostedReceives = BTreeMap<u32, Vec<PostedReceive>>;
