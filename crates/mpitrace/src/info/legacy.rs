//! ALOG, CLOG-1, SLOG-1 and Pajé: what their headers and definitions tell.

use super::drawables;
use super::report::{InfoReport, object};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use trace_formats::clog2::Endian;
use trace_formats::paje::{PajeReader, PajeTrace, Simulator};
use trace_formats::slog1::{Sector, Slog1Reader};
use trace_formats::{alog, clog1, paje};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// ALOG.
pub fn describe_alog(bytes: &[u8], report: &mut InfoReport) {
    let (source, damage) = alog::AlogSource::salvaged(bytes);
    let header = source.header();
    if !header.creator.is_empty() {
        report.put("creator", text(&header.creator));
    }
    let counts = [
        "events_announced",
        "processes_announced",
        "tasks_announced",
        "event_types_announced",
    ];
    for (name, count) in counts.into_iter().zip(header.counts) {
        report.maybe(name, count);
    }
    report.put("rollover_us", header.rollover);
    report.put("states_defined", header.states.len());
    report.put("events_defined", header.events.len());
    let processes = header
        .processes
        .iter()
        .map(|(number, name)| object([("process", (*number).into()), ("name", text(name).into())]));
    report.put("processes_named", processes.collect::<Vec<_>>());
    let (mut events, mut comments) = (0u64, 0u64);
    for line in alog::AlogReader::new(bytes).lines().map_while(Result::ok) {
        match line.content {
            alog::LineContent::Event(_) => events += 1,
            alog::LineContent::Comment(_) => comments += 1,
        }
    }
    report.put("event_lines", events);
    report.put("comment_lines", comments);
    drawables::describe(&source, report);
    if let Some(damage) = damage {
        report.problem(damage);
    }
}

/// CLOG-1.
pub fn describe_clog1(bytes: &[u8], report: &mut InfoReport) {
    let reader = match clog1::Clog1Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return report.problem(error),
    };
    let layout = reader.layout();
    report.put(
        "byte_order",
        match layout.endian {
            Endian::Big => "big-endian",
            Endian::Little => "little-endian",
        },
    );
    report.put("block_bytes", layout.block_size);
    report.put("is_padded", layout.is_padded);
    let mut records: BTreeMap<&str, u64> = BTreeMap::new();
    let mut shifts = Vec::new();
    for record in reader.records().map_while(Result::ok) {
        use clog1::Clog1Body;
        let name = match record.body {
            Clog1Body::EndLog => "endlog",
            Clog1Body::EndBlock => "endblock",
            Clog1Body::Undefined => "undefined",
            Clog1Body::Raw(_) => "raw",
            Clog1Body::Msg(_) => "msg",
            Clog1Body::Coll(_) => "coll",
            Clog1Body::Comm(_) => "comm",
            Clog1Body::EventDef(_) => "edef",
            Clog1Body::StateDef(_) => "sdef",
            Clog1Body::SrcLoc(_) => "loc",
            Clog1Body::Other { .. } => "other",
            Clog1Body::Shift(shift) => {
                shifts.push(object([
                    ("rank", record.header.rank.into()),
                    ("shift_s", (shift + 0.0).into()),
                ]));
                "shift"
            }
        };
        *records.entry(name).or_default() += 1;
    }
    let counts = records.into_iter();
    report.put(
        "records",
        Value::Object(counts.map(|(n, c)| (n.to_owned(), c.into())).collect()),
    );
    report.put("clock_shifts", shifts);
    let (source, damage) = clog1::Clog1Source::salvaged(reader);
    drawables::describe(&source, report);
    if let Some(damage) = damage {
        report.problem(damage);
    }
}

