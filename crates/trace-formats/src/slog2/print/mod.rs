//! SLOG2 as text: that of slog2print, one list of all drawables, and that of PrintRecursively, node by node with previews
//! (`spec/slog2-tools.md` sections 4 and 5).

mod floors;
mod navigate;
mod order;
mod parts;
mod recursive;
mod stub;
mod trunk;

use std::io::Write;

pub use floors::PrintedDrawables;
pub use navigate::Navigator;
pub use order::PrintOrder;
pub use recursive::{RecursiveOptions, print_recursively};

use super::error::Slog2Error;
use super::node::NodeDrawable;
use super::read::Slog2Reader;
use parts::TextBuffer;
use trace_model::TimeBBox;

/// Parts to print before the drawables; the header is always printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrintedParts {
    /// Categories, tree directory and line maps.
    #[default]
    All,
    /// Categories only (option `-c`).
    Categories,
    /// Tree directory only (`-d`).
    Directory,
    /// Line maps only (`-y`).
    LineIdMaps,
}

/// Options of slog2print.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slog2PrintOptions {
    /// Parts to print before the drawables.
    pub parts: PrintedParts,
    /// Whether to list drawables at all. The options `-c`, `-d` and `-y` turn this off, `-s`, `-a` and those of the order
    /// turn it on again.
    pub drawables: bool,
    /// Drawables to print.
    pub kinds: PrintedDrawables,
    /// Order of the drawables.
    pub order: PrintOrder,
    /// Only drawables that start in this part of the time axis (by end time: that end in it); factors 0 to 1 of the length
    /// of the log (`-ts`, `-tf`). As in the original, those that start before it and reach into it are left out; see
    /// [`Slog2Reader::window`] for those that are to be seen there.
    pub window: (f64, f64),
}

impl Default for Slog2PrintOptions {
    fn default() -> Self {
        Slog2PrintOptions {
            parts: PrintedParts::All,
            drawables: true,
            kinds: PrintedDrawables::All,
            order: PrintOrder::IncreasingStart,
            window: (0.0, 1.0),
        }
    }
}

/// Writes what slog2print writes.
///
/// Drawables that start exactly at the end of the log are missing, as in the original (`spec/slog2.md` section 9.2).
pub fn print(
    reader: &Slog2Reader<'_>,
    options: &Slog2PrintOptions,
    out: &mut impl Write,
) -> Result<(), Slog2Error> {
    let mut printer = TextBuffer::new(reader);
    print_head(&mut printer, reader, options.parts);
    printer.text("\n");
    if !options.drawables {
        return flush(&mut printer, out);
    }
    flush(&mut printer, out)?;
    let window = time_window(reader, options.window);
    let mut count = 0u64;
    let mut last: Option<f64> = None;
    let &Slog2PrintOptions { order, kinds, .. } = options;
    floors::for_each_box(reader, order, kinds, window, |drawables| {
        for &drawable in drawables {
            let border = order.border_time(drawable.bounds());
            count += 1;
            let backward = |last: f64| match order.is_decreasing() {
                false => last > border,
                true => last < border,
            };
            if last.is_some_and(backward) {
                printer.text("  *****  ");
            }
            last = Some(border);
            printer.number(count);
            printer.text(": ");
            printer.drawable(drawable);
            printer.text("\n");
            flush_if_long(&mut printer, out)?;
        }
        Ok(())
    })?;
    flush(&mut printer, out)
}

/// Gives the drawables that slog2print lists, in its order.
///
/// Those that start exactly at the end of the log (end at its start, by end time) are missing, as in the original
/// (`spec/slog2.md` section 9.2); [`super::DrawableWalk`] leaves nothing out.
///
/// # Errors
/// The errors of the file and of `put`.
pub fn list<'a>(
    reader: &Slog2Reader<'a>,
    order: PrintOrder,
    mut put: impl FnMut(&NodeDrawable<'a>) -> Result<(), Slog2Error>,
) -> Result<(), Slog2Error> {
    let window = time_window(reader, (0.0, 1.0));
    floors::for_each_box(reader, order, PrintedDrawables::All, window, |drawables| {
        drawables.iter().try_for_each(|drawable| put(drawable))
    })
}

/// Writes header and parts, each with a blank line behind it.
fn print_head(printer: &mut TextBuffer, reader: &Slog2Reader<'_>, parts: PrintedParts) {
    printer.header(reader);
    printer.text("\n");
    if matches!(parts, PrintedParts::All | PrintedParts::Categories) {
        printer.category_map(reader);
        printer.text("\n");
    }
    if matches!(parts, PrintedParts::All | PrintedParts::Directory) {
        printer.directory(reader);
        printer.text("\n");
    }
    if matches!(parts, PrintedParts::All | PrintedParts::LineIdMaps) {
        printer.line_id_maps(reader);
        printer.text("\n");
    }
}

/// The stretch of time between two factors of the length of the log.
pub fn time_window(reader: &Slog2Reader<'_>, (from, to): (f64, f64)) -> TimeBBox {
    let Some(root) = reader.root() else {
        return TimeBBox::EMPTY;
    };
    let at = |factor: f64| root.bounds.earliest + factor * root.bounds.duration();
    TimeBBox {
        earliest: if from == 0.0 {
            root.bounds.earliest
        } else {
            at(from)
        },
        latest: if to == 1.0 {
            root.bounds.latest
        } else {
            at(to)
        },
    }
}

fn flush(printer: &mut TextBuffer, out: &mut impl Write) -> Result<(), Slog2Error> {
    out.write_all(&printer.out)
        .map_err(|error| Slog2Error::io(0, error))?;
    printer.out.clear();
    Ok(())
}

/// Hands the text on before it takes much memory.
fn flush_if_long(printer: &mut TextBuffer, out: &mut impl Write) -> Result<(), Slog2Error> {
    if printer.out.len() > 1 << 16 {
        flush(printer, out)?;
    }
    Ok(())
}
