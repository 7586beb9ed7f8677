//! The report for people.

use super::tables::{self, IoTable};
use super::{findings, names};
use crate::terminal;
use crate::terminal::table::{TableCell, TextTable, Width};
use crate::terminal::units::{bytes, counted, seconds, time};
use analysis::io::{AccessTotals, Common, Doing, IoReport, RunFacts, Slow};
use io_attribution::{Actor, AttributionTotals};
use std::collections::{BTreeMap, BTreeSet};

/// Characters of a line of text.
const MAX_LINE: usize = 100;
/// Rows of tables that may be long.
const MAX_TABLE_ROWS: usize = 20;

/// All of a report, its tables of lines of at most `width` characters. `rank` is the rank that it is restricted to.
pub fn report(
    report: &IoReport,
    facts: &RunFacts,
    totals: Option<&AttributionTotals>,
    rank: Option<u32>,
    width: Width,
) -> String {
    let mut out = ReportText {
        text: String::new(),
        width,
    };
    summary(&mut out, report, rank);
    advice(&mut out, report, facts);
    in_few_numbers(&mut out, report);
    accesses(&mut out, report);
    operations(&mut out, report);
    collectives(&mut out, report);
    cache_and_deferred(&mut out, report);
    slowest(&mut out, report);
    below(&mut out, report);
    exactness(&mut out, report, totals);
    out.text
}

/// Text with headings.
struct ReportText {
    text: String,
    width: Width,
}

