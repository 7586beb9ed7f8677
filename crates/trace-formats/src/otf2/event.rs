//! Events of a location, and how the library is told of them.

use super::library::{ErrorCode, Functions, Object};
use super::window_event::WindowEvent;

/// Value of an attribute of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum AttributeValue {
    Unsigned(u64),
    Signed(i64),
    Real(f64),
    /// Reference of a text.
    Text(u32),
    /// Reference of a communicator.
    Comm(u32),
}

/// Reference of an attribute's definition, and the value.
pub(super) type Attribute = (u32, AttributeValue);

/// A message at one of its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MessageEnd {
    /// Rank of the other end in the communicator.
    pub partner: u32,
    /// Reference of the communicator.
    pub comm: u32,
    pub tag: u32,
    pub bytes: u64,
}

/// The end of a collective operation on one rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CollectiveEnd {
    /// Number of the operation in [`super::numbers::collective`].
    pub op: u8,
    /// Reference of the communicator.
    pub comm: u32,
    /// Rank of the root in the communicator, or [`super::numbers::NO_ROOT`].
    pub root: u32,
    /// Bytes that the rank gives.
    pub sent: u64,
    /// Bytes that the rank gets.
    pub received: u64,
}

/// Start of a file operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct IoBegin {
    /// Reference of the handle.
    pub handle: u32,
    /// Number in [`super::numbers::io_mode`].
    pub mode: u8,
    /// Bits of [`super::numbers::io_flag`].
    pub flags: u32,
    /// Bytes that are asked for.
    pub bytes: u64,
    /// Number that start and end of the operation share.
    pub id: u64,
}

/// An event. Where there may be a request, the event is that of a nonblocking operation if there is one. Requests are numbers that are
/// unique in a process while the operation is not complete.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Event<'a> {
    Enter {
        region: u32,
        attributes: &'a [Attribute],
    },
    Leave {
        region: u32,
        attributes: &'a [Attribute],
    },
    Send(MessageEnd, Option<u64>),
    SendComplete(u64),
    ReceiveRequest(u64),
    Receive(MessageEnd, Option<u64>),
    /// A request is over without a message.
    Cancelled(u64),
    CollectiveBegin(Option<u64>),
    CollectiveEnd(CollectiveEnd, Option<u64>),
    Window(WindowEvent),
    /// A handle is made.
    Open {
        handle: u32,
        access: u8,
    },
    /// A handle is given up.
    Close {
        handle: u32,
    },
    IoBegin(IoBegin),
    /// The call that begins an operation returns before the operation is complete.
    IoIssued {
        handle: u32,
        id: u64,
    },
    IoComplete {
        handle: u32,
        bytes: u64,
        id: u64,
    },
    /// Value of a metric, as the bits of its type.
    Metric {
        class: u32,
        value_type: u8,
        bits: u64,
    },
}

impl Event<'_> {
    /// Name of the function that writes the event.
    pub(super) fn function(&self) -> &'static str {
        match self {
            Event::Enter { .. } => "OTF2_EvtWriter_Enter",
            Event::Leave { .. } => "OTF2_EvtWriter_Leave",
            Event::Send(_, None) => "OTF2_EvtWriter_MpiSend",
            Event::Send(_, Some(_)) => "OTF2_EvtWriter_MpiIsend",
            Event::SendComplete(_) => "OTF2_EvtWriter_MpiIsendComplete",
            Event::ReceiveRequest(_) => "OTF2_EvtWriter_MpiIrecvRequest",
            Event::Receive(_, None) => "OTF2_EvtWriter_MpiRecv",
            Event::Receive(_, Some(_)) => "OTF2_EvtWriter_MpiIrecv",
            Event::Cancelled(_) => "OTF2_EvtWriter_MpiRequestCancelled",
            Event::Window(event) => event.function(),
            Event::CollectiveBegin(None) => "OTF2_EvtWriter_MpiCollectiveBegin",
            Event::CollectiveBegin(Some(_)) => "OTF2_EvtWriter_NonBlockingCollectiveRequest",
            Event::CollectiveEnd(_, None) => "OTF2_EvtWriter_MpiCollectiveEnd",
            Event::CollectiveEnd(_, Some(_)) => "OTF2_EvtWriter_NonBlockingCollectiveComplete",
            Event::Open { .. } => "OTF2_EvtWriter_IoCreateHandle",
            Event::Close { .. } => "OTF2_EvtWriter_IoDestroyHandle",
            Event::IoBegin(_) => "OTF2_EvtWriter_IoOperationBegin",
            Event::IoIssued { .. } => "OTF2_EvtWriter_IoOperationIssued",
            Event::IoComplete { .. } => "OTF2_EvtWriter_IoOperationComplete",
            Event::Metric { .. } => "OTF2_EvtWriter_Metric",
        }
    }

    /// Writes the event. `list` is the list of attributes, which has those of the event if it has any.
    ///
    /// # Safety
    /// `writer` is an event writer of the library that is not closed, and `list` a list of attributes of the library, or null.
    pub(super) unsafe fn write(
        &self,
        f: &Functions,
        writer: Object,
        list: Object,
        time: u64,
    ) -> ErrorCode {
        // SAFETY: Writer and list are the library's own, as the caller promises. Values are copied.
        unsafe {
            match *self {
                Event::Enter { region, .. } => (f.enter)(writer, list, time, region),
                Event::Leave { region, .. } => (f.leave)(writer, list, time, region),
                Event::Send(m, None) => {
                    (f.send)(writer, list, time, m.partner, m.comm, m.tag, m.bytes)
                }
                Event::Send(m, Some(id)) => {
                    (f.isend)(writer, list, time, m.partner, m.comm, m.tag, m.bytes, id)
                }
                Event::SendComplete(id) => (f.isend_complete)(writer, list, time, id),
                Event::ReceiveRequest(id) => (f.irecv_request)(writer, list, time, id),
                Event::Receive(m, None) => {
                    (f.receive)(writer, list, time, m.partner, m.comm, m.tag, m.bytes)
                }
                Event::Receive(m, Some(id)) => {
                    (f.irecv)(writer, list, time, m.partner, m.comm, m.tag, m.bytes, id)
                }
                Event::Cancelled(id) => (f.cancelled)(writer, list, time, id),
                Event::Window(event) => event.write(f, writer, list, time),
                Event::CollectiveBegin(None) => (f.collective_begin)(writer, list, time),
                Event::CollectiveBegin(Some(id)) => (f.collective_request)(writer, list, time, id),
                Event::CollectiveEnd(end, request) => {
                    let CollectiveEnd {
                        op,
                        comm,
                        root,
                        sent,
                        received,
                    } = end;
                    match request {
                        None => {
                            (f.collective_end)(writer, list, time, op, comm, root, sent, received)
                        }
                        Some(id) => (f.collective_complete)(
                            writer, list, time, op, comm, root, sent, received, id,
                        ),
                    }
                }
                Event::Open { handle, access } => {
                    (f.io_create)(writer, list, time, handle, access, 0, 0)
                }
                Event::Close { handle } => (f.io_destroy)(writer, list, time, handle),
                Event::IoBegin(b) => {
                    (f.io_begin)(writer, list, time, b.handle, b.mode, b.flags, b.bytes, b.id)
                }
                Event::IoIssued { handle, id } => (f.io_issued)(writer, list, time, handle, id),
                Event::IoComplete { handle, bytes, id } => {
                    (f.io_complete)(writer, list, time, handle, bytes, id)
                }
                Event::Metric {
                    class,
                    value_type,
                    bits,
                } => (f.metric)(writer, list, time, class, 1, &value_type, &bits),
            }
        }
    }
}
