//! The report as tables: one for each question.

use super::names;
use crate::terminal::table::{TableCell, TextTable};
use analysis::io::{AccessTotals, Cache, CausedKind, IoReport, Sizes, WorkTotals};
use analysis::stats::Histogram;
use clap::ValueEnum;

/// Tables that can be had as CSV; JSON has all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum IoTable {
    /// MPI-IO functions: calls, bytes, operations, time
    Functions,
    /// Calls, bytes, operations and time by file
    Files,
    /// Calls, bytes, operations and time by rank
    Ranks,
    /// Operations per call, by function and kind
    PerCall,
    /// Operations by kind: count, bytes, time, failures
    Operations,
    /// Calls by the bytes they ask for, in powers of two
    CallSizes,
    /// Transfers by the bytes they move, in powers of two
    TransferSizes,
    /// Ranks that moved data of other ranks, and of which
    Aggregators,
    /// Time of blocking collective calls by what it was spent on, by rank
    Waits,
    /// Which rank waited while operations of which other rank ran
    WaitedFor,
    /// Disk or page cache, as the kernel accounted for the ranks
    Cache,
    /// The slowest calls with the operations that they caused
    Slowest,
    /// Servers: requests, queue, bytes, disk calls
    Servers,
    /// Block devices
    Devices,
    /// Precision with which the owners of the moved data are known
    Exactness,
}

impl IoTable {
    /// The table of this name.
    pub fn table(self, report: &IoReport) -> TextTable {
        match self {
            IoTable::Functions => functions(report),
            IoTable::Files => files(report),
            IoTable::Ranks => ranks(report),
            IoTable::PerCall => per_call(report),
            IoTable::Operations => operations(report),
            IoTable::CallSizes => call_sizes(report),
            IoTable::TransferSizes => transfer_sizes(report),
            IoTable::Aggregators => aggregators(report),
            IoTable::Waits => waits(report),
            IoTable::WaitedFor => waited_for(report),
            IoTable::Cache => cache(report),
            IoTable::Slowest => slowest(report),
            IoTable::Servers => servers(report),
            IoTable::Devices => devices(report),
            IoTable::Exactness => exactness(report),
        }
    }
}

fn text(text: impl Into<String>) -> TableCell {
    TableCell::Text(text.into())
}

fn time(value: Option<f64>) -> TableCell {
    value.map_or(TableCell::None, |ns| TableCell::Time(ns as u64))
}

fn real(value: Option<f64>) -> TableCell {
    TableCell::optional(value, TableCell::Real)
}

fn whole(value: Option<f64>) -> TableCell {
    value.map_or(TableCell::None, |value| TableCell::Count(value as u64))
}

fn mean(sum: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}

fn percentile(durations: &Histogram, percent: f64) -> TableCell {
    time(durations.percentile(percent))
}

fn share(part: u64, of: u64) -> TableCell {
    TableCell::optional(mean(part, of), TableCell::Share)
}

const ACCESS: [&str; 34] = [
    "calls",
    "asked_bytes",
    "carried_bytes",
    "missing_bytes",
    "hole_read_bytes",
    "hole_written_bytes",
    "moved_bytes",
    "amplification",
    "read_modify_write",
    "operations",
    "transfers",
    "per_call_mean",
    "per_call_p50",
    "per_call_p90",
    "per_call_p99",
    "per_call_max",
    "time_s",
    "mean_s",
    "p50_s",
    "p99_s",
    "max_s",
    "transfer_s",
    "lock_s",
    "sync_s",
    "open_s",
    "other_s",
    "outstanding_s",
    "deferred",
    "pending_s",
    "in_transfers",
    "in_locks",
    "in_sync",
    "in_others",
    "elsewhere",
];

