//! Facts as drawables, and drawables as facts.
//!
//! * An **operation** is a state of a category named after its kind, on the line of its thread, where it is nested in the state of
//!   the MPI call; where operations overlap, on a sub-line. Operations that no call is known of have a category of their own, without
//!   CallID.
//! * An **edge** is an arrow from the start of the call to the start of the operation: `triggers NAME` or `carries NAME`.
//! * A **call** that accesses data is an event `I/O access` at its start, which says what its state has no room for: file, sequence,
//!   bytes and their place in the file, completion.
//! * A **file** is an event `file`, where something that names it is drawn first.
//!
//! All of a fact is in the info, so that [`read_attribution`] gives from a trace what was drawn. Categories and lines are made when they
//! are first needed; their numbers come behind those of the trace.

mod base;
mod categories;
mod facts;
mod info;
mod place;

use std::collections::{BTreeMap, BTreeSet};

use super::fact::{
    AttributedOperation, AttributionEdge, AttributionRecord, DataAccessCall, Lane, OpenedFile,
    PicturePoint, Relation,
};
use trace_model::{Category, Drawable, InfoWriter, Line, Stop, Vertex};

pub use base::Base;
pub use categories::COUNT as CATEGORIES;
pub use facts::{read_attribution, read_attribution_by_time};

/// Makes drawables of facts. Remembers neither calls nor operations.
#[derive(Debug)]
pub struct Drawer {
    base: Base,
    /// By offset of its number.
    categories: BTreeMap<i32, Category>,
    /// Lines beyond those of the ranks' threads.
    lines: BTreeMap<Lane, i32>,
    next_line: i64,
    /// Files that nothing drawn has named so far.
    files: BTreeMap<u32, OpenedFile>,
    drawn_files: BTreeSet<u32>,
    info: InfoWriter,
}

impl Drawer {
    /// Draws into a trace like this.
    pub fn new(base: Base) -> Self {
        Drawer {
            base,
            categories: BTreeMap::new(),
            lines: BTreeMap::new(),
            next_line: i64::from(base.first_line),
            files: BTreeMap::new(),
            drawn_files: BTreeSet::new(),
            info: InfoWriter::default(),
        }
    }

    /// Draws a fact.
    ///
    /// # Errors
    /// The errors of `put`.
    pub fn draw(
        &mut self,
        fact: &AttributionRecord,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        match fact {
            AttributionRecord::File(file) => {
                if !self.drawn_files.contains(&file.id) {
                    self.files.insert(file.id, file.clone());
                }
                Ok(())
            }
            AttributionRecord::Call(call) => self.call(call, put),
            AttributionRecord::Operation(operation) => self.operation(operation, put),
            AttributionRecord::Edge(edge) => self.edge(edge, put),
        }
    }

    /// Draws the files that nothing has named, at time zero.
    ///
    /// # Errors
    /// The errors of `put`.
    pub fn finish(
        &mut self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        for file in std::mem::take(&mut self.files).into_values() {
            self.file(&file, Vertex { time: 0.0, line: 0 }, put)?;
        }
        Ok(())
    }

    /// The categories of what was drawn, by ascending number.
    pub fn categories(&self) -> Vec<Category> {
        self.categories.values().cloned().collect()
    }

    /// The lines of what was drawn that are not those of threads of ranks, by ascending number.
    pub fn lines(&self) -> Vec<Line> {
        place::lines(&self.base, &self.lines)
    }

    fn operation(
        &mut self,
        operation: &AttributedOperation,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let Some(offset) = categories::state(operation.kind, operation.call.is_some()) else {
            return Ok(());
        };
        let start = self.vertex(operation.place);
        if let Some(id) = operation.file {
            self.name_file(id, start, put)?;
        }
        let end = Vertex {
            time: self.seconds(operation.stop.max(operation.place.ns)),
            ..start
        };
        info::write_operation(operation, &mut self.info);
        self.put(offset, &[start, end], put)
    }

    fn call(
        &mut self,
        call: &DataAccessCall,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let at = self.vertex(call.place);
        self.name_file(call.file, at, put)?;
        info::write_call(call, &mut self.info);
        self.put(categories::ACCESS_OFFSET, &[at], put)
    }

    fn edge(
        &mut self,
        edge: &AttributionEdge,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let Some(offset) = categories::arrow(edge.kind, edge.relation) else {
            return Ok(());
        };
        let ends = [self.vertex(edge.from), self.vertex(edge.to)];
        info::write_edge(edge, &mut self.info);
        self.put(offset, &ends, put)
    }

    /// Something names a file: if it is the first, the file is drawn there.
    fn name_file(
        &mut self,
        id: u32,
        at: Vertex,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        match self.files.remove(&id) {
            Some(file) => self.file(&file, at, put),
            None => Ok(()),
        }
    }

    fn file(
        &mut self,
        file: &OpenedFile,
        at: Vertex,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        self.drawn_files.insert(file.id);
        info::write_file(file, &mut self.info);
        self.put(categories::FILE_OFFSET, &[at], put)
    }

    /// Gives a drawable with the info that was written.
    fn put(
        &mut self,
        offset: i32,
        vertices: &[Vertex],
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let first = self.base.first_category;
        let category = self.categories.entry(offset);
        let category = category.or_insert_with(|| categories::category(first, offset));
        put(&Drawable {
            topology: category.topology,
            category: category.index,
            info: self.info.bytes(),
            vertices,
        })
    }

    fn seconds(&self, ns: i64) -> f64 {
        ns.wrapping_sub(self.base.zero_ns) as f64 / 1e9
    }

    fn vertex(&mut self, place: PicturePoint) -> Vertex {
        Vertex {
            time: self.seconds(place.ns),
            line: self.line(place.lane),
        }
    }

    fn line(&mut self, lane: Lane) -> i32 {
        if let Some(line) = place::own_line(&self.base, lane) {
            return line;
        }
        if let Some(&line) = self.lines.get(&lane) {
            return line;
        }
        // Where numbers have run out, what overlaps is drawn over each other.
        let Ok(line) = i32::try_from(self.next_line) else {
            return place::own_line(&self.base, Lane { lane: 0, ..lane }).unwrap_or(0);
        };
        self.next_line += 1;
        self.lines.insert(lane, line);
        line
    }
}

/// AttributionEventKind the drawables of a category show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// Files.
    File,
    /// AttributionEventKind else is known of calls that access data.
    Access,
    /// Operations.
    Operation,
    /// Edges.
    Edge(Relation),
}

/// AttributionEventKind the drawables of this category show, if it is one of those that are made here.
pub fn shows(category: &Category) -> Option<Shows> {
    Some(match categories::recognise(category)? {
        categories::DrawableMeaning::File => Shows::File,
        categories::DrawableMeaning::Access => Shows::Access,
        categories::DrawableMeaning::Operation(..) => Shows::Operation,
        categories::DrawableMeaning::Edge(_, relation) => Shows::Edge(relation),
    })
}

/// Whether arrows of this category are messages between ranks. All are, but for the arrows that follow an MPI-IO call down to its
/// operations and up to the data that they carry, and those that `mpitrace arrows` draws from a call to what has its CallID.
pub fn is_message(category: &Category) -> bool {
    let follows_a_call = || {
        let mut keys = category.info_keys.iter();
        category.name.to_str().starts_with("triggers ")
            && keys.next().is_some_and(|key| key.0 == b"CallID=")
    };
    shows(category).is_none() && !follows_a_call()
}
