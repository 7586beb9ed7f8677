//! Rows of the calls in a block file, in order of completion, and then of the calls that did not return.

use super::super::Arguments;
use super::super::blocks::{BlockFileText, with_calls};
use super::super::values::{constant, handle_text};
use super::row::{CallRow, RowWriter};
use crate::failure::Failure;
use crate::terminal::json::{real, text};
use crate::trace_files::input::OpenedInput;
use blockfile::args::{ArgValue, ArgValues, Array};
use blockfile::define::{self, Definition};
use blockfile::encode::MpiStatus;
use blockfile::record::Record;
use serde_json::{Map, Value, json};
use std::io::Write;
use unify::library::Library;
use unify::timeline::Timeline;
use wrappers::{Carrier, ElementForm, Function, Kind, Param};

pub fn print(
    input: &OpenedInput,
    arguments: &Arguments,
    rows: &mut RowWriter<impl Write>,
) -> Result<(), Failure> {
    with_calls(input, arguments, |file| {
        let rank = Some(i64::from(file.file.info().rank)).filter(|rank| *rank >= 0);
        BlockFileCalls { file, rank }.print(rows)
    })
}

struct BlockFileCalls<'f, 'b, 'a, 't> {
    file: &'f BlockFileText<'b, 'a, 't>,
    rank: Option<i64>,
}

impl BlockFileCalls<'_, '_, '_, '_> {
    fn print(&self, rows: &mut RowWriter<impl Write>) -> Result<(), Failure> {
        let file = self.file;
        let mut library = Library::default();
        let mut timeline = Timeline::new(file.file);
        while let Some(item) = timeline.next() {
            let record = item.record;
            let is_other = record.function == define::USER_EVENT
                || record.function == define::GAP
                || record.is_operation()
                || define::matching_only_call(&record).is_some();
            if is_other {
                continue;
            }
            if record.is_definition() {
                if let Some(definition) = Definition::decode(record.function, record.payload) {
                    library.define(&definition);
                }
                continue;
            }
            self.call(item.thread, &record, &library, rows)?;
        }
        for thread in file.file.threads() {
            let Some(open) = thread.open_call() else {
                continue;
            };
            rows.write(CallRow {
                rank: self.rank,
                thread: thread.number.into(),
                call_id: Some(file.call_id(open.call)),
                function: &file.name(open.function, &library),
                start_ns: file.ns_since_first(open.start),
                ..CallRow::default()
            })?;
        }
        Ok(())
    }

    fn call(
        &self,
        thread: u32,
        record: &Record<'_>,
        library: &Library,
        rows: &mut RowWriter<impl Write>,
    ) -> Result<(), Failure> {
        let file = self.file;
        let mut arguments = Map::new();
        if let Some(function) = file.table.functions.get(usize::from(record.function)) {
            let family = file.file.info().family;
            if let Some(values) = ArgValues::decode(function, family, record.payload) {
                fill(&mut arguments, function, &values, library);
            }
        }
        let start = file.ns_since_first(record.start);
        let stop = file.ns_since_first(record.stop());
        rows.write(CallRow {
            rank: self.rank,
            thread: thread.into(),
            call_id: Some(file.call_id(record.call)),
            function: &file.name(record.function, library),
            start_ns: start,
            duration_ns: Some(stop.wrapping_sub(start)),
            error: Some(record.code.into()),
            arguments,
        })
    }
}

/// Puts the arguments that were recorded into an object. Names of handles and constants come from `library`.
fn fill(
    arguments: &mut Map<String, Value>,
    function: &Function,
    values: &ArgValues<'_>,
    library: &Library,
) {
    for (param, value) in function.params.iter().zip(values.values()) {
        let int = |v: i64| int(library, param.kind, v);
        let list =
            |array: &Option<Array<'_>>| array.map_or(Value::Null, |a| list(library, param, a));
        let value = match value {
            ArgValue::Absent => continue,
            ArgValue::Int(v) => int(*v),
            ArgValue::InOut(before, after) => json!({ "in": int(*before), "out": int(*after) }),
            ArgValue::Double(v) => real(*v),
            ArgValue::Handle(handle) => handle_text(library, param.kind, *handle).into(),
            ArgValue::Status(status_of) => status(*status_of),
            ArgValue::Text(value) => value.map_or(Value::Null, text),
            ArgValue::Array(array) => list(array),
            ArgValue::ArrayInOut(before, after) => {
                json!({ "in": list(before), "out": list(after) })
            }
        };
        arguments.insert(param.name.clone(), value);
    }
}

fn int(library: &Library, kind: Kind, v: i64) -> Value {
    match constant(library, kind, v) {
        Some(name) => name.into(),
        None => v.into(),
    }
}

fn status(status: Option<MpiStatus>) -> Value {
    let Some(s) = status else {
        return Value::Null;
    };
    json!({
        "source": s.source,
        "tag": s.tag,
        "bytes": s.bytes,
        "error": s.error,
        "cancelled": s.cancelled,
    })
}

fn list(library: &Library, param: &Param, array: Array<'_>) -> Value {
    let (Carrier::Array(elem) | Carrier::ArrayInOut(elem)) = param.carrier() else {
        return Value::Null;
    };
    let kind = param.kind;
    Value::Array(match elem {
        ElementForm::Status => array.statuses().map(status).collect(),
        ElementForm::Text => {
            let texts = array.texts();
            texts.map(|value| value.map_or(Value::Null, text)).collect()
        }
        ElementForm::I32 | ElementForm::I64 => {
            array.ints().map(|v| int(library, kind, v)).collect()
        }
        ElementForm::Handle | ElementForm::Pointer => {
            let handles = array.ints();
            handles
                .map(|v| handle_text(library, kind, v as u64).into())
                .collect()
        }
    })
}