/// The cells of [`ACCESS`].
fn access(row: &AccessTotals) -> Vec<TableCell> {
    let (calls, times) = (row.calls, row.times);
    let per_call = |percent| whole(row.caused.percentile(percent, calls));
    vec![
        TableCell::Count(calls),
        TableCell::Bytes(row.asked),
        TableCell::Bytes(row.carried),
        TableCell::Bytes(row.missing),
        TableCell::Bytes(row.hole_bytes_read),
        TableCell::Bytes(row.hole_bytes_written),
        TableCell::Bytes(row.moved()),
        real(row.amplification()),
        TableCell::Count(row.modifying),
        TableCell::Count(row.operations),
        TableCell::Count(row.transfers),
        real(row.caused.mean(calls)),
        per_call(50.0),
        per_call(90.0),
        per_call(99.0),
        TableCell::Count(row.caused.most),
        TableCell::Time(row.ns),
        time(mean(row.ns, calls)),
        percentile(&row.durations, 50.0),
        percentile(&row.durations, 99.0),
        time(row.durations.max()),
        TableCell::Time(times.transfer),
        TableCell::Time(times.lock),
        TableCell::Time(times.sync),
        TableCell::Time(times.open),
        TableCell::Time(times.other),
        TableCell::Time(times.outstanding),
        TableCell::Count(row.deferred),
        TableCell::Time(row.pending),
        share(times.transfer, row.ns),
        share(times.lock, row.ns),
        share(times.sync, row.ns),
        share(times.open.saturating_add(times.other), row.ns),
        share(row.ns.saturating_sub(times.busy()), row.ns),
    ]
}

