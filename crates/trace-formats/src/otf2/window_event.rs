//! Events of windows and one-sided operations, and how the library is told of them.

use super::library::{ErrorCode, Functions, Object};
use super::numbers::{EXCLUSIVE, NO_ROOT, SHARED};

/// Number of the only lock of a window on a rank.
const LOCK: u64 = 0;

/// A one-sided operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OneSided {
    /// Reference of the window.
    pub window: u32,
    /// Rank in the communicator of the window.
    pub target: u32,
    pub bytes: u64,
    /// Number of the operation in the archive.
    pub id: u64,
}

/// What a one-sided operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OneSidedKind {
    Put,
    Get,
    /// Changes what is there, in a way of [`super::numbers::atomic`].
    Atomic {
        way: u8,
        /// Whether the call gets what was there.
        fetches: bool,
    },
}

/// An event of a window. All numbers of windows are references.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum WindowEvent {
    Create(u32),
    Destroy(u32),
    /// A call of all ranks of a window begins.
    Begin,
    /// A call of all ranks of a window is over: an operation of [`super::numbers::collective`], a level of
    /// [`super::numbers::sync_level`].
    End {
        op: u8,
        level: u32,
        window: u32,
    },
    /// A rank has come together with those of a group.
    GroupSync {
        level: u32,
        window: u32,
        group: u32,
    },
    /// The target is [`super::numbers::UNDEFINED_REF`] if the window is locked on all ranks.
    Acquire {
        window: u32,
        target: u32,
        is_exclusive: bool,
    },
    Release {
        window: u32,
        target: u32,
    },
    OneSided(OneSidedKind, OneSided),
    /// The one-sided operation with this number on a window is complete at the origin.
    CompleteAtOrigin(u32, u64),
    /// The one-sided operation with this number on a window is complete at the target.
    CompleteAtTarget(u32, u64),
}

impl WindowEvent {
    /// Name of the function that writes the event.
    pub(super) fn function(&self) -> &'static str {
        match self {
            WindowEvent::Create(_) => "OTF2_EvtWriter_RmaWinCreate",
            WindowEvent::Destroy(_) => "OTF2_EvtWriter_RmaWinDestroy",
            WindowEvent::Begin => "OTF2_EvtWriter_RmaCollectiveBegin",
            WindowEvent::End { .. } => "OTF2_EvtWriter_RmaCollectiveEnd",
            WindowEvent::GroupSync { .. } => "OTF2_EvtWriter_RmaGroupSync",
            WindowEvent::Acquire { .. } => "OTF2_EvtWriter_RmaAcquireLock",
            WindowEvent::Release { .. } => "OTF2_EvtWriter_RmaReleaseLock",
            WindowEvent::CompleteAtOrigin(..) => "OTF2_EvtWriter_RmaOpCompleteNonBlocking",
            WindowEvent::CompleteAtTarget(..) => "OTF2_EvtWriter_RmaOpCompleteRemote",
            WindowEvent::OneSided(OneSidedKind::Put, _) => "OTF2_EvtWriter_RmaPut",
            WindowEvent::OneSided(OneSidedKind::Get, _) => "OTF2_EvtWriter_RmaGet",
            WindowEvent::OneSided(OneSidedKind::Atomic { .. }, _) => "OTF2_EvtWriter_RmaAtomic",
        }
    }

    /// Writes the event.
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
                WindowEvent::Create(window) => (f.window_create)(writer, list, time, window),
                WindowEvent::Destroy(window) => (f.window_destroy)(writer, list, time, window),
                WindowEvent::Begin => (f.window_begin)(writer, list, time),
                WindowEvent::End { op, level, window } => {
                    (f.window_end)(writer, list, time, op, level, window, NO_ROOT, 0, 0)
                }
                WindowEvent::GroupSync {
                    level,
                    window,
                    group,
                } => (f.group_sync)(writer, list, time, level, window, group),
                WindowEvent::Acquire {
                    window,
                    target,
                    is_exclusive,
                } => {
                    let kind = if is_exclusive { EXCLUSIVE } else { SHARED };
                    (f.acquire_lock)(writer, list, time, window, target, LOCK, kind)
                }
                WindowEvent::Release { window, target } => {
                    (f.release_lock)(writer, list, time, window, target, LOCK)
                }
                WindowEvent::CompleteAtOrigin(window, id) => {
                    (f.complete_local)(writer, list, time, window, id)
                }
                WindowEvent::CompleteAtTarget(window, id) => {
                    (f.complete_remote)(writer, list, time, window, id)
                }
                WindowEvent::OneSided(kind, o) => match kind {
                    OneSidedKind::Put => {
                        (f.put)(writer, list, time, o.window, o.target, o.bytes, o.id)
                    }
                    OneSidedKind::Get => {
                        (f.get)(writer, list, time, o.window, o.target, o.bytes, o.id)
                    }
                    OneSidedKind::Atomic { way, fetches } => {
                        let fetched = if fetches { o.bytes } else { 0 };
                        (f.atomic)(
                            writer, list, time, o.window, o.target, way, o.bytes, fetched, o.id,
                        )
                    }
                },
            }
        }
    }
}