impl ReportText {
    fn head(&mut self, title: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.line(title);
        self.line(&"-".repeat(title.chars().count()));
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn wrapped(&mut self, first: &str, text: &str) {
        for line in terminal::wrapped(first, text, MAX_LINE) {
            self.line(&line);
        }
    }

    /// The first rows of a table, and how many there are more.
    fn table(&mut self, table: &TextTable) {
        let mut shown = table.clone();
        shown.rows.truncate(MAX_TABLE_ROWS);
        self.text.push_str(&shown.fitted(self.width));
        if table.rows.len() > MAX_TABLE_ROWS {
            let (more, name) = (
                table.rows.len() - MAX_TABLE_ROWS,
                table.name.replace('_', "-"),
            );
            self.line(&format!("... and {more} more rows: --csv {name}"));
        }
    }
}

/// What could be done in another way, the largest cost first, each with what to paste.
fn advice(out: &mut ReportText, report: &IoReport, facts: &RunFacts) {
    let found = report.findings(facts);
    if found.is_empty() {
        return;
    }
    let is_worth_it = found.iter().any(|finding| !finding.costs_next_to_nothing());
    out.head(match is_worth_it {
        true => "Worth a look: what it cost all ranks, the most first",
        false => "Nothing of weight: what it cost all ranks, the most first",
    });
    for finding in &found {
        let cost = format!("{:>9}  ", findings::cost(finding));
        out.wrapped(&cost, &findings::words(finding));
        for paste in &finding.paste {
            out.line(&format!("{:>11}{}", "", findings::paste(paste)));
        }
    }
}

/// Files by kind, common sizes and strides, slowest and fastest rank.
fn in_few_numbers(out: &mut ReportText, report: &IoReport) {
    let found = report.summary();
    if found.slowest_rank.is_none() {
        return;
    }
    out.head("In few numbers");
    out.line(&format!(
        "files:    {} read only, {} written only, {} both; {} of them of several ranks",
        found.files_read, found.files_written, found.files_read_and_written, found.files_shared
    ));
    let common = |list: &[Common]| -> String {
        let one = |c: &Common| {
            let sign = if c.bytes < 0 { "-" } else { "" };
            format!(
                "{sign}{} ({})",
                bytes(c.bytes.unsigned_abs()),
                counted(c.count, "time")
            )
        };
        list.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    out.wrapped("sizes:    ", &common(&found.common_sizes));
    if !found.common_strides.is_empty() {
        out.wrapped("strides:  ", &common(&found.common_strides));
    }
    if let (Some(slowest), Some(fastest)) = (found.slowest_rank, found.fastest_rank) {
        out.line(&format!(
            "ranks:    slowest {} with {} in accesses, fastest {} with {}",
            slowest.rank,
            seconds(slowest.seconds),
            fastest.rank,
            seconds(fastest.seconds)
        ));
    }
    if let Some(speed) = found.bytes_per_second {
        out.line(&format!(
            "estimate: {}/s: bytes of all ranks by the time of the slowest one",
            bytes(speed as u64)
        ));
    }
}

fn summary(out: &mut ReportText, report: &IoReport, rank: Option<u32>) {
    let span = report.span.map_or(0, |(first, last)| last.abs_diff(first));
    let accessed: BTreeSet<u32> = report.by_file.keys().map(|(file, _)| *file).collect();
    let calls = report.reads.calls + report.writes.calls;
    out.line(&format!(
        "{} of {} to {} in {}; {} below them",
        counted(calls, "data access"),
        counted(report.by_rank.len() as u64, "rank"),
        counted(accessed.len() as u64, "file"),
        time(span),
        counted(report.operations(), "operation")
    ));
    if rank.is_some() {
        out.wrapped(
            "  ",
            "Operations of other ranks are not counted. Bytes that they moved for this rank are.",
        );
    }
    for (access, what) in [(&report.writes, "written"), (&report.reads, "read")] {
        if access.calls == 0 {
            continue;
        }
        let amplified = access.amplification();
        let amplified =
            amplified.map_or(String::new(), |a| format!(" ({a:.2} for each asked for)"));
        let failed = match access.failed {
            0 => String::new(),
            failed => format!("; {} that failed left out", counted(failed, "call")),
        };
        out.wrapped(
            "  ",
            &format!(
                "{} asked to be {what} by {}, {} moved{amplified}{failed}",
                bytes(access.asked),
                counted(access.calls - access.failed, "call"),
                bytes(access.moved()),
            ),
        );
    }
    if calls + report.operations() == 0 {
        out.line("No MPI-IO call and no file operation was found. Block files and SLOG2 files of runs with MPI-IO have");
        out.line("them. With TRACE_POSIX=all the recorder also records file calls that a program makes by itself.");
        return;
    }
    out.line(&format!(
        "  {} different CallIDs in {} categories; on average {} operations per CallID having any",
        report.callids,
        report.categories_with_callid(),
        match report.operations_per_causing_call() {
            Some(mean) => format!("{mean:.2}"),
            None => "no".to_owned(),
        }
    ));
    out.line(&format!(
        "  {} arrows triggers, {} arrows carries",
        report.triggers, report.carries
    ));
}

fn accesses(out: &mut ReportText, report: &IoReport) {
    if report.functions.is_empty() {
        return;
    }
    out.head("Bytes: asked for and moved");
    let columns = [
        "calls",
        "asked_bytes",
        "moved_bytes",
        "amplification",
        "hole_read_bytes",
        "hole_written_bytes",
    ];
    let by = |name: IoTable, keys: &[&'static str]| {
        let table = name.table(report).select(&[keys, &columns].concat());
        table.without_empty(&["hole_read_bytes", "hole_written_bytes"])
    };
    out.table(&by(IoTable::Functions, &["function"]));
    out.line("");
    out.table(&by(IoTable::Files, &["file", "direction"]));
    if report.by_rank.len() > 1 {
        out.line("");
        out.table(&by(IoTable::Ranks, &["rank"]));
    }
    let modifying = &report.writes;
    if modifying.modifying > 0 {
        out.wrapped("", &format!(
            "Read-modify-write in {} of {} writing calls: {} read and {} written that nobody had asked for.",
            modifying.modifying,
            modifying.calls,
            bytes(modifying.hole_bytes_read),
            bytes(modifying.hole_bytes_written)
        ));
    }

    missing(out, report);

    out.head("Operations per call");
    out.table(&indented(&IoTable::PerCall.table(report)));

    out.head("Time of the calls, and of their own rank's operations in it");
    let columns = [
        "function",
        "calls",
        "time_s",
        "mean_s",
        "p50_s",
        "p99_s",
        "max_s",
        "in_transfers",
        "in_locks",
        "in_others",
        "elsewhere",
    ];
    let table = IoTable::Functions.table(report).select(&columns);
    out.table(&table.without_empty(&["in_locks", "in_others"]));
    out.line("elsewhere: none of its rank's own operations ran: exchange between ranks, waiting, copying.");

    out.head("Sizes");
    out.line("Calls by bytes asked for:");
    out.table(&IoTable::CallSizes.table(report));
    let transfers = IoTable::TransferSizes.table(report);
    if !transfers.rows.is_empty() {
        out.line("\nTransfers of ranks by bytes moved:");
        out.table(&transfers);
    }
}

/// Bytes that calls asked for and no operation moved, and why that can be.
fn missing(out: &mut ReportText, report: &IoReport) {
    let of_ranks = report.kinds.iter().filter(|(key, _)| key.is_of_rank());
    let unasked = of_ranks.map(|(_, row)| (row.unasked, row.unasked_bytes));
    let (unasked, unasked_bytes) = unasked.fold((0, 0_u64), |(n, sum), (count, bytes)| {
        (n + count, sum.saturating_add(bytes))
    });
    if unasked > 0 {
        out.wrapped(
            "",
            &format!(
                "{} of {}: nobody asked for the result, so that 0 B count as moved.",
                counted(unasked, "asynchronous write"),
                bytes(unasked_bytes)
            ),
        );
    }
    // What came too late for its call is told of below.
    if report.late > 0 {
        return;
    }
    let written = report.writes.missing.saturating_sub(unasked_bytes);
    if written > 0 {
        out.wrapped("", &format!(
            "No operation of this trace moved {} of the bytes asked to be written: filters left out operations or the ranks that moved them, \
             or the library moves them in a way that is not seen.",
            bytes(written)
        ));
    }
    if report.reads.missing > 0 {
        out.wrapped("", &format!(
            "No operation of this trace moved {} of the bytes asked to be read: the file ends before them, filters left out operations or the \
             ranks that moved them, or the library moves them in a way that is not seen.",
            bytes(report.reads.missing)
        ));
    }
}

/// The function only in its first row, kinds under it; of functions whose operations are all of one kind in one row.
fn indented(table: &TextTable) -> TextTable {
    let mut shown = TextTable::new(table.name, &table.columns);
    shown.columns[0] = "function / operation";
    shown.columns.remove(1);
    for rows in table.rows.chunk_by(|a, b| a[0] == b[0]) {
        for (nth, row) in rows.iter().enumerate() {
            let mut row = row.clone();
            let kind = row.remove(1);
            if let (TableCell::Text(kind), TableCell::Text(function)) = (kind, &mut row[0]) {
                match (nth, rows) {
                    (0, [_, only]) => {
                        if let TableCell::Text(only) = &only[1] {
                            function.push_str(&format!(": {only}"));
                        }
                    }
                    (0, _) => {}
                    (1, [_, _]) => continue,
                    _ => {
                        *function = format!("  {kind}");
                        row[1] = TableCell::None;
                    }
                }
            }
            shown.rows.push(row);
        }
    }
    shown
}

fn operations(out: &mut ReportText, report: &IoReport) {
    if report.kinds.is_empty() {
        return;
    }
    out.head("Operations");
    let columns = [
        "by",
        "operation",
        "count",
        "moved_bytes",
        "time_s",
        "mean_s",
        "p99_s",
        "max_s",
        "carried_calls",
        "failed",
        "short",
    ];
    let mut table = IoTable::Operations.table(report).select(&columns);
    let has_servers = report.kinds.keys().any(|key| !key.is_of_rank());
    if !has_servers {
        table = table.select(&columns[1..]);
    }
    out.table(&table.without_empty(&["carried_calls", "failed", "short"]));
    let of_ranks = report.kinds.iter().filter(|(key, _)| key.is_of_rank());
    let sum = |doing: Doing| -> u64 {
        let of = of_ranks.clone().filter(|(key, _)| key.doing() == doing);
        of.map(|(_, row)| row.ns - row.outstanding_ns).sum()
    };
    let outstanding: u64 = of_ranks.clone().map(|(_, row)| row.outstanding_ns).sum();
    let outstanding = match outstanding {
        0 => String::new(),
        ns => format!("; asynchronous ones, which overlap, {} together", time(ns)),
    };
    out.wrapped(
        "",
        &format!(
            "Ranks spent {} in transfers, {} in locks, {} in sync, {} in open and close{outstanding}.",
            time(sum(Doing::Read) + sum(Doing::Write)),
            time(sum(Doing::Lock)),
            time(sum(Doing::Sync)),
            time(sum(Doing::Open))
        ),
    );
    let other = &report.other;
    if !other.is_empty() {
        let put_off = match other.transfers {
            0 => String::new(),
            n => format!(
                "; {} among them, which data accesses had put off",
                counted(n, "transfer")
            ),
        };
        out.wrapped("", &format!(
            "{} operations in {} MPI calls that are no data accesses (open, close, sync, wait ...){put_off}.",
            other.operations, other.calls
        ));
    }
}

fn collectives(out: &mut ReportText, report: &IoReport) {
    if !report.aggregators.is_empty() {
        out.head("Aggregators: ranks that moved data of others");
        out.table(&tables::aggregator_summary(report));
    }
    let collectives = &report.collectives;
    if collectives.groups == 0 {
        return;
    }
    out.head("Waiting in blocking collective accesses");
    out.line(&format!(
        "{}. Time in which own operations ran, else only those of other ranks, else ranks were still",
        counted(collectives.groups, "group")
    ));
    out.line("to come (late), else the rest: exchange between the ranks.");
    let columns = ["rank", "calls", "time_s", "own", "others", "late", "rest"];
    out.table(&IoTable::Waits.table(report).select(&columns));
    let mut longest: Vec<_> = collectives
        .waited_for
        .iter()
        .map(|(pair, waited)| (waited.values().sum::<u64>(), pair, waited))
        .collect();
    longest.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    for (ns, (rank, other), waited) in longest.iter().take(5) {
        let what: Vec<String> = waited
            .iter()
            .map(|(&doing, &ns)| format!("{} {}", names::doing(doing), time(ns)))
            .collect();
        out.line(&format!(
            "Rank {rank} waited {} while operations of rank {other} ran: {}",
            time(*ns),
            what.join(", ")
        ));
    }
    if longest.len() > 5 {
        out.line(&format!(
            "... and {} more pairs: --csv waited-for",
            longest.len() - 5
        ));
    }
}

fn cache_and_deferred(out: &mut ReportText, report: &IoReport) {
    let cache = IoTable::Cache.table(report);
    if !cache.rows.is_empty() {
        out.head("Disk or page cache");
        out.table(&cache);
        out.line("cached: reads without a sector from the device, writes to pages that were dirty already.");
    }
    let deferred: BTreeMap<&String, &AccessTotals> = report
        .functions
        .iter()
        .filter(|(_, row)| row.deferred > 0 || row.times.outstanding > 0)
        .collect();
    if deferred.is_empty() {
        return;
    }
    out.head("Deferred: complete only after the call");
    let columns = [
        "function",
        "calls",
        "deferred",
        "time_s",
        "pending_s",
        "outstanding_s",
    ];
    let mut table = IoTable::Functions.table(report).select(&columns);
    table.rows.retain(|row| match &row[0] {
        TableCell::Text(name) => deferred.contains_key(name),
        _ => false,
    });
    out.table(&table);
    out.line("pending: from the return of the call to its completion; outstanding: asynchronous\noperations added up, though they overlap.");
}

fn slowest(out: &mut ReportText, report: &IoReport) {
    if report.slowest.is_empty() {
        return;
    }
    out.head("The slowest calls, and the operations they caused");
    for slow in &report.slowest {
        slow_call(out, report, slow);
    }
    out.line("All of one call, down to the disk: --call CALLID");
}

fn slow_call(out: &mut ReportText, report: &IoReport, slow: &Slow) {
    let made = &slow.made;
    let begin = time(made.place.ns.abs_diff(report.zero));
    let file = names::file(report.files.get(&made.file), made.file);
    out.line(&format!(
        "{:>9}  {} {} {} of {} at {begin}, CallID {}",
        time(made.duration()),
        names::actor(made.place.lane.actor),
        made.name,
        bytes(made.bytes),
        file,
        names::callid(made.call)
    ));
    if let Some(waits) = slow.waits {
        out.line(&format!(
            "           own operations {}, waited for those of others {}, for late ranks {}, rest {}",
            time(waits.own),
            time(waits.others),
            time(waits.late),
            time(waits.rest)
        ));
    }
    for caused in &slow.caused {
        let moved = match caused.bytes {
            0 => String::new(),
            n => format!(", {}", bytes(n)),
        };
        out.line(&format!(
            "           {} x {}{moved}, {}, the longest {}",
            caused.operations,
            names::kind_of(caused.key),
            time(caused.ns),
            time(caused.longest)
        ));
    }
    let elsewhere = slow.longest.iter().filter(|brief| brief.elsewhere);
    let ranks = elsewhere.filter(|brief| brief.key.is_of_rank());
    let by: BTreeSet<Actor> = ranks.map(|brief| brief.place.lane.actor).collect();
    if !by.is_empty() {
        let by: Vec<String> = by.into_iter().map(names::actor).collect();
        out.line(&format!(
            "           its data were moved by {}",
            by.join(", ")
        ));
    }
}

fn below(out: &mut ReportText, report: &IoReport) {
    let below = &report.below;
    if !below.servers.is_empty() {
        out.head("I/O servers");
        out.table(&IoTable::Servers.table(report));
        if let Some(requests) = below.requests_per_transfer() {
            out.line(&format!(
                "{requests:.2} requests to read or write for each transfer of a rank"
            ));
        }
        if let Some(most) = below.imbalance() {
            out.line(&format!(
                "balance: the data server with most bytes has {most:.2} times the mean"
            ));
        }
        let callids = below.request_callids;
        out.line(&format!(
            "CallIDs: {} requests agree with the libc call that was running, {} differ, {} match none",
            callids.agree(),
            callids.differ,
            callids.unknown()
        ));
    }
    if !below.devices.is_empty() {
        out.head("Block devices");
        out.table(&IoTable::Devices.table(report));
        for (number, device) in &below.devices {
            let kernel = device.by_kernel;
            out.line(&format!(
                "device {number}: {} of {} by the kernel itself (write-back)",
                counted(kernel.count, "write"),
                bytes(kernel.bytes)
            ));
            if device.merged > 0 {
                out.line(&format!(
                    "device {number}: {} joined with others to one request",
                    counted(device.merged, "transfer")
                ));
            }
            if let Some(mean) = device.queued.checked_div(device.issued) {
                out.line(&format!(
                    "device {number}: {} in the queue before the driver got them, on average",
                    time(mean)
                ));
            }
            let writes = device.writes.volume.count;
            if writes > 0 {
                out.line(&format!(
                    "device {number}: data of {:.2} calls in a write, on average",
                    device.calls_in_writes as f64 / writes as f64
                ));
            }
        }
    }
}

fn exactness(out: &mut ReportText, report: &IoReport, totals: Option<&AttributionTotals>) {
    if report.attribution.is_empty() {
        return;
    }
    out.head("How exact this is");
    let mut table = IoTable::Exactness.table(report);
    type ByteCount = fn(&analysis::io::Attribution) -> u64;
    let any = |part: ByteCount| report.attribution.values().any(|a| part(a) > 0);
    let rare: [(&str, ByteCount); 4] = [
        ("page_bytes", |a| a.page),
        ("bounding_extent_bytes", |a| a.bounding_extent),
        ("ambiguous_bytes", |a| a.ambiguous),
        ("may_carry_bytes", |a| a.may_carry),
    ];
    for (column, part) in rare {
        if !any(part) {
            let columns: Vec<&str> = table
                .columns
                .iter()
                .copied()
                .filter(|&c| c != column)
                .collect();
            table = table.select(&columns);
        }
    }
    let columns: Vec<&str> = table
        .columns
        .iter()
        .copied()
        .filter(|&c| c != "settled")
        .collect();
    out.table(&table.select(&columns));
    out.wrapped("", "settled share: transfers of which every byte is known to be of a call, or to be a sieving hole that no call asked for.");
    if any(|a| a.page) {
        out.wrapped("", "page: the page cache writes whole pages of 4 KiB; the calls that wrote to a page share it. What is then unknown is the rest of pages.");
    }
    if any(|a| a.bounding_extent) {
        out.wrapped(
            "",
            "bounding extent: of calls with too many pieces only the first and the last byte are known; bytes are estimates.",
        );
    }
    if any(|a| a.ambiguous) {
        out.wrapped(
            "",
            "ambiguous: several transfers moved the same bytes, and one of them served; or pieces of ranks were too many to be compared. Each is named.",
        );
    }
    if any(|a| a.may_carry) {
        out.wrapped(
            "",
            "may carry: several ranks wrote the same bytes in one collective access; each of them is named.",
        );
    }
    if any(|a| a.unattributed) {
        let reason = match any(|a| a.bounding_extent) {
            true => {
                "unknown: of transfers for calls with too many pieces, what the calls did not ask for or may not have asked for; or the calls \
                 that asked for these bytes are not in the trace."
            }
            false => {
                "unknown: the calls that asked for these bytes are not in the trace: filters left them out, or their records are missing. Or \
                 MPI_File_preallocate moved them, which is no data access."
            }
        };
        out.wrapped("", reason);
    }
    if let Some(totals) = totals
        && totals.independent > 0
    {
        out.line(&format!(
            "Executed by each rank by itself, without exchange: {}.",
            counted(totals.independent, "collective access")
        ));
    }
    if report.late > 0 {
        out.line(&format!(
            "Records that came too long after their calls, and that the numbers per call lack: {}.",
            report.late
        ));
    }
    out.wrapped("", "Not seen: stores into mapped files (mmap), io_uring, splice, static programs, stdio buffers; what other programs do on the same device. Read-ahead counts for the call that triggered it.");
}
