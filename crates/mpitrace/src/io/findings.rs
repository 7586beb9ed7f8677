//! Findings of an I/O report, in words.

use super::names;
use crate::terminal::units;
use analysis::io::{IoFinding, KindKey, SMALL};
use serde_json::{Value, json};

fn percent(part: u64, of: u64) -> String {
    match of {
        0 => "-".to_owned(),
        of => format!("{:.0} %", 100.0 * part as f64 / of as f64),
    }
}

/// A sentence with the numbers, and what could be done.
pub fn words(finding: &IoFinding) -> String {
    let (bytes, time) = (units::bytes, units::time);
    let small_is = bytes(SMALL);
    match finding {
        IoFinding::SmallCalls { small, calls } => format!(
            "{small} of {calls} data accesses ask for less than {small_is}: larger or collective ones cost less"
        ),
        IoFinding::SmallTransfers {
            small,
            transfers,
            calls,
        } => format!(
            "{calls} data accesses became {transfers} transfers, {small} of them smaller than {small_is}: collective access, or \
             data sieving, makes larger ones of strided data"
        ),
        IoFinding::SievingHoles {
            writes,
            asked,
            moved,
        } => format!(
            "for {} asked to be {}, {} were moved: data sieving, which moves holes between the pieces, too",
            bytes(*asked),
            if *writes { "written" } else { "read" },
            bytes(*moved)
        ),
        IoFinding::ReadModifyWrite {
            calls,
            of,
            bytes: read,
        } => format!(
            "{calls} of {of} writing calls read before they wrote ({} read): read-modify-write over holes",
            bytes(*read)
        ),
        IoFinding::Locks { ns, of } => format!(
            "locks take {} of the time in data accesses ({} of {})",
            percent(*ns, *of),
            time(*ns),
            time(*of)
        ),
        IoFinding::Sync { ns, accesses } => format!(
            "waiting for the device (fsync) takes {}, the data accesses themselves {}",
            time(*ns),
            time(*accesses)
        ),
        IoFinding::OneWorker { groups, of, ranks } => format!(
            "in {groups} of {of} collective accesses of {ranks} ranks one rank did all operations: more aggregators (cb_nodes) \
             may be faster"
        ),
        IoFinding::Overwriting { groups, of } => format!(
            "in {groups} of {of} collective accesses ranks wrote the same bytes: which of them the file has then is not defined, \
             unless the file is in atomic mode"
        ),
        IoFinding::CollectiveWait { others, late, of } => format!(
            "{} of the time in collective accesses is waiting: {} while operations of other ranks ran, {} for ranks that came \
             later",
            percent(others.saturating_add(*late), *of),
            time(*others),
            time(*late)
        ),
        IoFinding::Exchange { rest, of } => format!(
            "for {} of the time in collective accesses all ranks are there and no operation runs ({} of {}): exchange of data between \
             the ranks, or ranks that have no core of their own",
            percent(*rest, *of),
            time(*rest),
            time(*of)
        ),
        IoFinding::NotDeferred { function, calls } => format!(
            "{function} moved its data before it returned ({calls} calls): it overlaps with nothing"
        ),
        IoFinding::Imbalance { most } => format!(
            "the busiest data server has {most:.2} times the mean of bytes: the stripe does not fit the accesses"
        ),
        IoFinding::Failed { operations } => {
            let of_kind =
                |&(key, count): &(KindKey, u64)| format!("{count} x {}", names::kind_of(key));
            let kinds: Vec<String> = operations.iter().map(of_kind).collect();
            format!("operations failed: {}", kinds.join(", "))
        }
        IoFinding::ShortWrites { operations } => {
            format!("{operations} writes moved less than they were asked to: is the disk full?")
        }
    }
}

/// The finding as a JSON object, with its kind and its sentence.
pub fn json(finding: &IoFinding) -> Value {
    let name = match finding {
        IoFinding::SmallCalls { .. } => "small_calls",
        IoFinding::SmallTransfers { .. } => "small_transfers",
        IoFinding::SievingHoles { .. } => "sieving_holes",
        IoFinding::ReadModifyWrite { .. } => "read_modify_write",
        IoFinding::Locks { .. } => "locks",
        IoFinding::Sync { .. } => "sync",
        IoFinding::OneWorker { .. } => "one_worker",
        IoFinding::Overwriting { .. } => "overwriting",
        IoFinding::CollectiveWait { .. } => "collective_wait",
        IoFinding::Exchange { .. } => "exchange",
        IoFinding::NotDeferred { .. } => "not_deferred",
        IoFinding::Imbalance { .. } => "imbalance",
        IoFinding::Failed { .. } => "failed",
        IoFinding::ShortWrites { .. } => "short_writes",
    };
    json!({ "finding": name, "text": words(finding) })
}
