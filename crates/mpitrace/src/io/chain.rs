//! One call with all that it caused, as a tree.

use super::names;
use crate::terminal::units::{bytes, counted, time};
use analysis::io::chain::{CallChain, CausedOperation};
use analysis::io::{Doing, duration, moved};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Calls of the group, and calls with data in an operation, that are named.
const MAX_NAMED_CALLS: usize = 8;
/// Operations side by side of which all are shown; beyond, the first and the last ones.
const SIDE_BY_SIDE: usize = 40;

/// The chain as text.
pub fn text(chain: &CallChain) -> String {
    let mut out = String::new();
    head(chain, &mut out);
    if chain.links.is_empty() {
        out.push_str("No operation belongs to it.\n");
    }
    tree(chain, &chain.top, "", &mut out);
    if chain.more > 0 {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "... and {} more operations", chain.more);
    }
    out
}

/// When the call began; of calls that are no data accesses when its first operation did.
fn zero(chain: &CallChain) -> i64 {
    let first = chain
        .top
        .iter()
        .map(|&nth| chain.links[nth].operation.place.ns);
    let begun = chain.made.as_ref().map(|made| made.place.ns);
    begun.or(first.min()).unwrap_or(0)
}

fn head(chain: &CallChain, out: &mut String) {
    let id = names::callid(chain.call);
    let Some(made) = &chain.made else {
        let _ = writeln!(out, "CallID {id}: an MPI call that is no data access");
        return;
    };
    let _ = writeln!(
        out,
        "{} of {}, CallID {id}: {} to {} in {}",
        made.name,
        names::actor(made.place.lane.actor),
        bytes(made.bytes),
        names::file(chain.files.get(&made.file), made.file),
        time(made.stop.abs_diff(made.place.ns)),
    );
    if let Some((first, end)) = made.bounding_extent {
        let pieces = match made.pieces {
            0 => String::new(),
            1 => " in one piece".to_owned(),
            n => format!(" in {n} pieces"),
        };
        let _ = writeln!(out, "  bytes {first} to {end} of the file{pieces}");
    }
    if made.complete > made.stop {
        let _ = writeln!(
            out,
            "  complete {} after it returned",
            time(made.complete.abs_diff(made.stop))
        );
    }
    if let Some(sequence) = made.sequence {
        let others: Vec<String> = chain
            .group
            .iter()
            .take(MAX_NAMED_CALLS)
            .map(|call| names::callid(call.call))
            .collect();
        let more = more(chain.group.len(), MAX_NAMED_CALLS);
        let _ = writeln!(
            out,
            "  collective access {sequence} of the file, with {}: {}{more}",
            counted(chain.group.len() as u64, "other call"),
            others.join(", "),
        );
    }
}

fn more(count: usize, shown: usize) -> String {
    match count.saturating_sub(shown) {
        0 => String::new(),
        n => format!(" and {n} more"),
    }
}

fn tree(chain: &CallChain, nodes: &[usize], indent: &str, out: &mut String) {
    let half = SIDE_BY_SIDE / 2;
    let is_long = nodes.len() > SIDE_BY_SIDE;
    for (position, &nth) in nodes.iter().enumerate() {
        if is_long && position == half {
            let _ = writeln!(out, "{indent}|  ... {} more ...", nodes.len() - 2 * half);
        }
        if is_long && (half..nodes.len() - half).contains(&position) {
            continue;
        }
        let link = &chain.links[nth];
        let is_last = position + 1 == nodes.len();
        let _ = writeln!(
            out,
            "{indent}{}{}",
            if is_last { "`- " } else { "|- " },
            line(chain, link)
        );
        let deeper = format!("{indent}{}", if is_last { "   " } else { "|  " });
        tree(chain, &link.children, &deeper, out);
    }
}

/// A time since the call began: with microseconds, so that what happens late in a long call can be told apart.
fn moment(ns: u64) -> String {
    match ns {
        0..1_000_000 => time(ns),
        _ => format!("{:.3} ms", ns as f64 / 1e6),
    }
}

