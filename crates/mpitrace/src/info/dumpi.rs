//! DUMPI: a run by its `.meta` file, or the file of one rank.

use super::drawables;
use super::report::{InfoReport, object};
use super::unfinished::put_functions;
use crate::trace_files::dumpi_run::{is_call, missing, ranks_named};
use crate::trace_files::input::OpenedInput;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use trace_formats::dumpi::DumpiSource;
use trace_formats::dumpi::from_text::{FromTextOptions, from_text};
use trace_formats::dumpi::functions::{FUNCTION_ENTER, FUNCTION_EXIT};
use trace_formats::dumpi::meta::Meta;
use trace_formats::dumpi::read::DumpiReader;
use trace_formats::dumpi::types::{FOOTER_ENTRIES, Mask};
use trace_formats::dumpi::value::FieldValue;

/// Calls of a file, and what it takes to sum up several.
#[derive(Default)]
struct DumpiCalls {
    records: u64,
    by_function: BTreeMap<u16, (&'static str, u64)>,
    threads: BTreeSet<u16>,
    masks: u8,
    /// Wall clock, ns: start of the first call and end of the last one.
    span: Option<(i64, i64)>,
    /// Entries into wrappers without a record.
    ignored: u64,
    /// Calls that never returned, by function: regions that were entered and not left. They are not among the others.
    unfinished: BTreeMap<String, u64>,
}

impl DumpiCalls {
    fn of(reader: &DumpiReader<'_>, report: &mut InfoReport) -> Self {
        let mut calls = DumpiCalls::default();
        // Regions entered and not left, by thread and key.
        let mut open: BTreeMap<(u16, u64), u64> = BTreeMap::new();
        for record in reader.records() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    let whole = calls.records;
                    report.problem(format!("{error}; {whole} calls before that can be read"));
                    break;
                }
            };
            calls.records += 1;
            let function = record.function;
            let count = calls.by_function.entry(function.id);
            count.or_insert((function.name, 0)).1 += 1;
            calls.threads.insert(record.thread);
            calls.masks |= record.mask.0;
            let (start, stop) = (record.wall.start.ns(), record.wall.stop.ns());
            let (first, last) = calls.span.unwrap_or((start, stop));
            calls.span = Some((first.min(start), last.max(stop)));
            for (_, arg) in record.args() {
                if let (FUNCTION_ENTER | FUNCTION_EXIT, FieldValue::U64(key)) = (function.id, arg) {
                    let open = open.entry((record.thread, key)).or_default();
                    *open = match function.id {
                        FUNCTION_ENTER => *open + 1,
                        _ => open.saturating_sub(1),
                    };
                }
            }
        }
        open.retain(|_, open| *open > 0);
        if !open.is_empty() {
            calls.take_unfinished(reader, &open);
        }
        match reader.footer() {
            Ok(Some(footer)) => {
                let ignored = &footer.ignored[..FOOTER_ENTRIES - 1];
                calls.ignored = ignored.iter().map(|&count| u64::from(count)).sum();
            }
            Ok(None) => {}
            Err(error) => report.problem(error),
        }
        calls
    }

    /// Counts apart what stands as a region and is a call that never returned.
    fn take_unfinished(&mut self, reader: &DumpiReader<'_>, open: &BTreeMap<(u16, u64), u64>) {
        let labels = reader.trailer().map(|trailer| trailer.address_labels);
        for (&(_, key), &count) in open {
            let mut labels = labels.iter().flatten();
            let label = labels.find(|label| label.key == key);
            let name = label.map(|label| String::from_utf8_lossy(&label.label).into_owned());
            let Some(name) = name.filter(|name| is_call(name)) else {
                continue;
            };
            *self.unfinished.entry(name).or_default() += count;
            self.records -= count;
            if let Some((_, entered)) = self.by_function.get_mut(&FUNCTION_ENTER) {
                *entered -= count;
            }
        }
        self.by_function.retain(|_, (_, count)| *count > 0);
    }

    fn join(&mut self, other: &DumpiCalls) {
        self.records += other.records;
        self.masks |= other.masks;
        self.ignored += other.ignored;
        self.threads.extend(&other.threads);
        for (name, count) in &other.unfinished {
            *self.unfinished.entry(name.clone()).or_default() += count;
        }
        for (&id, &(name, count)) in &other.by_function {
            self.by_function.entry(id).or_insert((name, 0)).1 += count;
        }
    }

    fn put(&self, report: &mut InfoReport) {
        report.put("calls", self.records);
        report.put("calls_unfinished", self.unfinished.values().sum::<u64>());
        report.put("calls_ignored", self.ignored);
        report.put("threads_per_rank", self.threads.len());
        let mask = Mask(self.masks);
        let parts = [
            ("wall clock", mask.has(Mask::WALL)),
            ("cpu clock", mask.has(Mask::CPU)),
            ("statuses", mask.statuses()),
            ("performance counters", mask.has(Mask::COUNTERS)),
        ];
        let recorded = parts.iter().filter(|(_, is_there)| *is_there);
        report.put(
            "recorded",
            recorded
                .map(|(what, _)| *what)
                .collect::<Vec<_>>()
                .join(", "),
        );
        let mut functions: Vec<_> = self.by_function.values().collect();
        functions.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
        let functions = functions
            .iter()
            .map(|(name, count)| object([("name", (*name).into()), ("calls", (*count).into())]));
        report.put("functions", functions.collect::<Vec<_>>());
        put_functions(&self.unfinished, report);
    }
}

