//! Rows of the calls in DUMPI files, rank by rank, in order of completion.

use super::super::Arguments;
use super::super::dumpi::open_or_salvage;
use super::row::{CallRow, RowWriter};
use crate::failure::Failure;
use crate::terminal::json::text;
use crate::trace_files::dumpi_run::{is_meta, missing, rank_files, rank_of};
use crate::trace_files::input::{OpenedInput, shown};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use trace_formats::clog2::annotations::NO_FINALIZE;
use trace_formats::dumpi::clock::{RecordAxis, RecordTicker};
use trace_formats::dumpi::functions::{FUNCTION_ENTER, FUNCTION_EXIT, FieldCode, FieldShape};
use trace_formats::dumpi::names::{name, wildcard};
use trace_formats::dumpi::types::{ANNOTATION, DumpiRecord, Mask};
use trace_formats::dumpi::value::{DumpiStatus, FieldValue, Strs};

/// Prints the calls of a file, or of the files of all ranks if it is the metafile of a run.
pub fn print(
    input: &[u8],
    arguments: &Arguments,
    rows: &mut RowWriter<impl Write>,
) -> Result<(), Failure> {
    let path = &arguments.file;
    if !is_meta(input) {
        return print_file(input, path, None, rows);
    }
    let found = rank_files(path, input)?;
    let mut files = Vec::new();
    for (_, path) in found.iter() {
        files.push((path, OpenedInput::open(path)?));
    }
    let begins = files.iter().filter_map(|(_, input)| first_start(input));
    let zero = begins.min();
    // What is wrong is told at last: the files of other ranks may be good.
    let gap = found.gaps().next();
    let mut failure = gap.map(|gap| Failure::file(shown(path), missing(gap)));
    for (path, input) in &files {
        match print_file(input, path, zero, rows) {
            Err(Failure::ClosedPipe) => return Err(Failure::ClosedPipe),
            Err(why) => failure = failure.or(Some(why)),
            Ok(()) => {}
        }
    }
    failure.map_or(Ok(()), Err)
}

/// When the first call of a file began, by the clock of the rank, ns.
fn first_start(input: &[u8]) -> Option<i64> {
    let (reader, _) = open_or_salvage(input, Path::new("")).ok()?;
    let first = reader.records().next()?.ok()?;
    Some(ticker_of(&first).times(&first).0)
}

/// The clock by which the records of a file are timed, of which this is the first.
fn ticker_of(first: &DumpiRecord<'_>) -> RecordTicker {
    RecordTicker::new(match first.mask {
        mask if mask.has(Mask::WALL) => RecordAxis::Wall,
        mask if mask.has(Mask::CPU) => RecordAxis::Cpu,
        _ => RecordAxis::Count,
    })
}

/// Prints the calls of the file of a rank, with times since `zero`, or since the first of them.
fn print_file(
    input: &[u8],
    path: &Path,
    zero: Option<i64>,
    rows: &mut RowWriter<impl Write>,
) -> Result<(), Failure> {
    let name = shown(path);
    let (reader, incomplete) = open_or_salvage(input, name)?;
    let labels = reader.address_labels().ok().flatten().unwrap_or_default();
    let labels = labels.into_iter().map(|label| (label.key, label.label));
    let mut calls = DumpiCalls {
        rank: rank_of(path).map(i64::from),
        labels: labels.collect(),
        ticker: None,
        zero,
        open: HashMap::new(),
    };
    for record in reader.records() {
        match record {
            Ok(record) => calls.record(&record, rows)?,
            Err(error) => return Err(incomplete.unwrap_or_else(|| Failure::file(name, error))),
        }
    }
    calls.unfinished(rows)?;
    incomplete.map_or(Ok(()), Err)
}

struct DumpiCalls {
    rank: Option<i64>,
    /// Names of functions by key.
    labels: HashMap<u64, Vec<u8>>,
    /// The clock of the first record, by which all are timed.
    ticker: Option<RecordTicker>,
    /// The time that times are told from, ns; `None` before the first record, which then starts at 0.
    zero: Option<i64>,
    /// By thread the functions that were entered: key and start.
    open: HashMap<u16, Vec<(u64, i64)>>,
}

