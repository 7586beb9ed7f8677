//! Performance counters round a call: each thread has its own, opened at its first call.

use crate::counters::{self, ThreadCounters};
use crate::thread::current;
use crate::thread::records;
use crate::thread::state::Thread;
use crate::thread::within::within;
use blockfile::define::Definition;

thread_local! {
    /// Gives the thread's descriptors back when it ends.
    static OWN: DescriptorGuard = const { DescriptorGuard };
}

struct DescriptorGuard;

impl Drop for DescriptorGuard {
    fn drop(&mut self) {
        // SAFETY: the state of the running thread.
        if let Some(t) = unsafe { current().as_mut() } {
            t.counters = None;
            t.counters_ended = true;
        }
    }
}

/// Reads the counters of the running thread, whose call begins.
pub fn before(t: &mut Thread) {
    if t.counters.as_ref().map_or(0, |c| c.choice()) != counters::latest_choice() {
        t.counters = None;
        if t.counters_ended || !counters::is_on() {
            return;
        }
        within(|| {
            t.counters = ThreadCounters::open();
            // If an ending thread has no room for it any more, the descriptors stay.
            let _ = OWN.try_with(|_| ());
        });
    }
    let Some(counters) = &t.counters else { return };
    if let Some(names) = counters.names_to_define() {
        records::put_definition(t, &Definition::Counters { names });
    }
    if let Some(counters) = &mut t.counters {
        counters.begin();
    }
}

/// Reads the counters of the running thread, whose call has returned.
pub fn after(t: &mut Thread) {
    if let Some(counters) = &mut t.counters {
        counters.end();
    }
}

/// Payload of the record of the call that has just returned, if it has one.
pub fn payload(t: &mut Thread) -> Option<Vec<u8>> {
    t.counters.as_mut()?.payload()
}
