//! Counts recorded calls that only repeat an unsuccessful poll: what `polling sample` would have counted instead
//! of kept.

use super::scan::Scan;
use blockfile::args::ArgValues;
use blockfile::file::BlockFile;
use blockfile::layout::Family;
use blockfile::record::Record;
use wrappers::{Function, PollOutcome, Table};

/// Most different calls that take turns in one row; the recorder's `polling sample` knows as many.
const MAX_TURNS: usize = 8;

/// One of the calls that take turns.
struct Turn {
    function: u16,
    payload: Vec<u8>,
    calls: u64,
}

impl Turn {
    /// Whether `record` is of this call with the same arguments.
    fn is_like(&mut self, function: &Function, family: Family, record: &Record<'_>) -> bool {
        if self.function != record.function || record.code != 0 {
            return false;
        }
        if self.payload == record.payload {
            return true;
        }
        // Up to three bytes behind the arguments fill a payload up. They are what stood there before.
        let args = |payload| ArgValues::decode(function, family, payload);
        let is_same = match (args(&self.payload), args(record.payload)) {
            (Some(own), Some(other)) => own.values() == other.values(),
            _ => false,
        };
        if is_same {
            self.payload.clear();
            self.payload.extend_from_slice(record.payload);
        }
        is_same
    }
}

/// Recorded polls of `file` that stand between the first and the last of their row: equal calls that brought nothing, with no
/// other recorded call of their thread between them. Nothing is looked at, and the answer is 0, if not more than half of the
/// calls that `scan` found are of functions that can be polls.
pub fn repeated(file: &BlockFile<'_>, scan: &Scan, table: &Table) -> u64 {
    let asking = table.functions.iter().filter(|f| f.vain().is_some());
    let asked: u64 = asking.map(|f| scan.calls_of(f.id as u16)).sum();
    if asked <= scan.calls / 2 {
        return 0;
    }
    let mut repeated = 0;
    for thread in file.threads() {
        let mut row: Vec<Turn> = Vec::new();
        let mut records = thread.records();
        while let Some(record) = records.next() {
            if !record.is_call() {
                continue;
            }
            let known = table.functions.get(usize::from(record.function));
            let family = file.info().family;
            let is_equal = |t: &mut Turn| known.is_some_and(|f| t.is_like(f, family, &record));
            if let Some(turn) = row.iter_mut().position(is_equal) {
                row[turn].calls += 1;
                continue;
            }
            let vain = known.is_some_and(|f| is_vain(f, family, &record));
            if !vain || row.len() == MAX_TURNS {
                repeated += between(&row);
                row.clear();
            }
            if vain {
                row.push(Turn {
                    function: record.function,
                    payload: record.payload.to_vec(),
                    calls: 1,
                });
            }
        }
        repeated += between(&row);
    }
    repeated
}

/// Calls of a row that are neither the first nor the last of their kind.
fn between(row: &[Turn]) -> u64 {
    row.iter().map(|turn| turn.calls.saturating_sub(2)).sum()
}

/// Whether the call has only asked, and has brought nothing.
pub fn is_vain(function: &Function, family: Family, record: &Record<'_>) -> bool {
    let answer = |i: usize| ArgValues::decode(function, family, record.payload)?.int(i);
    record.code == 0
        && match function.vain() {
            None => false,
            Some(PollOutcome::Always) => true,
            Some(PollOutcome::Not(flag)) => answer(flag) == Some(0),
            Some(PollOutcome::No(count)) => answer(count).is_some_and(|n| n <= 0),
        }
}
