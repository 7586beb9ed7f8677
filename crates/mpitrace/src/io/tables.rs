//! The report as tables: one for each question.

use super::names;
use crate::terminal::table::{Cell, Table};
use analysis::io::{Access, Cache, Caused, Report, Sizes, Work};
use analysis::stats::Histogram;
use clap::ValueEnum;

/// Tables that can be had as CSV; JSON has all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableName {
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
    /// Where the time of blocking collective calls went, by rank
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
    /// How exactly the owners of the moved data are known
    Exactness,
}

impl TableName {
    /// The table of this name.
    pub fn table(self, report: &Report) -> Table {
        match self {
            TableName::Functions => functions(report),
            TableName::Files => files(report),
            TableName::Ranks => ranks(report),
            TableName::PerCall => per_call(report),
            TableName::Operations => operations(report),
            TableName::CallSizes => call_sizes(report),
            TableName::TransferSizes => transfer_sizes(report),
            TableName::Aggregators => aggregators(report),
            TableName::Waits => waits(report),
            TableName::WaitedFor => waited_for(report),
            TableName::Cache => cache(report),
            TableName::Slowest => slowest(report),
            TableName::Servers => servers(report),
            TableName::Devices => devices(report),
            TableName::Exactness => exactness(report),
        }
    }
}

fn text(text: impl Into<String>) -> Cell {
    Cell::Text(text.into())
}

fn time(value: Option<f64>) -> Cell {
    value.map_or(Cell::None, |ns| Cell::Time(ns as u64))
}

fn real(value: Option<f64>) -> Cell {
    Cell::optional(value, Cell::Real)
}

fn whole(value: Option<f64>) -> Cell {
    value.map_or(Cell::None, |value| Cell::Count(value as u64))
}

fn mean(sum: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}

fn percentile(durations: &Histogram, percent: f64) -> Cell {
    time(durations.percentile(percent))
}

fn share(part: u64, of: u64) -> Cell {
    Cell::optional(mean(part, of), Cell::Share)
}

