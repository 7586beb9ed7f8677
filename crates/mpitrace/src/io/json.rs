//! The report for programs.

use super::findings;
use super::names;
use super::tables::IoTable;
use crate::failure::Failure;
use analysis::io::{FileSystem, IoLibrary, IoReport, RunFacts};
use clap::ValueEnum;
use io_attribution::AttributionTotals;
use serde_json::{Map, Value, json};
use std::io::Write;

/// Writes it, with a line break at the end.
pub fn write(out: &mut impl Write, value: &Value) -> Result<(), Failure> {
    serde_json::to_writer_pretty(&mut *out, value)
        .map_err(|error| Failure::output("stdout", &error.into()))?;
    writeln!(out).map_err(|error| Failure::output("stdout", &error))
}

/// All of a report.
pub fn report(report: &IoReport, facts: &RunFacts, totals: Option<&AttributionTotals>) -> Value {
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
    let time = |ns: i64| ns as f64 / 1e9;
    put(
        "span_s",
        report.span.map_or(Value::Null, |(first, last)| {
            time(last.saturating_sub(first)).into()
        }),
    );
    let files = report.files.values().map(|file| {
        json!({
            "id": file.id, "name": file.name, "role": names::role(file.role),
            "device": file.device, "inode": file.inode,
        })
    });
    put("opened_files", files.collect());
    let other = &report.other;
    put(
        "other_calls",
        json!({
            "calls": other.calls, "operations": other.operations, "transfers": other.transfers,
            "hole_bytes": other.hole_bytes, "time_s": time(other.times.busy() as i64),
        }),
    );
    put(
        "callid",
        json!({
            "categories": report.categories_with_callid(),
            "different": report.callids,
            "causing": report.causing,
            "operations": report.operations(),
            "operations_per_causing_call": report.operations_per_causing_call(),
            "arrows_triggers": report.triggers,
            "arrows_carries": report.carries,
            "late": report.late,
        }),
    );
    put(
        "requests_per_transfer",
        report.below.requests_per_transfer().into(),
    );
    put("server_imbalance", report.below.imbalance().into());
    let callids = report.below.request_callids;
    put(
        "server_callids",
        json!({
            "agree": callids.agree(),
            "differ": callids.differ,
            "unknown": callids.unknown(),
        }),
    );
    if let Some(totals) = totals {
        put("independent_collectives", totals.independent.into());
    }
    put(
        "mpi_io_library",
        facts
            .library
            .map(|library| match library {
                IoLibrary::Romio => "ROMIO",
                IoLibrary::Ompio => "OMPIO",
            })
            .into(),
    );
    put(
        "file_system",
        match facts.file_system {
            FileSystem::Unknown => "unknown",
            FileSystem::Local => "local",
            FileSystem::Lustre => "Lustre",
            FileSystem::Shared => "shared",
        }
        .into(),
    );
    put("hosts", facts.hosts.into());
    put("libraries", facts.libraries.iter().cloned().collect());
    put("summary", json!(report.summary()));
    let found = report.findings(facts);
    put("findings", found.iter().map(findings::json).collect());
    for name in IoTable::value_variants() {
        let table = name.table(report);
        put(table.name, table.json());
    }
    Value::Object(object)
}
