//! The operation of a request: the message that it is to send or to receive.

use blockfile::encode::MpiStatus;
use unify::comms::CommId;
use unify::wildcards::{ReceivedMessage, RequestStart};

/// A message that an operation is to send.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendOperation {
    pub dest: i64,
    pub tag: i64,
    pub bytes: u64,
}

/// A message that an operation is to receive, as the call asked for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiveOperation {
    pub source: i64,
    pub tag: i64,
    pub bytes: u64,
    /// Whether that is what will come, without wildcards and in full: a partitioned message.
    pub exact: bool,
}

impl ReceiveOperation {
    /// The message that the call asked for.
    pub fn wanted(&self) -> ReceivedMessage {
        let (source, tag) = (self.source, self.tag);
        ReceivedMessage { source, tag }
    }

    /// Whether this can be the status of what was asked for. MPICH 4.0 leaves that of MPI_Isendrecv as it was, whatever the
    /// request object was used for before.
    pub fn may_get(&self, status: MpiStatus) -> bool {
        let fits = |asked: i64, got: i32| asked < 0 || asked == i64::from(got);
        !self.exact && fits(self.source, status.source) && fits(self.tag, status.tag)
    }
}

/// Operation that a request stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestMessages {
    pub comm: Option<CommId>,
    /// Number of the request in infos; 0 is none.
    pub number: u32,
    /// Number of the persistent collective operation that it stands for; 0 is none.
    pub prepared: u32,
    pub send: Option<SendOperation>,
    pub recv: Option<ReceiveOperation>,
    /// The latest start of the operation.
    pub start: RequestStart,
    /// Number of its receive in the order in which the process posts receives; 0 is none.
    pub posted: u64,
    /// Whether a call has told that the receive is complete, while the request stands for it still.
    pub is_received: bool,
}

impl RequestMessages {
    /// An operation that is no message, with this number.
    pub fn other(comm: Option<CommId>, number: u32) -> RequestMessages {
        RequestMessages {
            comm,
            number,
            prepared: 0,
            send: None,
            recv: None,
            start: RequestStart::default(),
            posted: 0,
            is_received: false,
        }
    }
}
