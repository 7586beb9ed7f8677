//! Sends that were cancelled: they are no messages, but that is known only when they are completed.
//!
//! A walk over the process of its own, made only where MPI_Cancel was called.

use super::plan::{CallRole, FunctionPlan};
use super::timeline::Timeline;
use blockfile::define;
use blockfile::file::BlockFile;
use std::collections::HashSet;
use trace_model::requests::{OutstandingRequests, RequestUse};

/// Counters of the calls whose sends were cancelled. Persistent ones are not looked at.
pub fn cancelled_sends(file: &BlockFile<'_>, plans: &[FunctionPlan<'_>]) -> HashSet<u64> {
    let mut cancelled = HashSet::new();
    let mut sends: OutstandingRequests<u64> = OutstandingRequests::default();
    let mut timeline = Timeline::new(file);
    while let Some(item) = timeline.next() {
        let thread = i32::try_from(item.thread).unwrap_or(i32::MAX);
        // Calls recorded for matching only count, too.
        let call = define::matching_only_call(&item.record).unwrap_or(item.record);
        let Some(plan) = plans.get(usize::from(call.function)) else {
            continue;
        };
        match plan.role {
            CallRole::Complete(completion) => completion.each(plan, &call, None, |done| {
                if let Some(send) = sends.complete(done.request, thread)
                    && done.status.is_some_and(|s| s.cancelled)
                {
                    cancelled.insert(send);
                }
            }),
            _ if call.code != 0 => {}
            CallRole::Nonblocking { request } => {
                let Some(handle) = plan.handle(call.payload, request) else {
                    continue;
                };
                if plan.recv.is_none() {
                    sends.insert(handle, call.call, RequestUse::Shared, thread);
                } else {
                    sends.forget(handle, thread);
                }
            }
            CallRole::FreeRequest { request } => {
                if let Some(handle) = plan.handle(call.payload, request) {
                    sends.free(handle, thread);
                }
            }
            CallRole::Init { request } | CallRole::OtherRequest { request } => {
                if let Some(handle) = plan.handle(call.payload, request) {
                    sends.forget(handle, thread);
                }
            }
            _ => {}
        }
    }
    cancelled
}