impl DumpiCalls {
    fn record(
        &mut self,
        record: &DumpiRecord<'_>,
        rows: &mut RowWriter<impl Write>,
    ) -> Result<(), Failure> {
        let ticker = self.ticker.get_or_insert_with(|| ticker_of(record));
        let (start, stop) = ticker.times(record);
        self.zero.get_or_insert(start);
        let key = match record.args().next() {
            Some((_, FieldValue::U64(key))) => key,
            _ => 0,
        };
        // Calls without a number in DUMPI are two records with the name of the function.
        match record.function.id {
            FUNCTION_ENTER => {
                self.open
                    .entry(record.thread)
                    .or_default()
                    .push((key, start));
                Ok(())
            }
            FUNCTION_EXIT => {
                let begun = self.open.entry(record.thread).or_default();
                let start = match begun.iter().rposition(|open| open.0 == key) {
                    Some(at) => begun.remove(at).1,
                    None => start,
                };
                let function = self.label(key);
                // That says something of the rank, and is in the place of no call.
                match function.strip_prefix(ANNOTATION) == Some(NO_FINALIZE) {
                    true => Ok(()),
                    false => rows.write(self.row(record.thread, &function, start, Some(stop))),
                }
            }
            _ => {
                let name = record.function.name;
                let mut row = self.row(record.thread, name, start, Some(stop));
                for (field, value) in record.args() {
                    if value != FieldValue::Absent {
                        let is_one = field.shape == FieldShape::One;
                        let value = shown_value(field.code, is_one, value);
                        row.arguments.insert(field.name.to_owned(), value);
                    }
                }
                rows.write(row)
            }
        }
    }

    /// Writes the functions that were entered and not left.
    fn unfinished(&self, rows: &mut RowWriter<impl Write>) -> Result<(), Failure> {
        let mut threads: Vec<_> = self.open.iter().collect();
        threads.sort_unstable();
        for (&thread, begun) in threads {
            for &(key, start) in begun {
                let function = self.label(key);
                rows.write(self.row(thread, &function, start, None))?;
            }
        }
        Ok(())
    }

    fn label(&self, key: u64) -> String {
        match self.labels.get(&key) {
            Some(label) => String::from_utf8_lossy(label).into_owned(),
            None => format!("function_{key:#x}"),
        }
    }

    fn row<'r>(
        &self,
        thread: u16,
        function: &'r str,
        start: i64,
        stop: Option<i64>,
    ) -> CallRow<'r> {
        CallRow {
            rank: self.rank,
            thread: thread.into(),
            call_id: None,
            function,
            start_ns: start.wrapping_sub(self.zero.unwrap_or(start)),
            duration_ns: stop.map(|stop| stop.wrapping_sub(start)),
            error: None,
            arguments: Map::new(),
        }
    }
}

fn shown_value(code: FieldCode, is_one: bool, value: FieldValue<'_>) -> Value {
    let texts = |list: Strs<'_>| Value::Array(list.iter().map(text).collect());
    match value {
        FieldValue::Absent => Value::Null,
        FieldValue::Int(v) => number(code, v),
        FieldValue::I64(v) => v.into(),
        FieldValue::U64(v) => format!("{v:#x}").into(),
        FieldValue::Str(bytes) => text(bytes),
        FieldValue::Ints(list) => list.iter().map(|v| number(code, v)).collect(),
        FieldValue::Handles(list) => list.iter().map(|v| number(code, v.into())).collect(),
        FieldValue::Enums(list) => list.iter().map(|&v| number(code, v.into())).collect(),
        FieldValue::Rows(rows) => {
            let rows = rows.iter();
            rows.map(|row| row.iter().map(Value::from).collect::<Value>())
                .collect()
        }
        FieldValue::Strs(list) => texts(list),
        FieldValue::StrLists(lists) => Value::Array(lists.iter().map(texts).collect()),
        FieldValue::Statuses(list) => {
            let mut all = list.iter().map(status);
            match is_one {
                true => all.next().unwrap_or(Value::Null),
                false => Value::Array(all.collect()),
            }
        }
    }
}

/// A number, or the name of the constant or the predefined handle that it stands for.
fn number(code: FieldCode, v: i32) -> Value {
    let name = wildcard(code, v).or_else(|| name(code, v).filter(|name| name.starts_with("MPI_")));
    match name {
        Some(name) => name.into(),
        None => v.into(),
    }
}

fn status(s: DumpiStatus) -> Value {
    json!({
        "source": s.source,
        "tag": s.tag,
        "bytes": s.bytes,
        "error": s.error,
        "cancelled": s.cancelled != 0,
    })
}
