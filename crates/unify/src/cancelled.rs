//! Sends that were cancelled: they are no messages, but that is known only when they are completed.
//!
//! A walk over the process of its own, made only where MPI_Cancel was called.

use super::completion::request_call;
use super::plan::{CallRole, FunctionPlan};
use super::timeline::each_call;
use blockfile::file::BlockFile;
use std::collections::HashSet;
use trace_model::requests::{OutstandingRequests, RequestUse};

/// Counters of the calls whose sends were cancelled. Persistent ones are not looked at.
pub fn cancelled_sends(file: &BlockFile<'_>, plans: &[FunctionPlan<'_>]) -> HashSet<u64> {
    let mut cancelled = HashSet::new();
    let mut sends: OutstandingRequests<u64> = OutstandingRequests::default();
    each_call(file, plans, |plan, call, thread| {
        let by = request_call(call, thread);
        match plan.role {
            CallRole::Complete(completion) => completion.each(plan, call, |done| {
                if let Some(send) = sends.complete(done.request, by)
                    && done.status.is_some_and(|s| s.cancelled)
                {
                    cancelled.insert(send);
                }
            }),
            _ if call.code != 0 => {}
            CallRole::Nonblocking { request } => {
                let Some(handle) = plan.handle(call.payload, request) else {
                    return;
                };
                if plan.recv.is_none() {
                    sends.insert(handle, call.call, RequestUse::Shared, by);
                } else {
                    sends.forget(handle, by);
                }
            }
            CallRole::FreeRequest { request } => {
                if let Some(handle) = plan.handle(call.payload, request) {
                    sends.free(handle, by);
                }
            }
            CallRole::Init { request } | CallRole::OtherRequest { request } => {
                if let Some(handle) = plan.handle(call.payload, request) {
                    sends.forget(handle, by);
                }
            }
            _ => {}
        }
    });
    cancelled
}
