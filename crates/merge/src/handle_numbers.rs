//! Numbers of the files and windows that ranks share, by which the infos of calls name them.

use blockfile::record::Record as Call;
use trace_formats::clog2::states::FAILED_HANDLE;
use trace_model::hash::Map;
use unify::plan::FunctionPlan;

/// Numbers of files and windows, in the order in which a process opens or makes them.
#[derive(Debug, Default)]
pub(super) struct HandleNumbers {
    known: Map<u64, i32>,
    next: i32,
}

impl HandleNumbers {
    /// Number of the file or window of a call; [`FAILED_HANDLE`] where the call failed to make it. A new one may have the handle of one that is gone.
    pub(super) fn of(&mut self, plan: &FunctionPlan<'_>, call: &Call<'_>) -> Option<i32> {
        let handle = plan.handle(call.payload, plan.shared_handle?)?;
        let known = self.known.get(&handle).copied();
        if let Some(number) = known.filter(|_| !plan.makes_handle) {
            return Some(number);
        }
        let number = self.next;
        self.next = self.next.wrapping_add(1) & i32::MAX;
        // The number stays unused, so that ranks count alike of which not all have failed.
        if plan.makes_handle && call.code != 0 {
            return Some(FAILED_HANDLE);
        }
        self.known.insert(handle, number);
        Some(number)
    }

    /// Number of the window of a one-sided operation, if a call before it has told it. Such calls make no numbers: ranks do not make them together.
    pub(super) fn known(&self, plan: &FunctionPlan<'_>, call: &Call<'_>) -> Option<i32> {
        let handle = plan.handle(call.payload, plan.window()?)?;
        self.known.get(&handle).copied()
    }
}
