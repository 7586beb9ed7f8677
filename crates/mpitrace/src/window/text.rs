//! A window as lines of text.

use super::view::WindowView;
use crate::terminal::table::share_shown;
use std::io::{self, Write};
use trace_formats::slog2::{NodeDrawable, NodeShadow, Primitive, Topology, Weight};
use trace_model::InfoValue;

pub fn write(view: &WindowView<'_>, out: &mut impl Write) -> io::Result<()> {
    let (window, log, reading) = (view.window.bounds, view.log, view.window.reading);
    writeln!(
        out,
        "window {} to {} s of {} to {} s",
        seconds(window.earliest),
        seconds(window.latest),
        seconds(log.earliest),
        seconds(log.latest)
    )?;
    writeln!(
        out,
        "read to depth {} (root {}, leaves 0): nodes {}, bytes {}; drawables {}, previews {}",
        reading.depth,
        view.depth,
        reading.nodes,
        reading.bytes,
        view.window.drawables.len(),
        view.window.shadows.len()
    )?;
    let lines = RowWriter::of(view);
    if !view.window.drawables.is_empty() {
        writeln!(out)?;
        lines.head(out, "kind", "category and info")?;
    }
    for drawable in &view.window.drawables {
        match drawable {
            NodeDrawable::Primitive(primitive) => lines.primitive(out, primitive, "")?,
            NodeDrawable::Composite(composite) => {
                let bounds = composite.bounds;
                let info = lines.text(composite.category, composite.info);
                let of = [drawable.first().line, drawable.last().line];
                lines.row(
                    out,
                    [bounds.earliest, bounds.latest],
                    "composite",
                    of,
                    &info,
                )?;
                for primitive in &composite.primitives {
                    lines.primitive(out, primitive, "of it: ")?;
                }
            }
        }
    }
    if !view.window.shadows.is_empty() {
        writeln!(out)?;
        lines.head(
            out,
            "previews",
            "drawables: category, number, share of the time inclusive and exclusive",
        )?;
    }
    for shadow in &view.window.shadows {
        lines.shadow(out, shadow)?;
    }
    Ok(())
}

/// Times in full: a nanosecond shows, and no digit that the file has not.
fn seconds(time: f64) -> String {
    format!("{time:.9}")
}

/// Writes rows.
struct RowWriter<'v, 'a> {
    view: &'v WindowView<'a>,
    /// Characters of the longest time, of the longest name of a line or a pair of lines.
    widths: [usize; 2],
}

impl<'v, 'a> RowWriter<'v, 'a> {
    fn of(view: &'v WindowView<'a>) -> Self {
        let bounds = view.window.drawables.iter().map(NodeDrawable::bounds);
        let bounds = bounds.chain(view.window.shadows.iter().map(|shadow| shadow.bounds));
        let times = bounds.flat_map(|bounds| [bounds.earliest, bounds.latest]);
        let time = times.map(|time| seconds(time).len()).max().unwrap_or(0);
        let mut lines = RowWriter {
            view,
            widths: [time.max("start".len()), "on".len()],
        };
        let primitives = view
            .window
            .drawables
            .iter()
            .flat_map(|drawable| drawable.primitives());
        let shadows = view.window.shadows.iter().map(|shadow| &shadow.primitive);
        let ends = primitives
            .chain(shadows)
            .map(|p| [p.first().line, p.last().line]);
        let place = ends.map(|ends| lines.place(ends).len()).max();
        lines.widths[1] = place.unwrap_or(0).max(lines.widths[1]);
        lines
    }

    fn name(&self, line: i32) -> String {
        let Some(line) = self.view.lines.get(&line) else {
            return format!("line {line}");
        };
        let mut name = line
            .name
            .clone()
            .unwrap_or_else(|| format!("rank {}", line.rank));
        if line.thread != 0 {
            name += &format!(" thread {}", line.thread);
        }
        if line.comm != 0 {
            name += &format!(" (comm {} rank {})", line.comm, line.comm_rank);
        }
        name
    }

