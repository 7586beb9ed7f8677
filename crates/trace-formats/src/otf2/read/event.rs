//! Events of a location.

pub(super) use super::super::event::MessageEnd;

/// An attribute of an event: reference, type, and the bytes of the value.
pub(super) type Attribute = (u32, u8, u64);

/// The end of a collective operation on one rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CollectiveEnd {
    /// Number of the operation in `OTF2_CollectiveOp`.
    pub op: u8,
    /// Reference of the communicator, or of the window.
    pub object: u32,
    pub root: u32,
    pub sent: u64,
    pub received: u64,
}

/// An event of a location, at a time in ticks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Event {
    pub time: u64,
    pub kind: EventKind,
}

/// What happens. Where there may be a request, the operation is a nonblocking one if there is one.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum EventKind {
    Enter {
        region: u32,
        attributes: Box<[Attribute]>,
    },
    Leave {
        region: u32,
        attributes: Box<[Attribute]>,
    },
    Send(MessageEnd, Option<u64>),
    SendComplete(u64),
    ReceiveRequest(u64),
    Receive(MessageEnd, Option<u64>),
    Cancelled(u64),
    CollectiveRequest(u64),
    CollectiveEnd(CollectiveEnd, Option<u64>),
    /// Types and bytes of the values of a metric.
    Metric {
        metric: u32,
        values: Box<[(u8, u64)]>,
    },
    /// One-sided access to a rank of a window.
    OneSided {
        window: u32,
        target: u32,
        bytes: u64,
    },
    WindowCollective(CollectiveEnd),
    /// Synchronisation of a window with a group.
    GroupSync {
        window: u32,
        group: u32,
    },
    Lock {
        window: u32,
        target: u32,
        is_exclusive: bool,
    },
    Unlock {
        window: u32,
        target: u32,
    },
    IoOpen {
        handle: u32,
    },
    IoClose {
        handle: u32,
    },
    IoBegin {
        handle: u32,
        bytes: u64,
        id: u64,
    },
    IoComplete {
        handle: u32,
        bytes: u64,
        id: u64,
    },
    /// The program begins, of this name.
    Program {
        name: u32,
    },
    /// An event that this version of the library does not know.
    Unknown,
}
