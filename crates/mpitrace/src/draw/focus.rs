//! The part of a trace that a picture is about: its time and its timelines.

use crate::failure::Failure;
use crate::trace_files::losses::failure;
use io_attribution::draw::{Shows, shows};
use std::collections::HashSet;
use std::path::Path;
use trace_formats::slog2::{Slog2Error, Slog2Source, TimeBBox};
use trace_model::{Category, Source, Topology};

/// Part of the window that is left empty on each side, so that nothing touches the frame.
const MARGIN: f64 = 0.02;

/// A part of a trace.
pub struct PartOfTrace {
    /// From the first to the last of what the picture is about, with a margin.
    pub window: TimeBBox,
    /// Lines with any of it.
    pub lines: HashSet<i32>,
}

/// Whether the states of a category are I/O.
fn is_io(category: &Category) -> bool {
    let is_call = category.name.to_str().starts_with("MPI_File_");
    let is_operation = matches!(shows(category), Some(Shows::Operation(_) | Shows::Access));
    category.topology != Topology::Arrow && (is_call || is_operation)
}

/// I/O in an SLOG2 file, if a window is given what of it reaches into the window.
///
/// # Errors
/// If the file is damaged, or there is no I/O.
pub fn io(bytes: &[u8], name: &Path, asked: Option<TimeBBox>) -> Result<PartOfTrace, Failure> {
    let failed = |error: Slog2Error| Failure::in_file(error, name);
    let source = Slog2Source::new(bytes).map_err(failed)?;
    let categories = source.definitions().categories.iter();
    let wanted: HashSet<i32> = categories.filter(|c| is_io(c)).map(|c| c.index).collect();
    let mut lines = HashSet::new();
    let mut window = TimeBBox {
        earliest: f64::INFINITY,
        latest: f64::NEG_INFINITY,
    };
    let mut look = |drawable: &trace_model::Drawable<'_>| {
        let bounds = drawable.bounds();
        let is_outside = asked
            .is_some_and(|asked| bounds.latest < asked.earliest || bounds.earliest > asked.latest);
        if wanted.contains(&drawable.category) && !is_outside {
            window.earliest = window.earliest.min(bounds.earliest);
            window.latest = window.latest.max(bounds.latest);
            lines.extend(drawable.vertices.iter().map(|vertex| vertex.line));
        }
        Ok(())
    };
    source.for_each(&mut look).map_err(failure)?;
    if lines.is_empty() {
        let place = if asked.is_some() {
            " in the window"
        } else {
            ""
        };
        return Err(Failure::Data(format!(
            "{}: no call of MPI-IO and no file operation to draw{place}",
            name.display()
        )));
    }
    let margin = (window.latest - window.earliest) * MARGIN;
    window.earliest -= margin;
    window.latest += margin;
    Ok(PartOfTrace { window, lines })
}
