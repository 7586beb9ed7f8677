//! Output of an operation of a server or device when its cause is known.

use super::link::{CauseLink, LowerOperation};
use super::out::{FinishedOperation, RecordOutput, RecordSink};
use super::resolved::ResolvedOperation;
use crate::record::{PicturePoint, Precision};
use trace_model::Stop;

fn shifted((start, end): (u64, u64), by: i64) -> (u64, u64) {
    let at = |offset: u64| offset.saturating_add_signed(by);
    (at(start), at(end))
}

/// Passes a lower operation with its file, trigger and edges to `put`. Every operation that it depends on must be resolved.
pub(super) fn give(
    lower: &LowerOperation,
    out: &mut RecordOutput,
    put: RecordSink<'_>,
) -> Result<ResolvedOperation, Stop> {
    let trigger = lower.trigger.as_ref().and_then(CauseLink::get);
    let trigger_call = trigger.as_ref().and_then(|t| t.trigger);
    let mut resolved = ResolvedOperation {
        file: trigger.as_ref().and_then(|t| t.file),
        trigger: trigger_call,
        shift: trigger.as_ref().map_or(0, |t| t.shift) + lower.shift,
        ..ResolvedOperation::default()
    };
    let mut carried: Vec<(u64, PicturePoint, u64, Precision)> = Vec::new();
    resolved.is_complete = !lower.carries.is_empty();
    for (link, range) in &lower.carries {
        let Some(upper) = link.get() else {
            resolved.is_complete = false;
            continue;
        };
        resolved.is_complete &= upper.is_complete;
        let range = shifted(*range, upper.shift + lower.shift);
        let range = match upper.range {
            Some((start, end)) => (range.0.clamp(start, end), range.1.clamp(start, end)),
            None => continue,
        };
        resolved.file = resolved.file.or(upper.file);
        let (start, end) = resolved.range.unwrap_or(range);
        resolved.range = Some((start.min(range.0), end.max(range.1)));
        for credit in &upper.credits {
            let bytes = credit.within(range);
            // Of a call whose bytes are somewhere in its bounding extent any part of the transfer may carry some.
            let is_possible = credit.precision == Precision::BoundingExtent && range.0 < range.1;
            if bytes == 0 && !is_possible {
                continue;
            }
            let precision = match credit.precision {
                Precision::Exact if lower.by_page => Precision::Page,
                other => other,
            };
            if lower.by_page {
                out.totals.page += bytes;
            }
            match carried.iter_mut().find(|c| c.0 == credit.call) {
                Some(known) => {
                    known.2 += bytes;
                    known.3 = known.3.max(precision);
                }
                None => carried.push((credit.call, credit.from, bytes, precision)),
            }
            resolved.credits.push(credit.clone());
        }
    }
    let record = &lower.operation.record;
    let named = record.call.filter(|&call| call != 0);
    if lower.request().is_some() {
        match (trigger_call, named) {
            (None, _) => out.totals.server_unattributed += 1,
            (Some((call, _)), Some(named)) if call == named => out.totals.server_agreements += 1,
            (Some(_), Some(_)) => out.totals.server_differences += 1,
            (Some(_), None) => {}
        }
    }
    let moved: u64 = lower.pieces.iter().map(|(a, b)| b - a).sum();
    let asked: u64 = carried.iter().map(|c| c.2).sum();
    let known = FinishedOperation {
        operation: &lower.operation,
        actor: lower.actor,
        thread: lower.thread,
        file: resolved.file,
        trigger: trigger_call,
        named,
        carried: &carried,
        hole_bytes: match resolved.is_complete {
            true => moved.saturating_sub(asked),
            false => 0,
        },
    };
    out.operation(&known, put)?;
    Ok(resolved)
}
