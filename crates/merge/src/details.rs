//! What the infos of calls say in SLOG2 beside the cargo: roots and bytes of collective calls, the numbers of requests, by which a call
//! that completes them finds the ones that began them, and the numbers of files and windows.

use super::calls::ProcessWalk;
use super::record::StateDetails;
use blockfile::record::Record as Call;
use trace_formats::clog2::states::{CallDetails, CompletedNumbers};
use unify::plan::FunctionPlan;

impl ProcessWalk<'_> {
    /// Details of a call that has ended, behind what its cargo has after the CallID.
    #[inline]
    pub(super) fn details(
        &mut self,
        wanted: CallDetails,
        rest_of_cargo: &[u8],
        plan: Option<&FunctionPlan<'_>>,
        call: &Call<'_>,
    ) -> StateDetails {
        let mut details = StateDetails::default();
        details.push(rest_of_cargo);
        if wanted.root {
            let root = plan.and_then(|plan| plan.int(call.payload, plan.root?));
            let root = root.and_then(|root| i32::try_from(root).ok());
            details.push(&root.unwrap_or(-1).to_be_bytes());
        }
        if wanted.bytes {
            let bytes = plan.and_then(|plan| {
                let (count, datatype) = plan.own_amount?;
                let count = plan.int(call.payload, count)?;
                // Of data that stays in place, nothing is known.
                let size = self
                    .library
                    .type_size(plan.handle(call.payload, datatype)?)?;
                count.checked_mul(i64::try_from(size).ok()?)
            });
            details.push(&bytes.unwrap_or(-1).to_be_bytes());
        }
        if wanted.request {
            let number = self
                .numbers
                .made
                .and_then(|number| i32::try_from(number).ok());
            details.push(&number.unwrap_or(-1).to_be_bytes());
        }
        match wanted.completes {
            None => {}
            Some(CompletedNumbers::One) => {
                let number = self.numbers.completed.first().copied();
                let number = number.and_then(|number| i32::try_from(number).ok());
                details.push(&number.unwrap_or(-1).to_be_bytes());
            }
            Some(CompletedNumbers::List) => {
                let text = self.numbers.completed_text();
                details.push(&(text.len() as u16).to_be_bytes());
                details.push(text);
            }
        }
        if wanted.handle {
            let number = plan.and_then(|plan| self.shared_handles.of(plan, call));
            details.push(&number.unwrap_or(-1).to_be_bytes());
        }
        details
    }
}
