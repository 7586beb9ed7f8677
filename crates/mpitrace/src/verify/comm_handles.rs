//! Handles of communicators, where several threads make and free them at the same time.

use blockfile::record::Record;
use std::collections::HashMap;
use unify::comms::{CommHandles, CommId};

/// The communicators that handles stand for at one point of the run of a process.
///
/// A library gives a handle to another thread as soon as it is free, before the call that frees it has returned.
pub(super) struct LivingComms {
    handles: CommHandles,
    /// By handle, when its communicator was defined, ticks: the call that made it was about to return.
    made: HashMap<u64, u64>,
}

impl LivingComms {
    /// Before the first call.
    pub(super) fn new(handles: CommHandles) -> LivingComms {
        let made = HashMap::new();
        LivingComms { handles, made }
    }

    /// The handles as they are now.
    pub(super) fn handles(&self) -> &CommHandles {
        &self.handles
    }

    /// A record has defined a communicator.
    pub(super) fn define(&mut self, handle: u64, id: CommId, definition: &Record<'_>) {
        self.handles.insert(handle, id);
        self.made.insert(handle, definition.start);
    }

    /// A call has freed the communicator of a handle. If another thread has been given the same handle meanwhile, it keeps that.
    pub(super) fn free(&mut self, handle: u64, call: &Record<'_>) {
        let made = self.made.get(&handle).copied().unwrap_or(0);
        if let Some(id) = self.handles.lookup(handle).filter(|_| made <= call.start) {
            self.handles.release(handle, id);
        }
    }
}