    fn place(&self, [from, to]: [i32; 2]) -> String {
        match from == to {
            true => self.name(from),
            false => format!("{} -> {}", self.name(from), self.name(to)),
        }
    }

    fn head(&self, out: &mut impl Write, kind: &str, what: &str) -> io::Result<()> {
        let [time, place] = self.widths;
        writeln!(
            out,
            "{:>time$}  {:>time$}  {kind:<9}  {:<place$}  {what}",
            "start", "end", "on"
        )
    }

    fn row(
        &self,
        out: &mut impl Write,
        times: [f64; 2],
        kind: &str,
        lines: [i32; 2],
        what: &str,
    ) -> io::Result<()> {
        let [time, place] = self.widths;
        let [start, end] = times.map(seconds);
        let on = self.place(lines);
        writeln!(
            out,
            "{start:>time$}  {end:>time$}  {kind:<9}  {on:<place$}  {what}"
        )
    }

    /// Name of the category and info, each value behind its key.
    fn text(&self, category: i32, info: &[u8]) -> String {
        let mut text = self.view.category_name(category);
        let values = self.view.info(category, info);
        if !values.is_empty() {
            text.push_str(": ");
        }
        for (key, value) in values {
            text.push_str(&key);
            match value {
                InfoValue::Text(bytes) => text.push_str(&String::from_utf8_lossy(bytes)),
                InfoValue::Integer(number) => text.push_str(&number.to_string()),
                InfoValue::Hex(number) => text.push_str(&format!("{number:x}")),
                InfoValue::Real(number) => text.push_str(&number.to_string()),
            }
        }
        // A line of text stays one, whatever a program wrote into its info.
        text.replace(|c: char| c.is_control(), " ")
    }

    fn primitive(
        &self,
        out: &mut impl Write,
        primitive: &Primitive<'_>,
        before: &str,
    ) -> io::Result<()> {
        let (first, last) = (primitive.first(), primitive.last());
        let topology = self
            .view
            .categories
            .get(&primitive.category)
            .map(|c| c.topology);
        let topology = topology.unwrap_or(match primitive.vertices().len() {
            1 => Topology::Event,
            _ if first.line == last.line => Topology::State,
            _ => Topology::Arrow,
        });
        let kind = match topology {
            Topology::Event => "event",
            Topology::State => "state",
            Topology::Arrow => "arrow",
        };
        let text = before.to_owned() + &self.text(primitive.category, primitive.info);
        self.row(
            out,
            [first.time, last.time],
            kind,
            [first.line, last.line],
            &text,
        )
    }

    fn shadow(&self, out: &mut impl Write, shadow: &NodeShadow<'_>) -> io::Result<()> {
        let (first, last) = (shadow.primitive.first(), shadow.primitive.last());
        let is_state = shadow.primitive.category == trace_formats::slog2::PREVIEW_STATE;
        let kind = match shadow.primitive.category {
            trace_formats::slog2::PREVIEW_EVENT => "events",
            trace_formats::slog2::PREVIEW_ARROW => "arrows",
            _ => "states",
        };
        let weight = |weight: Weight| {
            let name = self.view.category_name(weight.category);
            let ratios = weight.ratios;
            let share = |ratio: f32| share_shown(ratio.into());
            match is_state {
                true => format!(
                    "{name} {} ({} {})",
                    ratios.count,
                    share(ratios.inclusive),
                    share(ratios.exclusive)
                ),
                false => format!("{name} {}", ratios.count),
            }
        };
        // The largest first.
        let weights: Vec<String> = shadow.weights().rev().map(weight).collect();
        let text = format!("{}: {}", shadow.count, weights.join(", "));
        let times = [shadow.bounds.earliest, shadow.bounds.latest];
        self.row(out, times, kind, [first.line, last.line], &text)
    }
}
