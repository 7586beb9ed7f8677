//! Attribution of the block files of a run in one process, as MPI_Finalize does it in parallel.

use super::event::AttributionEvent;
use super::extract::{EventExtract, server_of};
use super::{AttributionRecord, AttributionTotals, Attributor};
use blockfile::file::BlockFile;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use trace_formats::clog2::states::CallIdDisplay;
use trace_model::Stop;
use unify::run_files::{RunFilesError, adopt_clocks};
use unify::scan::Scan;
use unify::schema::Schema;
use wrappers::Table;

/// Attributes the operations in the block files `files` of ranks, servers and devices, made with `table`, and passes the attribution
/// records to `put`. Files of processes whose MPI_Init has not returned are skipped.
///
/// # Errors
/// The errors of `put`; [`unify::run_files::RunFilesError`] if the files do not belong together.
pub fn attribute_files(
    files: &[BlockFile<'_>],
    table: &Table,
    put: &mut dyn FnMut(&AttributionRecord) -> Result<(), Stop>,
) -> Result<AttributionTotals, Stop> {
    let mut attributor = Attributor::new(table);
    let zero = events_of_files(files, table, &mut |time, event| {
        attributor.push(time, event, put)
    })?;
    let totals = attributor.finish(put)?;
    Ok(AttributionTotals { zero, ..totals })
}

/// Passes the events of all files to `put` in order of time. Returns the start of the first call of any rank, ns.
fn events_of_files(
    files: &[BlockFile<'_>],
    table: &Table,
    put: &mut dyn FnMut(i64, AttributionEvent) -> Result<(), Stop>,
) -> Result<Option<i64>, Stop> {
    let expected = table.fingerprint();
    let mut scans = Vec::new();
    let (mut run, mut ranks) = (None, BTreeMap::new());
    for (i, file) in files.iter().enumerate() {
        let info = file.info();
        let rank = u32::try_from(info.rank).ok();
        if rank.is_none() && server_of(file).is_none() {
            continue;
        }
        if info.table != expected {
            return Err(RunFilesError::OtherTable {
                file: i,
                found: info.table,
                expected,
            }
            .into());
        }
        if let Some(rank) = rank {
            if *run.get_or_insert(info.run) != info.run {
                return Err(RunFilesError::OtherRun { file: i }.into());
            }
            if ranks.insert(rank, i).is_some() {
                return Err(RunFilesError::SameRank { file: i, rank }.into());
            }
        }
        scans.push((file, Scan::new(file)));
    }
    // All times are those of the lowest rank's clock.
    scans.sort_by_key(|(_, scan)| scan.rank().unwrap_or(u32::MAX));
    adopt_clocks(scans.iter_mut().map(|(_, scan)| scan));
    let unknown = BTreeMap::new();
    let family = scans.iter().find(|(_, s)| s.rank().is_some());
    let Some(family) = family.or(scans.first()).map(|(_, s)| s.info.family) else {
        return Ok(None);
    };
    let ranks = scans.iter().filter(|(_, scan)| scan.rank().is_some());
    let zero = ranks.filter_map(|(_, scan)| scan.first_ns()).min();
    let schema = Schema::new(table, family, CallIdDisplay::None, &unknown);
    let mut extracts: Vec<EventExtract<'_>> = scans
        .iter()
        .map(|(file, scan)| EventExtract::new(file, scan, &schema))
        .collect();
    let mut next = BinaryHeap::new();
    let mut events: Vec<Option<AttributionEvent>> = Vec::new();
    for (i, extract) in extracts.iter_mut().enumerate() {
        let first = extract.next();
        next.extend(first.as_ref().map(|(time, _)| Reverse((*time, i))));
        events.push(first.map(|(_, event)| event));
    }
    while let Some(Reverse((time, i))) = next.pop() {
        let (Some(slot), Some(extract)) = (events.get_mut(i), extracts.get_mut(i)) else {
            continue;
        };
        let then = extract.next();
        next.extend(then.as_ref().map(|(time, _)| Reverse((*time, i))));
        if let Some(event) = std::mem::replace(slot, then.map(|(_, event)| event)) {
            put(time, event)?;
        }
    }
    Ok(zero)
}