const ACCESS: [&str; 33] = [
    "calls",
    "asked_bytes",
    "carried_bytes",
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
fn access(row: &Access) -> Vec<Cell> {
    let (calls, times) = (row.calls, row.times);
    let per_call = |percent| whole(row.caused.percentile(percent, calls));
    vec![
        Cell::Count(calls),
        Cell::Bytes(row.asked),
        Cell::Bytes(row.carried),
        Cell::Bytes(row.hole_bytes_read),
        Cell::Bytes(row.hole_bytes_written),
        Cell::Bytes(row.moved()),
        real(row.amplification()),
        Cell::Count(row.modifying),
        Cell::Count(row.operations),
        Cell::Count(row.transfers),
        real(row.caused.mean(calls)),
        per_call(50.0),
        per_call(90.0),
        per_call(99.0),
        Cell::Count(row.caused.most),
        Cell::Time(row.ns),
        time(mean(row.ns, calls)),
        percentile(&row.durations, 50.0),
        percentile(&row.durations, 99.0),
        time(row.durations.max()),
        Cell::Time(times.transfer),
        Cell::Time(times.lock),
        Cell::Time(times.sync),
        Cell::Time(times.open),
        Cell::Time(times.other),
        Cell::Time(times.outstanding),
        Cell::Count(row.deferred),
        Cell::Time(row.pending),
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
    rows: impl Iterator<Item = (Vec<Cell>, Vec<Cell>)>,
) -> Table {
    let mut table = Table::new(name, &[keys, &ACCESS].concat());
    table.rows = rows.map(|(key, cells)| [key, cells].concat()).collect();
    table
}

fn functions(report: &Report) -> Table {
    let rows = by_time(report).into_iter();
    let rows = rows.map(|(name, row)| (vec![text(name)], access(row)));
    accesses("functions", &["function"], rows)
}

/// The functions, those in which most time was spent first.
fn by_time(report: &Report) -> Vec<(&String, &Access)> {
    let mut rows: Vec<_> = report.functions.iter().collect();
    rows.sort_by_key(|(_, row)| std::cmp::Reverse(row.ns));
    rows
}

fn files(report: &Report) -> Table {
    let row = |(&(number, writes), row): (&(u32, bool), &Access)| {
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

fn ranks(report: &Report) -> Table {
    let rows = report.by_rank.iter();
    let rows = rows.map(|(&rank, row)| (vec![Cell::Count(rank.into())], access(row)));
    accesses("ranks", &["rank"], rows)
}

fn per_call(report: &Report) -> Table {
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
    let mut table = Table::new("per_call", &columns);
    for (name, row) in by_time(report) {
        let all = (String::from("all calls into libc"), &row.caused);
        let kinds = row.kinds.iter();
        let kinds = kinds.map(|(&key, per_call)| (names::kind_of(key), per_call));
        for (kind, per_call) in [all].into_iter().chain(kinds) {
            let percentile = |percent| whole(per_call.percentile(percent, row.calls));
            table.rows.push(vec![
                text(name),
                text(kind),
                Cell::Count(row.calls),
                Cell::Count(per_call.causing),
                Cell::Count(per_call.operations),
                real(per_call.mean(row.calls)),
                percentile(50.0),
                percentile(90.0),
                percentile(99.0),
                Cell::Count(per_call.most),
            ]);
        }
    }
    table
}

fn operations(report: &Report) -> Table {
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
    ];
    let mut table = Table::new("operations", &columns);
    table.rare = vec!["carried_calls", "p99_s", "mean_s"];
    for (&key, row) in &report.kinds {
        table.rows.push(vec![
            text(names::who(key.who)),
            text(names::kind_of(key)),
            Cell::Count(row.count),
            Cell::Bytes(row.bytes),
            Cell::Bytes(row.hole_bytes),
            Cell::Time(row.ns),
            time(mean(row.ns, row.count)),
            percentile(&row.durations, 99.0),
            time(row.durations.max()),
            Cell::Count(row.carried_calls),
            Cell::Count(row.without_call),
            Cell::Count(row.outstanding),
            Cell::Count(row.failed),
            Cell::Count(row.short),
        ]);
    }
    table
}

/// Reads and writes side by side.
fn sizes(name: &'static str, reads: &Sizes, writes: &Sizes) -> Table {
    let columns = [
        "from_bytes",
        "to_bytes",
        "reads",
        "read_bytes",
        "writes",
        "written_bytes",
    ];
    let mut table = Table::new(name, &columns);
    let mut classes = std::collections::BTreeMap::new();
    for class in reads.classes() {
        classes.entry((class.low, class.high)).or_insert([None; 2])[0] = Some(class.volume);
    }
    for class in writes.classes() {
        classes.entry((class.low, class.high)).or_insert([None; 2])[1] = Some(class.volume);
    }
    for ((low, high), volumes) in classes {
        let mut row = vec![Cell::Bytes(low), Cell::Bytes(high)];
        for volume in volumes.map(Option::unwrap_or_default) {
            row.extend([Cell::Count(volume.count), Cell::Bytes(volume.bytes)]);
        }
        table.rows.push(row);
    }
    table
}

fn call_sizes(report: &Report) -> Table {
    sizes("call_sizes", &report.reads.sizes, &report.writes.sizes)
}

fn transfer_sizes(report: &Report) -> Table {
    sizes("transfer_sizes", &report.read_sizes, &report.write_sizes)
}

fn aggregators(report: &Report) -> Table {
    let columns = ["rank", "serves", "transfers", "moved_bytes"];
    let mut table = Table::new("aggregators", &columns);
    for (&rank, aggregator) in &report.aggregators {
        for (&owner, volume) in &aggregator.serves {
            table.rows.push(vec![
                Cell::Count(rank.into()),
                Cell::Count(owner.into()),
                Cell::Count(volume.count),
                Cell::Bytes(volume.bytes),
            ]);
        }
    }
    table
}

/// Aggregators in short: one row each.
pub fn aggregator_summary(report: &Report) -> Table {
    let columns = [
        "rank",
        "ranks served",
        "transfers for them",
        "for_them_bytes",
        "for_itself_bytes",
    ];
    let mut table = Table::new("aggregator_summary", &columns);
    for (&rank, aggregator) in &report.aggregators {
        let transfers = aggregator.serves.values().map(|volume| volume.count).sum();
        table.rows.push(vec![
            Cell::Count(rank.into()),
            Cell::Count(aggregator.serves.len() as u64),
            Cell::Count(transfers),
            Cell::Bytes(aggregator.served_bytes()),
            Cell::Bytes(aggregator.own_bytes),
        ]);
    }
    table
}

fn waits(report: &Report) -> Table {
    let columns = [
        "rank", "calls", "time_s", "own_s", "others_s", "late_s", "rest_s", "own", "others",
        "late", "rest",
    ];
    let mut table = Table::new("waits", &columns);
    for (&rank, row) in &report.collectives.ranks {
        let waits = row.waits;
        let all = waits.all();
        let parts = [waits.own, waits.others, waits.late, waits.rest];
        let mut cells = vec![
            Cell::Count(rank.into()),
            Cell::Count(row.calls),
            Cell::Time(all),
        ];
        cells.extend(parts.map(Cell::Time));
        cells.extend(parts.map(|part| share(part, all)));
        table.rows.push(cells);
    }
    table
}

fn waited_for(report: &Report) -> Table {
    let columns = ["rank", "waited_for", "operations", "waited_s"];
    let mut table = Table::new("waited_for", &columns);
    for (&(rank, other), waited) in &report.collectives.waited_for {
        for (&doing, &ns) in waited {
            table.rows.push(vec![
                Cell::Count(rank.into()),
                Cell::Count(other.into()),
                text(names::doing(doing)),
                Cell::Time(ns),
            ]);
        }
    }
    table
}

fn cache(report: &Report) -> Table {
    let columns = [
        "direction",
        "transfers",
        "moved_bytes",
        "device_bytes",
        "cached_transfers",
        "cached_bytes",
        "cached_share",
    ];
    let mut table = Table::new("cache", &columns);
    let mut row = |direction: &str, cache: &Cache| {
        if cache.transfers > 0 {
            table.rows.push(vec![
                text(direction),
                Cell::Count(cache.transfers),
                Cell::Bytes(cache.bytes),
                Cell::Bytes(cache.sectors.saturating_mul(512)),
                Cell::Count(cache.cached),
                Cell::Bytes(cache.cached_bytes),
                share(cache.cached, cache.transfers),
            ]);
        }
    };
    row("read", &report.cache_reads);
    row("write", &report.cache_writes);
    table
}

fn slowest(report: &Report) -> Table {
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
    let mut table = Table::new("slowest", &columns);
    for slow in &report.slowest {
        let made = &slow.made;
        let rank = match made.place.lane.actor {
            io_attribution::Actor::Rank(rank) => Cell::Count(rank.into()),
            _ => Cell::None,
        };
        let begin = u64::try_from(made.place.ns.saturating_sub(report.zero)).unwrap_or(0);
        let call = vec![
            text(names::callid(made.call)),
            text(&*made.name),
            rank,
            text(names::file(report.files.get(&made.file), made.file)),
            Cell::Bytes(made.bytes),
            Cell::Time(begin),
            Cell::Time(made.duration()),
        ];
        if slow.caused.is_empty() {
            let mut row = call.clone();
            row.resize(columns.len(), Cell::None);
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
pub fn caused_cells(caused: &Caused) -> Vec<Cell> {
    vec![
        text(names::kind_of(caused.key)),
        Cell::Count(caused.operations),
        Cell::Bytes(caused.bytes),
        Cell::Time(caused.ns),
        Cell::Time(caused.longest),
    ]
}

fn work(by: &str, what: &str, work: &Work) -> Option<Vec<Cell>> {
    (work.volume.count > 0).then(|| {
        vec![
            text(by),
            text(what),
            Cell::Count(work.volume.count),
            Cell::Bytes(work.volume.bytes),
            Cell::Time(work.ns),
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

fn servers(report: &Report) -> Table {
    let mut table = Table::new("servers", &WORK);
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

fn devices(report: &Report) -> Table {
    let mut table = Table::new("devices", &WORK);
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

fn exactness(report: &Report) -> Table {
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
    let mut table = Table::new("exactness", &columns);
    for (&stage, row) in &report.attribution {
        table.rows.push(vec![
            text(names::stage(stage)),
            Cell::Count(row.transfers),
            Cell::Count(row.settled),
            Cell::Bytes(row.moved),
            Cell::Bytes(row.hole_bytes),
            Cell::Bytes(row.exact),
            Cell::Bytes(row.page),
            Cell::Bytes(row.bounding_extent),
            Cell::Bytes(row.ambiguous),
            Cell::Bytes(row.may_carry),
            Cell::Bytes(row.unattributed),
            share(row.settled, row.transfers),
        ]);
    }
    table
}
