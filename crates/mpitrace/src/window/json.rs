//! A window as JSON: one object, written drawable by drawable.

use super::view::WindowView;
use crate::terminal::json::info_value;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::io::{self, Write};
use trace_formats::slog2::{
    NodeDrawable, NodeShadow, PREVIEW_ARROW, PREVIEW_EVENT, Primitive, TimeBBox, Topology, Vertex,
};
use trace_model::value_names;

pub fn write(view: &WindowView<'_>, out: &mut impl Write) -> io::Result<()> {
    let reading = view.window.reading;
    write!(
        out,
        "{{\"window\":{},\"log\":{},\"depth\":{},\"root_depth\":{},\"nodes\":{},\"bytes\":{},\"lines\":[",
        span(view.window.bounds),
        span(view.log),
        reading.depth,
        view.depth,
        reading.nodes,
        reading.bytes
    )?;
    let used = used_lines(view);
    let lines = view.lines.values().filter(|line| used.contains(&line.id));
    list(out, lines, |line| {
        json!({
            "line": line.id, "rank": line.rank, "thread": line.thread, "comm": line.comm,
            "comm_rank": line.comm_rank, "host": line.host, "name": line.name,
        })
    })?;
    write!(out, "],\"drawables\":[")?;
    list(
        out,
        view.window.drawables.iter(),
        |drawable| match drawable {
            NodeDrawable::Primitive(primitive) => primitive_value(view, primitive),
            NodeDrawable::Composite(composite) => {
                let parts = composite
                    .primitives
                    .iter()
                    .map(|p| primitive_value(view, p));
                json!({
                    "kind": "composite",
                    "category": view.category_name(composite.category),
                    "start": number(composite.bounds.earliest), "end": number(composite.bounds.latest),
                    "info": info(view, composite.category, composite.info),
                    "parts": parts.collect::<Vec<_>>(),
                })
            }
        },
    )?;
    write!(out, "],\"previews\":[")?;
    list(out, view.window.shadows.iter(), |shadow| {
        shadow_value(view, shadow)
    })?;
    writeln!(out, "]}}")
}

/// The lines that something in the window is on.
fn used_lines(view: &WindowView<'_>) -> BTreeSet<i32> {
    let mut used = BTreeSet::new();
    for drawable in &view.window.drawables {
        let primitives = drawable.primitives();
        used.extend(
            primitives
                .iter()
                .flat_map(|p| [p.first().line, p.last().line]),
        );
    }
    let previews = view.window.shadows.iter().map(|shadow| shadow.primitive);
    used.extend(previews.flat_map(|p| [p.first().line, p.last().line]));
    used
}

/// Writes values one to a line.
fn list<T>(
    out: &mut impl Write,
    items: impl Iterator<Item = T>,
    value: impl Fn(T) -> Value,
) -> io::Result<()> {
    for (nth, item) in items.enumerate() {
        out.write_all(if nth > 0 { b",\n" } else { b"\n" })?;
        serde_json::to_writer(&mut *out, &value(item))?;
    }
    Ok(())
}

/// JSON has no numbers that are not finite; they are null.
fn number(number: f64) -> Value {
    serde_json::Number::from_f64(number).map_or(Value::Null, Value::Number)
}

fn span(bounds: TimeBBox) -> Value {
    json!({ "from": number(bounds.earliest), "to": number(bounds.latest) })
}

fn ends(value: &mut Map<String, Value>, [first, last]: [Vertex; 2], is_arrow: bool) {
    if is_arrow {
        value.insert("from_line".into(), first.line.into());
        value.insert("to_line".into(), last.line.into());
    } else {
        value.insert("line".into(), first.line.into());
    }
}

fn primitive_value(view: &WindowView<'_>, primitive: &Primitive<'_>) -> Value {
    let (first, last) = (primitive.first(), primitive.last());
    let known = view.categories.get(&primitive.category).map(|c| c.topology);
    let (kind, is_arrow) = match (known, primitive.vertices().len()) {
        (Some(Topology::Event), _) | (None, 1) => ("event", false),
        (Some(Topology::Arrow), _) => ("arrow", true),
        (None, _) if first.line != last.line => ("arrow", true),
        _ => ("state", false),
    };
    let mut value = Map::new();
    value.insert("kind".into(), kind.into());
    value.insert(
        "category".into(),
        view.category_name(primitive.category).into(),
    );
    // Of an arrow, the send and the receive, which may be earlier.
    value.insert("start".into(), number(first.time));
    value.insert("end".into(), number(last.time));
    ends(&mut value, [first, last], is_arrow);
    let info = info(view, primitive.category, primitive.info);
    if !info.is_empty() {
        value.insert("info".into(), info.into());
    }
    value.into()
}

/// Values by their names, as `mpitrace print --json` has them.
fn info(view: &WindowView<'_>, category: i32, info: &[u8]) -> Map<String, Value> {
    let names = view.categories.get(&category);
    let names = names.map_or_else(Vec::new, |category| value_names(category));
    let values = view.info(category, info).into_iter();
    let values = values.map(|(_, value)| info_value(value));
    names.into_iter().zip(values).collect()
}

fn shadow_value(view: &WindowView<'_>, shadow: &NodeShadow<'_>) -> Value {
    let (first, last) = (shadow.primitive.first(), shadow.primitive.last());
    let kind = match shadow.primitive.category {
        PREVIEW_EVENT => "events",
        PREVIEW_ARROW => "arrows",
        _ => "states",
    };
    let mut value = Map::new();
    value.insert("kind".into(), kind.into());
    value.insert("start".into(), number(shadow.bounds.earliest));
    value.insert("end".into(), number(shadow.bounds.latest));
    ends(&mut value, [first, last], kind == "arrows");
    value.insert("count".into(), shadow.count.into());
    let weights = shadow.weights().rev().map(|weight| {
        json!({
            "category": view.category_name(weight.category),
            "count": weight.ratios.count,
            "inclusive": number(weight.ratios.inclusive.into()),
            "exclusive": number(weight.ratios.exclusive.into()),
        })
    });
    value.insert("categories".into(), weights.collect());
    value.into()
}
