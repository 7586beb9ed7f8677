//! Events that name files: a part of a trace keeps them, because operations and data accesses in it name their files by number only.

use super::select::Selection;
use io_attribution::draw::{Shows, shows};
use std::collections::HashSet;
use trace_model::{Definitions, Drawable, DrawableOrder, Topology, Vertex};

/// An event that names a file.
#[derive(Debug)]
pub(super) struct FileName {
    category: i32,
    info: Vec<u8>,
    place: Vertex,
}

impl FileName {
    /// The event as a drawable.
    pub fn drawable(&self) -> Drawable<'_> {
        Drawable {
            topology: Topology::Event,
            category: self.category,
            info: &self.info,
            vertices: std::slice::from_ref(&self.place),
        }
    }
}

/// Keeps the events that name files and are not selected by their rank, time or CallID. They are moved to a line and into the time that are selected.
/// They come with the first drawable that is selected: without one there is nothing to be named.
#[derive(Debug)]
pub(super) struct FileNames {
    /// Categories of such events, as far as these are selected.
    categories: HashSet<i32>,
    /// Lines that are selected.
    lines: HashSet<i32>,
    /// The first of the lines that are selected.
    line: Option<i32>,
    /// From the start of the first window to the end of the last one.
    span: Option<(f64, f64)>,
    /// The latest time of a drawable that is kept.
    latest: f64,
    has_kept: bool,
    /// Events that wait for the first drawable that is kept.
    waiting: Vec<FileName>,
}

impl FileNames {
    /// Nothing seen so far of a trace with these definitions.
    pub fn new(selection: &Selection, definitions: &Definitions) -> FileNames {
        let names_files = definitions.categories.iter().filter(|category| {
            !selection.invert
                && shows(category) == Some(Shows::File)
                && selection.admits_category(category)
        });
        let lines = definitions.lines.iter();
        let lines = lines.filter(|line| selection.admits_line(line));
        let lines: Vec<i32> = lines.map(|line| line.id).collect();
        let windows = &selection.windows.keep;
        let from = windows.iter().map(|window| window.0).reduce(f64::min);
        let to = windows.iter().map(|window| window.1).reduce(f64::max);
        FileNames {
            categories: names_files.map(|category| category.index).collect(),
            line: lines.first().copied(),
            lines: lines.into_iter().collect(),
            span: from.zip(to),
            latest: f64::NEG_INFINITY,
            has_kept: false,
            waiting: Vec::new(),
        }
    }

    /// Order of the drawables of a source of this order, where events may be moved.
    pub fn order(&self, of_source: DrawableOrder) -> DrawableOrder {
        match of_source {
            DrawableOrder::Start if self.span.is_some() && !self.categories.is_empty() => {
                DrawableOrder::Any
            }
            order => order,
        }
    }

    /// Takes an event that is not selected. Gives it as it is to be kept; `None` if it names no file or has to wait.
    pub fn take(
        &mut self,
        category: i32,
        info: &[u8],
        mut vertices: impl Iterator<Item = Vertex>,
    ) -> Option<FileName> {
        if !self.categories.contains(&category) {
            return None;
        }
        let mut place = vertices.next()?;
        if !self.lines.contains(&place.line) {
            place.line = self.line?;
        }
        // Drawables come by their ends: an event that is moved must not come before one that has come.
        if let Some((from, to)) = self.span {
            place.time = place.time.min(to.max(self.latest)).max(from);
        }
        let name = FileName {
            category,
            info: info.to_vec(),
            place,
        };
        if self.has_kept {
            return Some(name);
        }
        self.waiting.push(name);
        None
    }

    /// Notes that a drawable which ends at `latest` is about to be kept. Gives the events that have waited for one.
    pub fn keeps(&mut self, latest: f64) -> Vec<FileName> {
        self.latest = self.latest.max(latest);
        self.has_kept = true;
        std::mem::take(&mut self.waiting)
    }
}
