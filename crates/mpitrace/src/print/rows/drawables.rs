//! Rows of the states of a trace, in order of start: calls, and what else a format draws as a state.

use super::row::{CallRow, RowWriter};
use crate::failure::Failure;
use crate::terminal::json::info_value;
use crate::trace_files::losses::{failure, report_losses};
use crate::trace_files::trace::TraceInput;
use std::collections::HashMap;
use std::io::Write;
use trace_model::{
    Actor, Drawable, DrawableOrder, InfoValue, Stop, Topology, for_each_in_order, info_values,
    lane_of, value_names,
};

pub fn print(trace: &TraceInput, rows: &mut RowWriter<impl Write>) -> Result<(), Failure> {
    let source = trace.source()?;
    let definitions = source.definitions();
    let names = definitions.categories.iter();
    let names: HashMap<i32, Vec<String>> = names
        .map(|category| (category.index, value_names(category)))
        .collect();
    let mut failed = None;
    let mut put = |drawable: &Drawable<'_>| -> Result<(), Stop> {
        let (Some(category), Some(first), Some(names)) = (
            definitions.category(drawable.category),
            drawable.vertices.first(),
            names.get(&drawable.category),
        ) else {
            return Ok(());
        };
        if drawable.topology != Topology::State {
            return Ok(());
        }
        let bounds = drawable.bounds();
        let function = category.name.to_str();
        let mut row = CallRow {
            function: &function,
            start_ns: ns(bounds.earliest),
            duration_ns: Some(ns(bounds.latest).wrapping_sub(ns(bounds.earliest))),
            ..CallRow::default()
        };
        if let Some(line) = definitions.line(first.line) {
            let lane = lane_of(line);
            row.thread = lane.thread.into();
            match lane.actor {
                Actor::Rank(rank) => row.rank = Some(rank.into()),
                _ => {
                    _ = row
                        .arguments
                        .insert("timeline".into(), line.name.clone().into())
                }
            }
            if line.comm != 0 {
                row.arguments
                    .insert("communicator".into(), line.comm.into());
            }
        }
        for (name, (_, value)) in names.iter().zip(info_values(category, drawable.info)) {
            match value {
                InfoValue::Hex(id) if name == "CallID" => row.call_id = Some(id),
                value => _ = row.arguments.insert(name.clone(), info_value(value)),
            }
        }
        rows.write(row).map_err(|failure| {
            failed = Some(failure);
            Stop::from("stdout")
        })
    };
    let read = for_each_in_order(source.as_ref(), DrawableOrder::Start, &mut put);
    match (failed, read) {
        (Some(failed), _) => Err(failed),
        (None, Err(stop)) => Err(failure(stop)),
        (None, Ok(losses)) => {
            report_losses(&losses, trace.name());
            Ok(())
        }
    }
}

fn ns(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}
