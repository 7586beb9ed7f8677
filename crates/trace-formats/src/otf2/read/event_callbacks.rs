//! What the OTF2 library calls for each event: the event goes into the buffer of its location.

use std::collections::VecDeque;
use std::ffi::c_int;

use super::super::numbers::EXCLUSIVE;
use super::super::read_functions::{Bits, GO_ON, ReadFunctions, UserData};
use super::super::symbols::{ErrorCode, Object};
use super::event::{Attribute, CollectiveEnd, Event, EventKind, MessageEnd};

/// Attributes of an event at most; the library itself permits more than any program writes.
const MAX_ATTRIBUTES: u32 = 1 << 12;

/// Events of a location that were read and not taken yet.
pub(super) struct EventBuffer {
    pub events: VecDeque<Event>,
    pub functions: &'static ReadFunctions,
}

/// Puts an event into the buffer.
///
/// # Safety
/// `buffer` is the address of an [`EventBuffer`] that nobody else uses.
unsafe fn put(buffer: UserData, time: u64, kind: EventKind) -> c_int {
    // SAFETY: The caller has promised it.
    let buffer = unsafe { &mut *buffer.cast::<EventBuffer>() };
    buffer.events.push_back(Event { time, kind });
    GO_ON
}

/// The attributes of an event.
///
/// # Safety
/// `buffer` is the address of an [`EventBuffer`], and `list` the library's own list.
unsafe fn attributes(buffer: UserData, list: Object) -> Box<[Attribute]> {
    if list.is_null() {
        return Box::default();
    }
    // SAFETY: The caller has promised it.
    let functions = unsafe { (*buffer.cast::<EventBuffer>()).functions };
    // SAFETY: The list is the library's own.
    let count = unsafe { (functions.attribute_count)(list) };
    let attribute = |at: u32| {
        let (mut reference, mut kind, mut bits) = (0, 0, 0);
        // SAFETY: The list is the library's own, and the three values stay where they are.
        let code =
            unsafe { (functions.attribute_at)(list, at, &mut reference, &mut kind, &mut bits) };
        (code == 0).then_some((reference, kind, bits))
    };
    (0..count.min(MAX_ATTRIBUTES))
        .filter_map(attribute)
        .collect()
}

/// Declares callbacks of events that pass their arguments on.
macro_rules! callbacks {
    ($($name:ident($($argument:ident: $type:ty),*) => $kind:expr;)*) => {
        $(
            unsafe extern "C" fn $name(_: u64, time: u64, _: u64, buffer: UserData, _: Object $(, $argument: $type)*) -> c_int {
                // SAFETY: The library passes the address that was registered with the callbacks.
                unsafe { put(buffer, time, $kind) }
            }
        )*
    };
}

callbacks! {
    send(partner: u32, comm: u32, tag: u32, bytes: u64) =>
        EventKind::Send(MessageEnd { partner, comm, tag, bytes }, None);
    isend(partner: u32, comm: u32, tag: u32, bytes: u64, request: u64) =>
        EventKind::Send(MessageEnd { partner, comm, tag, bytes }, Some(request));
    isend_complete(request: u64) => EventKind::SendComplete(request);
    irecv_request(request: u64) => EventKind::ReceiveRequest(request);
    receive(partner: u32, comm: u32, tag: u32, bytes: u64) =>
        EventKind::Receive(MessageEnd { partner, comm, tag, bytes }, None);
    irecv(partner: u32, comm: u32, tag: u32, bytes: u64, request: u64) =>
        EventKind::Receive(MessageEnd { partner, comm, tag, bytes }, Some(request));
    cancelled(request: u64) => EventKind::Cancelled(request);
    collective_end(op: u8, object: u32, root: u32, sent: u64, received: u64) =>
        EventKind::CollectiveEnd(CollectiveEnd { op, object, root, sent, received }, None);
    collective_request(request: u64) => EventKind::CollectiveRequest(request);
    collective_complete(op: u8, object: u32, root: u32, sent: u64, received: u64, request: u64) =>
        EventKind::CollectiveEnd(CollectiveEnd { op, object, root, sent, received }, Some(request));
    transfer(window: u32, target: u32, bytes: u64, _id: u64) =>
        EventKind::OneSided { window, target, bytes };
    atomic(window: u32, target: u32, _kind: u8, sent: u64, received: u64, _id: u64) =>
        EventKind::OneSided { window, target, bytes: sent.max(received) };
    window_collective(op: u8, _level: u32, object: u32, root: u32, sent: u64, received: u64) =>
        EventKind::WindowCollective(CollectiveEnd { op, object, root, sent, received });
    group_sync(_level: u32, window: u32, group: u32) => EventKind::GroupSync { window, group };
    lock(window: u32, target: u32, _id: u64, kind: u8) =>
        EventKind::Lock { window, target, is_exclusive: kind == EXCLUSIVE };
    unlock(window: u32, target: u32, _id: u64) => EventKind::Unlock { window, target };
    io_create(handle: u32, _access: u8, _creation: u32, _state: u32) => EventKind::IoOpen { handle };
    io_destroy(handle: u32) => EventKind::IoClose { handle };
    io_begin(handle: u32, _mode: u8, _flags: u32, bytes: u64, id: u64) => EventKind::IoBegin { handle, bytes, id };
    io_complete(handle: u32, bytes: u64, id: u64) => EventKind::IoComplete { handle, bytes, id };
    program(name: u32, _count: u32, _arguments: *const u32) => EventKind::Program { name };
    unknown() => EventKind::Unknown;
}