/// A table of accesses with these columns before.
fn accesses(
    name: &'static str,
    keys: &[&'static str],
    rows: impl Iterator<Item = (Vec<TableCell>, Vec<TableCell>)>,
) -> TextTable {
    let mut table = TextTable::new(name, &[keys, &ACCESS].concat());
    table.rows = rows.map(|(key, cells)| [key, cells].concat()).collect();
    table
}

fn functions(report: &IoReport) -> TextTable {
    let rows = by_time(report).into_iter();
    let rows = rows.map(|(name, row)| (vec![text(name)], access(row)));
    accesses("functions", &["function"], rows)
}

/// The functions, those in which most time was spent first.
fn by_time(report: &IoReport) -> Vec<(&String, &AccessTotals)> {
    let mut rows: Vec<_> = report.functions.iter().collect();
    rows.sort_by_key(|(_, row)| std::cmp::Reverse(row.ns));
    rows
}

fn files(report: &IoReport) -> TextTable {
    let row = |(&(number, writes), row): (&(u32, bool), &AccessTotals)| {
        let file = report.files.get(&number);
        let key = vec![
            text(names::file(file, number)),
            text(if writes { "write" } else { "read" }),
        ];
        (key, access(row))
    };
    let rows = report.by_file.iter().map(row);
    accesses("files", &["file", "direction"], rows)
}

fn ranks(report: &IoReport) -> TextTable {
    let rows = report.by_rank.iter();
    let rows = rows.map(|(&rank, row)| (vec![TableCell::Count(rank.into())], access(row)));
    accesses("ranks", &["rank"], rows)
}

fn per_call(report: &IoReport) -> TextTable {
    let columns = [
        "function",
        "operation",
        "calls",
        "causing",
        "operations",
        "mean",
        "p50",
        "p90",
        "p99",
        "max",
    ];
    let mut table = TextTable::new("per_call", &columns);
    for (name, row) in by_time(report) {
        let all = (String::from("all calls into libc"), &row.caused);
        let kinds = row.kinds.iter();
        let kinds = kinds.map(|(&key, per_call)| (names::kind_of(key), per_call));
        for (kind, per_call) in [all].into_iter().chain(kinds) {
            let percentile = |percent| whole(per_call.percentile(percent, row.calls));
            table.rows.push(vec![
                text(name),
                text(kind),
                TableCell::Count(row.calls),
                TableCell::Count(per_call.causing),
                TableCell::Count(per_call.operations),
                real(per_call.mean(row.calls)),
                percentile(50.0),
                percentile(90.0),
                percentile(99.0),
                TableCell::Count(per_call.most),
            ]);
        }
    }
    table
}

fn operations(report: &IoReport) -> TextTable {
    let columns = [
        "by",
        "operation",
        "count",
        "moved_bytes",
        "hole_bytes",
        "time_s",
        "mean_s",
        "p99_s",
        "max_s",
        "carried_calls",
        "without_call",
        "outstanding",
        "failed",
        "short",
        "unasked",
        "unasked_bytes",
    ];
    let mut table = TextTable::new("operations", &columns);
    table.rare = vec!["carried_calls", "p99_s", "mean_s"];
    for (&key, row) in &report.kinds {
        table.rows.push(vec![
            text(names::who(key.who)),
            text(names::kind_of(key)),
            TableCell::Count(row.count),
            TableCell::Bytes(row.bytes),
            TableCell::Bytes(row.hole_bytes),
            TableCell::Time(row.ns),
            time(mean(row.ns, row.count)),
            percentile(&row.durations, 99.0),
            time(row.durations.max()),
            TableCell::Count(row.carried_calls),
            TableCell::Count(row.without_call),
            TableCell::Count(row.outstanding),
            TableCell::Count(row.failed),
            TableCell::Count(row.short),
            TableCell::Count(row.unasked),
            TableCell::Bytes(row.unasked_bytes),
        ]);
    }
    table
}

/// Reads and writes side by side.
fn sizes(name: &'static str, reads: &Sizes, writes: &Sizes) -> TextTable {
    let columns = [
        "from_bytes",
        "to_bytes",
        "reads",
        "read_bytes",
        "writes",
        "written_bytes",
    ];
    let mut table = TextTable::new(name, &columns);
    let mut classes = std::collections::BTreeMap::new();
    for class in reads.classes() {
        classes.entry((class.low, class.high)).or_insert([None; 2])[0] = Some(class.volume);
    }
    for class in writes.classes() {
        classes.entry((class.low, class.high)).or_insert([None; 2])[1] = Some(class.volume);
    }
    for ((low, high), volumes) in classes {
        let mut row = vec![TableCell::Bytes(low), TableCell::Bytes(high)];
        for volume in volumes.map(Option::unwrap_or_default) {
            row.extend([
                TableCell::Count(volume.count),
                TableCell::Bytes(volume.bytes),
            ]);
        }
        table.rows.push(row);
    }
    table
}

fn call_sizes(report: &IoReport) -> TextTable {
    sizes("call_sizes", &report.reads.sizes, &report.writes.sizes)
}

fn transfer_sizes(report: &IoReport) -> TextTable {
    sizes("transfer_sizes", &report.read_sizes, &report.write_sizes)
}

fn aggregators(report: &IoReport) -> TextTable {
    let columns = ["rank", "serves", "transfers", "moved_bytes"];
    let mut table = TextTable::new("aggregators", &columns);
    for (&rank, aggregator) in &report.aggregators {
        for (&owner, volume) in &aggregator.serves {
            table.rows.push(vec![
                TableCell::Count(rank.into()),
                TableCell::Count(owner.into()),
                TableCell::Count(volume.count),
                TableCell::Bytes(volume.bytes),
            ]);
        }
    }
    table
}

/// Aggregators in short: one row each.
pub fn aggregator_summary(report: &IoReport) -> TextTable {
    let columns = [
        "rank",
        "ranks served",
        "transfers for them",
        "for_them_bytes",
        "for_itself_bytes",
    ];
    let mut table = TextTable::new("aggregator_summary", &columns);
    for (&rank, aggregator) in &report.aggregators {
        let transfers = aggregator.serves.values().map(|volume| volume.count).sum();
        table.rows.push(vec![
            TableCell::Count(rank.into()),
            TableCell::Count(aggregator.serves.len() as u64),
            TableCell::Count(transfers),
            TableCell::Bytes(aggregator.served_bytes()),
            TableCell::Bytes(aggregator.own_bytes),
        ]);
    }
    table
}

fn waits(report: &IoReport) -> TextTable {
    let columns = [
        "rank", "calls", "time_s", "own_s", "others_s", "late_s", "rest_s", "own", "others",
        "late", "rest",
    ];
    let mut table = TextTable::new("waits", &columns);
    for (&rank, row) in &report.collectives.ranks {
        let waits = row.waits;
        let all = waits.all();
        let parts = [waits.own, waits.others, waits.late, waits.rest];
        let mut cells = vec![
            TableCell::Count(rank.into()),
            TableCell::Count(row.calls),
            TableCell::Time(all),
        ];
        cells.extend(parts.map(TableCell::Time));
        cells.extend(parts.map(|part| share(part, all)));
        table.rows.push(cells);
    }
    table
}

fn waited_for(report: &IoReport) -> TextTable {
    let columns = ["rank", "waited_for", "operations", "waited_s"];
    let mut table = TextTable::new("waited_for", &columns);
    for (&(rank, other), waited) in &report.collectives.waited_for {
        for (&doing, &ns) in waited {
            table.rows.push(vec![
                TableCell::Count(rank.into()),
                TableCell::Count(other.into()),
                text(names::doing(doing)),
                TableCell::Time(ns),
            ]);
        }
    }
    table
}

fn cache(report: &IoReport) -> TextTable {
    let columns = [
        "direction",
        "transfers",
        "moved_bytes",
        "device_bytes",
        "cached_transfers",
        "cached_bytes",
        "cached_share",
    ];
    let mut table = TextTable::new("cache", &columns);
    let mut row = |direction: &str, cache: &Cache| {
        if cache.transfers > 0 {
            table.rows.push(vec![
                text(direction),
                TableCell::Count(cache.transfers),
                TableCell::Bytes(cache.bytes),
                TableCell::Bytes(cache.sectors.saturating_mul(512)),
                TableCell::Count(cache.cached),
                TableCell::Bytes(cache.cached_bytes),
                share(cache.cached, cache.transfers),
            ]);
        }
    };
    row("read", &report.cache_reads);
    row("write", &report.cache_writes);
    table
}

fn slowest(report: &IoReport) -> TextTable {
    let columns = [
        "callid",
        "function",
        "rank",
        "file",
        "asked_bytes",
        "begin_s",
        "time_s",
        "operation",
        "count",
        "moved_bytes",
        "operations_s",
        "longest_s",
    ];
    let mut table = TextTable::new("slowest", &columns);
    for slow in &report.slowest {
        let made = &slow.made;
        let rank = match made.place.lane.actor {
            io_attribution::Actor::Rank(rank) => TableCell::Count(rank.into()),
            _ => TableCell::None,
        };
        let begin = u64::try_from(made.place.ns.saturating_sub(report.zero)).unwrap_or(0);
        let call = vec![
            text(names::callid(made.call)),
            text(&*made.name),
            rank,
            text(names::file(report.files.get(&made.file), made.file)),
            TableCell::Bytes(made.bytes),
            TableCell::Time(begin),
            TableCell::Time(made.duration()),
        ];
        if slow.caused.is_empty() {
            let mut row = call.clone();
            row.resize(columns.len(), TableCell::None);
            table.rows.push(row);
        }
        for caused in &slow.caused {
            table
                .rows
                .push([call.clone(), caused_cells(caused)].concat());
        }
    }
    table
}

/// Operation, count, bytes, time, longest.
pub fn caused_cells(caused: &CausedKind) -> Vec<TableCell> {
    vec![
        text(names::kind_of(caused.key)),
        TableCell::Count(caused.operations),
        TableCell::Bytes(caused.bytes),
        TableCell::Time(caused.ns),
        TableCell::Time(caused.longest),
    ]
}

fn work(by: &str, what: &str, work: &WorkTotals) -> Option<Vec<TableCell>> {
    (work.volume.count > 0).then(|| {
        vec![
            text(by),
            text(what),
            TableCell::Count(work.volume.count),
            TableCell::Bytes(work.volume.bytes),
            TableCell::Time(work.ns),
            time(mean(work.ns, work.volume.count)),
            percentile(&work.durations, 50.0),
            percentile(&work.durations, 99.0),
            time(work.durations.max()),
        ]
    })
}

const WORK: [&str; 9] = [
    "by",
    "work",
    "count",
    "moved_bytes",
    "time_s",
    "mean_s",
    "p50_s",
    "p99_s",
    "max_s",
];

fn servers(report: &IoReport) -> TextTable {
    let mut table = TextTable::new("servers", &WORK);
    for (&actor, row) in &report.below.servers {
        let by = names::actor(actor);
        let all = [
            ("reads", &row.reads),
            ("writes", &row.writes),
            ("other requests", &row.others),
            ("in the queue", &row.queued),
            ("passed on", &row.passed_on),
            ("disk reads", &row.disk_reads),
            ("disk writes", &row.disk_writes),
            ("other disk calls", &row.disk_others),
        ];
        table
            .rows
            .extend(all.iter().filter_map(|(what, of)| work(&by, what, of)));
    }
    table
}

fn devices(report: &IoReport) -> TextTable {
    let mut table = TextTable::new("devices", &WORK);
    for (&number, row) in &report.below.devices {
        let by = format!("device {number}");
        let all = [
            ("reads", &row.reads),
            ("writes", &row.writes),
            ("flushes", &row.flushes),
            ("metadata", &row.metadata),
        ];
        table
            .rows
            .extend(all.iter().filter_map(|(what, of)| work(&by, what, of)));
    }
    table
}

fn exactness(report: &IoReport) -> TextTable {
    let columns = [
        "stage",
        "transfers",
        "settled",
        "moved_bytes",
        "hole_bytes",
        "exact_bytes",
        "page_bytes",
        "bounding_extent_bytes",
        "ambiguous_bytes",
        "may_carry_bytes",
        "unknown_bytes",
        "settled_share",
    ];
    let mut table = TextTable::new("exactness", &columns);
    for (&stage, row) in &report.attribution {
        table.rows.push(vec![
            text(names::stage(stage)),
            TableCell::Count(row.transfers),
            TableCell::Count(row.settled),
            TableCell::Bytes(row.moved),
            TableCell::Bytes(row.hole_bytes),
            TableCell::Bytes(row.exact),
            TableCell::Bytes(row.page),
            TableCell::Bytes(row.bounding_extent),
            TableCell::Bytes(row.ambiguous),
            TableCell::Bytes(row.may_carry),
            TableCell::Bytes(row.unattributed),
            share(row.settled, row.transfers),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::io::{KindKey, KindRow};
    use io_attribution::{Actor, FileRole};

    #[test]
    fn bytes_that_nothing_moved_are_told_to_programs() {
        let mut report = IoReport::default();
        let written = AccessTotals {
            calls: 1,
            asked: 100,
            carried: 60,
            missing: 40,
            ..AccessTotals::default()
        };
        let name = "MPI_File_iwrite".to_owned();
        report.functions.insert(name, written);
        let unasked = KindRow {
            count: 3,
            unasked: 2,
            unasked_bytes: 40,
            ..KindRow::default()
        };
        let kind = KindKey::of(Actor::Rank(0), 0, FileRole::Data);
        report.kinds.insert(kind, unasked);
        let functions = IoTable::Functions.table(&report).json();
        assert_eq!(functions[0]["missing_bytes"], 40);
        let operations = IoTable::Operations.table(&report).json();
        assert_eq!(operations[0]["unasked"], 2);
        assert_eq!(operations[0]["unasked_bytes"], 40);
    }
}