fn line(chain: &CallChain, link: &CausedOperation) -> String {
    let operation = &link.operation;
    let record = &operation.record;
    let lane = operation.place.lane;
    let since = operation.place.ns.saturating_sub(zero(chain));
    let sign = if since < 0 { "-" } else { "+" };
    let mut text = format!(
        "{}{} {}: {}",
        sign,
        moment(since.unsigned_abs()),
        names::actor(lane.actor),
        names::kind(operation.kind)
    );
    let mut add = |part: std::fmt::Arguments<'_>| {
        let _ = text.write_fmt(part);
    };
    if Doing::of(operation.kind).is_transfer() {
        add(format_args!(" {}", bytes(moved(operation))));
        if record.offset >= 0 {
            add(format_args!(" at {}", record.offset));
        }
        let asked = u64::try_from(record.size).unwrap_or(0);
        if moved(operation) < asked && operation.error == 0 {
            add(format_args!(" instead of {}", bytes(asked)));
        }
    }
    let file = operation.file.filter(|&file| {
        let own = chain.made.as_ref().map(|made| made.file);
        own != Some(file)
    });
    if let Some(file) = file {
        let file = names::other_file(chain.files.get(&file), file);
        add(format_args!(" of {file}"));
    }
    add(format_args!(", {}", time(duration(operation))));
    if operation.outstanding {
        add(format_args!(" outstanding"));
    }
    if operation.error != 0 {
        add(format_args!(", errno {}", operation.error));
    }
    match link.own.carries {
        Some((own, precision)) => {
            let how = match names::precision(precision) {
                "exact" => String::new(),
                how => format!(" ({how})"),
            };
            add(format_args!(", carries {}{how}", bytes(own)));
        }
        None if Doing::of(operation.kind).is_transfer() && operation.hole_bytes > 0 => {
            add(format_args!(", all sieving holes"));
        }
        None => {}
    }
    if link.own.carries.is_some() && operation.hole_bytes > 0 {
        add(format_args!(
            ", {} sieving holes",
            bytes(operation.hole_bytes)
        ));
    }
    if !link.own.triggered {
        match operation.call {
            Some(call) => add(format_args!(", triggered by {}", names::callid(call))),
            None => add(format_args!(", triggered by no call")),
        }
    }
    if !link.sharers.is_empty() {
        let shown = link.sharers.iter().take(MAX_NAMED_CALLS);
        let shown: Vec<String> = shown
            .map(|sharer| format!("{} ({})", names::callid(sharer.call), bytes(sharer.bytes)))
            .collect();
        let more = more(link.sharers.len(), MAX_NAMED_CALLS);
        add(format_args!(", also of {}{more}", shown.join(", ")));
    }
    if let Some((read, written)) = record.sectors {
        let sectors = if Doing::of(operation.kind) == Doing::Read {
            read
        } else {
            written
        };
        add(format_args!(", {sectors} sectors"));
    }
    text
}

/// The chain as JSON.
pub fn json(chain: &CallChain) -> Value {
    let made = chain.made.as_ref().map(|made| {
        json!({
            "function": *made.name,
            "rank": names::actor(made.place.lane.actor),
            "file": names::file(chain.files.get(&made.file), made.file),
            "asked_bytes": made.bytes,
            "bounding_extent": made.bounding_extent.map(|(first, end)| [first, end]),
            "pieces": made.pieces,
            "sequence": made.sequence,
            "time_s": made.stop.saturating_sub(made.place.ns) as f64 / 1e9,
            "pending_s": made.complete.saturating_sub(made.stop) as f64 / 1e9,
        })
    });
    let group = chain.group.iter().map(|call| names::callid(call.call));
    json!({
        "callid": names::callid(chain.call),
        "call": made,
        "group": group.collect::<Vec<_>>(),
        "operations": nodes(chain, &chain.top),
        "more": chain.more,
    })
}

fn nodes(chain: &CallChain, positions: &[usize]) -> Value {
    let node = |&nth: &usize| {
        let link = &chain.links[nth];
        let operation = &link.operation;
        let lane = operation.place.lane;
        let mut object = Map::new();
        let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
        put("by", names::actor(lane.actor).into());
        put("operation", names::kind(operation.kind).into());
        let file = operation
            .file
            .map(|id| names::file(chain.files.get(&id), id));
        put("file", file.into());
        let since = operation.place.ns.saturating_sub(zero(chain));
        put("begin_s", (since as f64 / 1e9).into());
        put("time_s", (duration(operation) as f64 / 1e9).into());
        put("offset", operation.record.offset.into());
        put("size_bytes", operation.record.size.into());
        put("moved_bytes", moved(operation).into());
        put("hole_bytes", operation.hole_bytes.into());
        put("errno", operation.error.into());
        put("outstanding", operation.outstanding.into());
        put("triggered_by", operation.call.map(names::callid).into());
        let carries = link.own.carries;
        put("carries_bytes", carries.map(|(own, _)| own).into());
        put(
            "precision",
            carries.map(|(_, how)| names::precision(how)).into(),
        );
        let sharers = link
            .sharers
            .iter()
            .map(|sharer| json!({ "callid": names::callid(sharer.call), "bytes": sharer.bytes }));
        put("also_of", sharers.collect());
        put("operations", nodes(chain, &link.children));
        Value::Object(object)
    };
    positions.iter().map(node).collect()
}
