//! The time of a report by rank, region, phase, communicator, file or activity, as a table.

use crate::terminal::table::{TableCell, TextTable};
use analysis::performance::{PerformanceReport, TimeByUse};
use clap::ValueEnum;

/// What the time is broken down by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Breakdown {
    /// Ranks
    Rank,
    /// The program's own states
    Region,
    /// Iterations of the main loop
    Phase,
    /// Communicators, calls only
    Communicator,
    /// Files: calls of MPI-IO and file operations
    File,
    /// States and calls, without what is nested in them
    Activity,
}

fn name(name: Option<&String>) -> TableCell {
    TableCell::Text(name.map_or_else(|| "computing".into(), String::clone))
}

fn uses(time: &TimeByUse) -> [TableCell; 4] {
    let uses = [time.computing, time.waiting, time.transfer, time.files];
    uses.map(TableCell::Seconds)
}

/// The table.
pub fn table(report: &PerformanceReport, by: Breakdown) -> TextTable {
    match by {
        Breakdown::Rank => ranks(report),
        Breakdown::Region => regions(report),
        Breakdown::Phase => phases(report),
        Breakdown::Communicator => communicators(report),
        Breakdown::File => files(report),
        Breakdown::Activity => activities(report),
    }
}

fn ranks(report: &PerformanceReport) -> TextTable {
    let columns = [
        "rank",
        "computing_s",
        "waiting_s",
        "transfer_s",
        "files_s",
        "caused_waits_s",
    ];
    let mut table = TextTable::new("by_rank", &columns);
    for rank in &report.by_rank {
        let all = report.focus.seconds;
        let transfer = all - rank.computing - rank.waiting - rank.files;
        table.rows.push(vec![
            TableCell::Number(rank.rank.into()),
            TableCell::Seconds(rank.computing),
            TableCell::Seconds(rank.waiting),
            TableCell::Seconds(transfer.max(0.0)),
            TableCell::Seconds(rank.files),
            TableCell::Seconds(rank.caused),
        ]);
    }
    table
}

fn regions(report: &PerformanceReport) -> TextTable {
    let columns = [
        "region",
        "count",
        "share",
        "computing_s",
        "waiting_s",
        "transfer_s",
        "files_s",
    ];
    let mut table = TextTable::new("by_region", &columns);
    for region in &report.by_region {
        let [computing, waiting, transfer, files] = uses(&region.time);
        let outside = "(outside of any)".to_owned();
        table.rows.push(vec![
            TableCell::Text(region.region.clone().unwrap_or(outside)),
            TableCell::Count(region.count),
            TableCell::Share(region.share),
            computing,
            waiting,
            transfer,
            files,
        ]);
    }
    table
}

fn phases(report: &PerformanceReport) -> TextTable {
    let columns = [
        "phase",
        "from_s",
        "length_s",
        "computing_s",
        "waiting_s",
        "transfer_s",
        "files_s",
        "parallel_efficiency",
        "load_balance",
        "waits_due_to_rank",
    ];
    let mut table = TextTable::new("by_phase", &columns);
    table.rare = vec!["load_balance", "files_s", "waits_due_to_rank"];
    let phases = report.phases.iter().flat_map(|found| &found.phases);
    for (number, phase) in (1..).zip(phases) {
        let [computing, waiting, transfer, files] = uses(&phase.time);
        let cause = phase.cause_rank.map(|rank| TableCell::Number(rank.into()));
        table.rows.push(vec![
            TableCell::Count(number),
            TableCell::Seconds(phase.from),
            TableCell::Seconds(phase.seconds),
            computing,
            waiting,
            transfer,
            files,
            TableCell::Share(phase.efficiencies.parallel),
            TableCell::Share(phase.efficiencies.load_balance),
            cause.unwrap_or(TableCell::None),
        ]);
    }
    table
}

fn communicators(report: &PerformanceReport) -> TextTable {
    let columns = [
        "communicator",
        "ranks",
        "calls",
        "share",
        "waiting_s",
        "transfer_s",
        "files_s",
        "messages",
        "sent",
        "collective_sent",
        "collective_received",
    ];
    let mut table = TextTable::new("by_communicator", &columns);
    table.rare = vec!["files_s", "collective_received", "messages"];
    let bytes = |known: Option<u64>| known.map_or(TableCell::None, TableCell::Bytes);
    for comm in &report.by_communicator {
        let [_, waiting, transfer, files] = uses(&comm.time);
        let name = match (comm.communicator, &comm.name) {
            (0, _) => "MPI_COMM_WORLD".to_owned(),
            (number, None) => number.to_string(),
            (number, Some(name)) => format!("{number} {name}"),
        };
        table.rows.push(vec![
            TableCell::Text(name),
            TableCell::Count(comm.ranks.into()),
            TableCell::Count(comm.calls),
            TableCell::Share(comm.share),
            waiting,
            transfer,
            files,
            comm.messages.map_or(TableCell::None, TableCell::Count),
            bytes(comm.message_bytes),
            bytes(comm.collective_sent),
            bytes(comm.collective_received),
        ]);
    }
    table
}

fn files(report: &PerformanceReport) -> TextTable {
    let columns = [
        "file",
        "calls",
        "time_s",
        "waiting_s",
        "bytes",
        "operations",
        "in_operations_s",
        "moved_bytes",
    ];
    let mut table = TextTable::new("by_file", &columns);
    for file in &report.by_file {
        let unknown = "(not known)".to_owned();
        table.rows.push(vec![
            TableCell::Text(file.file.clone().unwrap_or(unknown)),
            TableCell::Count(file.calls),
            TableCell::Seconds(file.seconds),
            TableCell::Seconds(file.waiting),
            TableCell::Bytes(file.bytes),
            TableCell::Count(file.operations),
            TableCell::Seconds(file.operation_seconds),
            TableCell::Bytes(file.moved_bytes),
        ]);
    }
    table
}

fn activities(report: &PerformanceReport) -> TextTable {
    let columns = ["activity", "count", "share", "time_s"];
    let mut table = TextTable::new("by_activity", &columns);
    for activity in &report.activities {
        table.rows.push(vec![
            name(activity.activity.as_ref()),
            TableCell::Count(activity.count),
            TableCell::Share(activity.share),
            TableCell::Seconds(activity.seconds),
        ]);
    }
    table
}