/// Declares callbacks of the two ends of a visit of a region, which have attributes.
macro_rules! visit_callbacks {
    ($($name:ident => $kind:ident;)*) => {
        $(
            unsafe extern "C" fn $name(_: u64, time: u64, _: u64, buffer: UserData, list: Object, region: u32) -> c_int {
                // SAFETY: The library passes the address that was registered with the callbacks, and a list of its own.
                unsafe {
                    let attributes = attributes(buffer, list);
                    put(buffer, time, EventKind::$kind { region, attributes })
                }
            }
        )*
    };
}

visit_callbacks! {
    enter => Enter;
    leave => Leave;
}

unsafe extern "C" fn metric(
    _: u64,
    time: u64,
    _: u64,
    buffer: UserData,
    _: Object,
    metric: u32,
    count: u8,
    types: *const u8,
    values: *const Bits,
) -> c_int {
    let mut found = Vec::new();
    if !types.is_null() && !values.is_null() {
        let count = usize::from(count);
        // SAFETY: The library passes so many types and values.
        let (types, values) = unsafe {
            (
                std::slice::from_raw_parts(types, count),
                std::slice::from_raw_parts(values, count),
            )
        };
        found.extend(types.iter().copied().zip(values.iter().copied()));
    }
    let values = found.into_boxed_slice();
    // SAFETY: The library passes the address that was registered with the callbacks.
    unsafe { put(buffer, time, EventKind::Metric { metric, values }) }
}

/// Has the library call back for the events that matter. Gives what each of its functions returned.
///
/// # Safety
/// `set` is the library's own set of callbacks.
pub(super) unsafe fn set_callbacks(
    f: &ReadFunctions,
    set: Object,
) -> impl IntoIterator<Item = ErrorCode> {
    // SAFETY: The caller has promised it, and the callbacks have the types that the library calls.
    unsafe {
        [
            (f.on_enter)(set, enter),
            (f.on_leave)(set, leave),
            (f.on_send)(set, send),
            (f.on_isend)(set, isend),
            (f.on_isend_complete)(set, isend_complete),
            (f.on_irecv_request)(set, irecv_request),
            (f.on_receive)(set, receive),
            (f.on_irecv)(set, irecv),
            (f.on_cancelled)(set, cancelled),
            (f.on_collective_end)(set, collective_end),
            (f.on_collective_request)(set, collective_request),
            (f.on_collective_complete)(set, collective_complete),
            (f.on_metric)(set, metric),
            (f.on_put)(set, transfer),
            (f.on_get)(set, transfer),
            (f.on_atomic)(set, atomic),
            (f.on_window_collective)(set, window_collective),
            (f.on_group_sync)(set, group_sync),
            (f.on_request_lock)(set, lock),
            (f.on_acquire_lock)(set, lock),
            (f.on_release_lock)(set, unlock),
            (f.on_io_create)(set, io_create),
            (f.on_io_destroy)(set, io_destroy),
            (f.on_io_begin)(set, io_begin),
            (f.on_io_complete)(set, io_complete),
            (f.on_program)(set, program),
            (f.on_unknown)(set, unknown),
        ]
    }
}
