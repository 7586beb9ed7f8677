//! Block files: whose they are, how the run ended, what was lost, how clocks differ.

use super::report::{InfoReport, object};
use crate::block_files::machine_clock::notes;
use crate::block_files::snapshot;
use crate::block_files::source::BlockFileInput;
use crate::trace_files::input::OpenedInput;
use blockfile::define::{Definition, Sync};
use blockfile::file::BlockFile;
use std::path::Path;
use unify::scan::Scan;

/// All comparisons with rank 0's clock.
fn syncs(file: &BlockFile<'_>) -> Vec<Sync> {
    let mut syncs = Vec::new();
    let mut timeline = unify::timeline::Timeline::new(file);
    while let Some(item) = timeline.next() {
        let record = item.record;
        if record.is_definition()
            && let Some(Definition::Sync(sync)) =
                Definition::decode(record.function, record.payload)
        {
            syncs.push(sync);
        }
    }
    syncs
}

pub fn describe(path: &Path, input: &OpenedInput, report: &mut InfoReport) {
    let table = match wrappers::table() {
        Ok(table) => table,
        Err(error) => return report.problem(error),
    };
    let notes = notes();
    let file = input.blocks().map_err(|error| error.to_string());
    let source = match file.and_then(|file| {
        let running = snapshot::is_writing(file.info().pid, path);
        BlockFileInput::new(path, file, running, table, notes.as_ref())
    }) {
        Ok(source) => source,
        Err(error) => return report.problem(error),
    };
    for damage in &source.damage {
        report.problem(damage);
    }
    let scan = Scan::new(&source.file);
    let (info, process) = (&source.info, &source.process);
    report.put("program", process.program.clone());
    report.put("host", process.host.clone());
    report.put("user", process.user.clone());
    report.put("pid", info.pid);
    report.put("run", format!("{:016x}", info.run));
    report.put("rank", info.rank);
    report.put("ranks", info.size);
    report.put("handles", format!("{:?}", info.family));
    report.put("clock", format!("{:?}", info.clock));
    report.put("ended", source.end(table, &scan.library));
    let blocks: usize = source
        .file
        .threads()
        .iter()
        .map(|thread| thread.blocks())
        .sum();
    report.put("operations", scan.operations);
    report.put("threads", scan.threads);
    report.put("blocks", blocks);
    report.put("started_ns", source.started);
    if let (Some(from), Some(to)) = (scan.first_ns(), scan.last_ns()) {
        let zero = scan.clock.realtime_offset();
        report.put("first_call_realtime_ns", from.saturating_add(zero));
        report.put("span_s", to.saturating_sub(from) as f64 * 1e-9);
    }
    report.put("calls", scan.calls);
    report.put("calls_counted_only", scan.ignored);
    if scan.matching_only_calls > 0 {
        report.put("calls_matching_only", scan.matching_only_calls);
    }
    report.put("records_lost", scan.lost);
    if info.dropped > 0 {
        report.put("calls_dropped", info.dropped);
    }
    if !scan.lost_reasons.is_empty() {
        report.put("lost_because", scan.lost_reasons.clone());
    }
    let compared = syncs(&source.file).into_iter().map(|sync| {
        object([
            ("ticks", sync.ticks.into()),
            ("shift_s", (sync.shift as f64 * 1e-9).into()),
            ("round_trip_s", (sync.gap as f64 * 1e-9).into()),
        ])
    });
    report.put("clock_comparisons", compared.collect::<Vec<_>>());
    let names = table.functions.iter().enumerate();
    let mut functions: Vec<(u64, &str)> = names
        .filter_map(|(number, function)| {
            let calls = scan.calls_of(u16::try_from(number).ok()?);
            (calls > 0).then_some((calls, function.name.as_str()))
        })
        .collect();
    functions.sort_by_key(|(calls, name)| (std::cmp::Reverse(*calls), *name));
    let functions = functions.into_iter();
    let functions =
        functions.map(|(calls, name)| object([("name", name.into()), ("calls", calls.into())]));
    report.put("functions", functions.collect::<Vec<_>>());
}
