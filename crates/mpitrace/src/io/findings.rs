//! What is worth a second look, in words.

use super::names;
use crate::terminal::units;
use analysis::io::{Finding, KindKey, SMALL};
use serde_json::{Value, json};

fn percent(part: u64, of: u64) -> String {
    match of {
        0 => "-".to_owned(),
        of => format!("{:.0} %", 100.0 * part as f64 / of as f64),
    }
}

/// A sentence with the numbers, and what could be done.
pub fn words(finding: &Finding) -> String {
    let (bytes, time) = (units::bytes, units::time);
    let small_is = bytes(SMALL);
    match finding {
        Finding::SmallCalls { small, calls } => format!(
            "{small} of {calls} data accesses ask for less than {small_is}: larger or collective ones cost less"
        ),
        Finding::SmallTransfers {
            small,
            transfers,
            calls,
        } => format!(
            "{calls} data accesses became {transfers} transfers, {small} of them smaller than {small_is}: collective access, or \
             data sieving, makes larger ones of strided data"
        ),
        Finding::SievingHoles {
            writes,
            asked,
            moved,
        } => format!(
            "for {} asked to be {}, {} were moved: data sieving, which moves holes between the pieces, too",
            bytes(*asked),
            if *writes { "written" } else { "read" },
            bytes(*moved)
        ),
        Finding::ReadModifyWrite {
            calls,
            of,
            bytes: read,
        } => format!(
            "{calls} of {of} writing calls read before they wrote ({} read): read-modify-write over holes",
            bytes(*read)
        ),
        Finding::Locks { ns, of } => format!(
            "locks take {} of the time in data accesses ({} of {})",
            percent(*ns, *of),
            time(*ns),
            time(*of)
        ),
        Finding::Sync { ns, accesses } => format!(
            "waiting for the device (fsync) takes {}, the data accesses themselves {}",
            time(*ns),
            time(*accesses)
        ),
        Finding::OneWorker { groups, of, ranks } => format!(
            "in {groups} of {of} collective accesses of {ranks} ranks one rank did all operations: more aggregators (cb_nodes) \
             may be faster"
        ),
        Finding::Overwriting { groups, of } => format!(
            "in {groups} of {of} collective accesses ranks wrote the same bytes: which of them the file has then is not defined, \
             unless the file is in atomic mode"
        ),
        Finding::CollectiveWait { others, late, of } => format!(
            "{} of the time in collective accesses is waiting: {} while operations of other ranks ran, {} for ranks that came \
             later",
            percent(others.saturating_add(*late), *of),
            time(*others),
            time(*late)
        ),
        Finding::Exchange { rest, of } => format!(
            "for {} of the time in collective accesses all ranks are there and no operation runs ({} of {}): exchange of data between \
             the ranks, or ranks that have no core of their own",
            percent(*rest, *of),
            time(*rest),
            time(*of)
        ),
        Finding::NotDeferred { function, calls } => format!(
            "{function} moved its data before it returned ({calls} calls): it overlaps with nothing"
        ),
        Finding::Imbalance { most } => format!(
            "the busiest data server has {most:.2} times the mean of bytes: the stripe does not fit the accesses"
        ),
        Finding::Failed { operations } => {
            let of_kind =
                |&(key, count): &(KindKey, u64)| format!("{count} x {}", names::kind_of(key));
            let kinds: Vec<String> = operations.iter().map(of_kind).collect();
            format!("operations failed: {}", kinds.join(", "))
        }
        Finding::ShortWrites { operations } => {
            format!("{operations} writes moved less than they were asked to: is the disk full?")
        }
    }
}

/// As an object: what it is, the sentence.
pub fn json(finding: &Finding) -> Value {
    let name = match finding {
        Finding::SmallCalls { .. } => "small_calls",
        Finding::SmallTransfers { .. } => "small_transfers",
        Finding::SievingHoles { .. } => "sieving_holes",
        Finding::ReadModifyWrite { .. } => "read_modify_write",
        Finding::Locks { .. } => "locks",
        Finding::Sync { .. } => "sync",
        Finding::OneWorker { .. } => "one_worker",
        Finding::Overwriting { .. } => "overwriting",
        Finding::CollectiveWait { .. } => "collective_wait",
        Finding::Exchange { .. } => "exchange",
        Finding::NotDeferred { .. } => "not_deferred",
        Finding::Imbalance { .. } => "imbalance",
        Finding::Failed { .. } => "failed",
        Finding::ShortWrites { .. } => "short_writes",
    };
    json!({ "finding": name, "text": words(finding) })
}