/// Opens a file; one that was never completed as far as it goes.
fn open<'a>(bytes: &'a [u8], report: &mut InfoReport) -> Option<DumpiReader<'a>> {
    let error = match DumpiReader::open(bytes) {
        Ok(reader) => return Some(reader),
        Err(error) => error,
    };
    report.problem(error);
    DumpiReader::salvage(bytes).ok()
}

fn seconds(ns: i64) -> f64 {
    ns as f64 * 1e-9
}

/// One rank's file.
pub fn describe(bytes: &[u8], report: &mut InfoReport) {
    let Some(reader) = open(bytes, report) else {
        return;
    };
    report.put("version", reader.version().to_string());
    report.put("byte_order", "big-endian");
    report.put("is_complete", reader.is_complete());
    if let Some(header) = reader.header() {
        report.put("host", String::from_utf8_lossy(&header.hostname));
        report.put("user", String::from_utf8_lossy(&header.username));
        report.put("started_unix", header.starttime);
        if !header.mesh_sizes.is_empty() {
            report.put("mesh_sizes", header.mesh_sizes.clone());
            report.put("mesh_coordinates", header.mesh_coords.clone());
        }
    }
    let offsets = reader.offsets();
    report.put("wall_offset_s", offsets.wall);
    report.put("cpu_offset_s", offsets.cpu);
    let index = reader.index();
    let sections = [
        ("stream", index.body),
        ("header", index.header),
        ("footer", index.footer),
        ("keyvals", index.keyvals),
        ("counter labels", index.perf_labels),
        ("datatype sizes", index.type_sizes),
        ("function labels", index.address_labels),
    ];
    let there = sections.iter().filter(|(_, at)| *at != 0);
    report.put(
        "sections",
        Value::Object(
            there
                .map(|(name, at)| ((*name).to_owned(), (*at).into()))
                .collect(),
        ),
    );
    match reader.perf_labels() {
        Ok(labels) => {
            let names = labels.unwrap_or_default();
            let names: Vec<_> = names
                .iter()
                .map(|name| String::from_utf8_lossy(name).into_owned())
                .collect();
            if !names.is_empty() {
                report.put("counters", names);
            }
        }
        Err(error) => report.problem(error),
    }
    let calls = DumpiCalls::of(&reader, report);
    if let Some((from, to)) = calls.span {
        report.span(seconds(from), seconds(to));
    }
    calls.put(report);
}

/// The text of dumpi2ascii: what the file says that it makes.
pub fn describe_text(bytes: &[u8], report: &mut InfoReport) {
    match from_text(bytes, Vec::new(), &FromTextOptions::default()) {
        Ok((made, _)) => describe(&made, report),
        Err(error) => report.problem(error),
    }
}

/// A run.
pub fn describe_run(path: &Path, bytes: &[u8], report: &mut InfoReport) {
    let meta = match Meta::parse(bytes) {
        Ok(meta) => meta,
        Err(error) => return report.problem(error),
    };
    report.put("version", meta.version.to_string());
    report.put("host", String::from_utf8_lossy(&meta.hostname));
    report.put("user", String::from_utf8_lossy(&meta.username));
    report.put("started_unix", meta.starttime);
    report.put("file_prefix", String::from_utf8_lossy(&meta.fileprefix));
    report.put("ranks", meta.numprocs);
    let files = meta.rank_files(path);
    if files.is_empty() {
        return report.problem("none of the .bin files is there");
    }
    let mut all = DumpiCalls::default();
    let mut rows = Vec::new();
    let mut hosts = BTreeSet::new();
    let mut inputs: Vec<(u32, OpenedInput)> = Vec::new();
    for gap in files.gaps() {
        report.problem(missing(gap));
    }
    let absent: Vec<String> = files.absent().map(ranks_named).collect();
    if !absent.is_empty() {
        report.put("not_traced", absent);
    }
    for (rank, file) in files.iter() {
        let input = match OpenedInput::open(file) {
            Ok(input) => input,
            Err(_) => {
                report.problem(format!("{}: cannot be opened", file.display()));
                continue;
            }
        };
        let mut own = InfoReport::default();
        if let Some(reader) = open(&input, &mut own) {
            let calls = DumpiCalls::of(&reader, &mut own);
            let host = reader.header().map_or(String::new(), |header| {
                String::from_utf8_lossy(&header.hostname).into_owned()
            });
            let (from, to) = calls.span.unwrap_or_default();
            rows.push(object([
                ("rank", rank.into()),
                ("host", host.as_str().into()),
                ("bytes", input.len().into()),
                ("calls", calls.records.into()),
                ("unfinished", calls.unfinished.values().sum::<u64>().into()),
                ("ignored", calls.ignored.into()),
                ("wall_offset_s", reader.offsets().wall.into()),
                ("cpu_offset_s", reader.offsets().cpu.into()),
                ("from_s", seconds(from).into()),
                ("span_s", seconds(to - from).into()),
            ]));
            hosts.insert(host);
            all.join(&calls);
        }
        for problem in own.problems {
            report.problem(format!("{}: {problem}", file.display()));
        }
        inputs.push((rank, input));
    }
    report.put("files", rows);
    all.put(report);
    if report.problems.is_empty() {
        let ranks: Vec<(u32, &[u8])> = inputs
            .iter()
            .map(|(rank, input)| (*rank, &**input))
            .collect();
        match DumpiSource::new(meta.numprocs, &ranks) {
            Ok(source) => drawables::describe(&source, report),
            Err((_, error)) => report.problem(error),
        }
    }
    report.put("ranks", meta.numprocs);
    report.put("hosts", hosts.into_iter().collect::<Vec<_>>());
}