/// SLOG-1.
pub fn describe_slog1(bytes: &[u8], report: &mut InfoReport) {
    let reader = match Slog1Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return report.problem(error),
    };
    let header = reader.header();
    report.put(
        "version",
        format!("{}.{}", header.version.0, header.version.1),
    );
    report.put("byte_order", "big-endian");
    report.put("frame_bytes", header.frame_size);
    report.put("frame_reserved_bytes", header.frame_reserved);
    report.put("frames_per_directory", header.frames_per_directory);
    report.put("is_by_start", header.by_start);
    report.put("is_by_end", header.by_end);
    let mut directories = 0u64;
    for directory in reader.directories() {
        match directory {
            Ok(_) => directories += 1,
            Err(error) => report.problem(error),
        }
    }
    report.put("directories", directories);
    let sectors = [
        ("current", Sector::Current),
        ("incoming", Sector::Incoming),
        ("passing", Sector::Passing),
        ("outgoing", Sector::Outgoing),
    ];
    let (mut frames, mut counts) = (0u64, [0u64; 4]);
    let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
    for frame in reader.frames() {
        let frame = match frame {
            Ok(frame) => frame,
            Err(error) => {
                report.problem(error);
                break;
            }
        };
        frames += 1;
        from = from.min(frame.entry.start);
        to = to.max(frame.entry.end);
        for (count, (_, sector)) in counts.iter_mut().zip(sectors) {
            *count += u64::from(frame.count(sector));
        }
    }
    report.put("frames", frames);
    let records = sectors.iter().zip(counts);
    let records = records.map(|((name, _), count)| ((*name).to_owned(), count.into()));
    report.put("records", Value::Object(records.collect()));
    report.span(from, to);
    let mut nodes = BTreeSet::new();
    let mut threads = 0u64;
    match reader.threads() {
        Ok(found) => {
            for thread in found {
                match thread {
                    Ok(thread) => {
                        threads += 1;
                        nodes.insert(thread.node);
                    }
                    Err(error) => report.problem(error),
                }
            }
        }
        Err(error) => report.problem(error),
    }
    report.put("ranks", nodes.len());
    report.put("threads", threads);
    match reader.profile() {
        Ok(found) => {
            let labels = found.map_while(Result::ok).map(|display| {
                object([
                    ("type", display.key.intvltype.into()),
                    ("class", display.class.to_str().into()),
                    ("name", display.label.to_str().into()),
                ])
            });
            report.put("profile", labels.collect::<Vec<_>>());
        }
        Err(error) => report.problem(error),
    }
    match reader.statistics() {
        Ok(statistics) => {
            report.put("statistics_bins", statistics.bins);
            report.put("statistics_sets", statistics.count);
        }
        Err(error) => report.problem(error),
    }
}

/// Pajé.
pub fn describe_paje(trace: PajeTrace<'_>, report: &mut InfoReport) {
    let mut reader = PajeReader::new(&trace);
    let mut simulator = Simulator::default();
    let mut events: BTreeMap<String, u64> = BTreeMap::new();
    loop {
        let event = match reader.next() {
            Ok(Some(event)) => event,
            Ok(None) => break,
            Err(error) => {
                report.problem(error);
                break;
            }
        };
        *events.entry(text(&event.definition.name)).or_default() += 1;
        if let Err(error) = simulator.step(&event) {
            report.problem(error);
            break;
        }
        drop(simulator.over());
    }
    let counts = events.into_iter();
    report.put(
        "event_lines",
        Value::Object(counts.map(|(n, c)| (n, c.into())).collect()),
    );
    let tables = &simulator.tables;
    let types = tables.types.iter().skip(1).map(|kind| {
        object([
            ("name", text(&kind.name).into()),
            ("kind", kind.kind.name().to_lowercase().into()),
            ("values", kind.values.len().into()),
        ])
    });
    report.put("types", types.collect::<Vec<_>>());
    report.put("containers", tables.containers.len().saturating_sub(1));
    let missing = reader.missing_files();
    if missing > 0 {
        report.problem(format!(
            "{missing} files that the trace names are not there"
        ));
    }
    if report.problems.is_empty() {
        match paje::PajeSource::new(trace) {
            Ok(source) => drawables::describe(&source, report),
            Err(error) => report.problem(error),
        }
    }
}
