//! Attribution records as drawables, and drawables as attribution records.
//!
//! * An **operation** is a state of a category named after its kind, on the line of its thread, nested in the state of the MPI
//!   call. Operations that overlap lie on sub-lines. Operations without a known call have a category of their own, without CallID.
//! * An **edge** is an arrow from the start of the call to the start of the operation: `triggers NAME` or `carries NAME`.
//! * A **call** that accesses data is an event `I/O access` at its start, with what the state of the call has no room for: file,
//!   sequence, bytes and their position in the file, completion.
//! * A **file** is an event `file` at the first drawable that names it, and again when MPI opens what the program had used by itself, or when it is
//!   made after somebody has looked for it.
//!
//! The info holds the whole record, so [`read_attribution`] reads from a trace what was drawn. Categories and lines are made when
//! they are first needed; their numbers follow those of the trace.

mod base;
mod categories;
mod info;
mod place;
mod read_back;
mod renumber;

use std::collections::BTreeMap;

use super::record::{
    AttributedOperation, AttributionEdge, AttributionRecord, DataAccessCall, FileRole, Lane,
    OpenedFile, PicturePoint, Relation,
};
use trace_model::{Category, Drawable, InfoWriter, Line, Stop, Vertex};

pub use base::DrawingBase;
pub use categories::COUNT as CATEGORIES;
pub use read_back::{read_attribution, read_attribution_by_time, time_to_completion};
pub use renumber::{DrawnCategories, DrawnNumbers, NumberShift};

/// Makes drawables of attribution records. Keeps neither calls nor operations in memory.
#[derive(Debug)]
pub struct OperationDrawer {
    base: DrawingBase,
    /// Categories of what was drawn, by offset of their number.
    categories: BTreeMap<i32, Category>,
    /// Lines beyond those of the ranks' threads.
    lines: BTreeMap<Lane, i32>,
    next_line: i64,
    /// Files that nothing drawn has named so far.
    files: BTreeMap<u32, OpenedFile>,
    /// Role, device and inode of the files that were drawn. A file is drawn again when MPI opens what the program had used by itself before, and when
    /// it comes into being after somebody has looked for it.
    drawn_files: BTreeMap<u32, (FileRole, u64, u64)>,
    info: InfoWriter,
}

impl OperationDrawer {
    /// A drawer that adds to a trace with the numbers and lines of `base`.
    pub fn new(base: DrawingBase) -> Self {
        OperationDrawer {
            base,
            categories: BTreeMap::new(),
            lines: BTreeMap::new(),
            next_line: i64::from(base.first_line),
            files: BTreeMap::new(),
            drawn_files: BTreeMap::new(),
            info: InfoWriter::default(),
        }
    }

    /// Draws an attribution record.
    ///
    /// # Errors
    /// The errors of `put`.
    pub fn draw(
        &mut self,
        record: &AttributionRecord,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        match record {
            AttributionRecord::File(file) => {
                if self.drawn_files.get(&file.id) != Some(&(file.role, file.device, file.inode)) {
                    self.files.insert(file.id, file.clone());
                }
                Ok(())
            }
            AttributionRecord::Call(call) => self.call(call, put),
            AttributionRecord::Operation(operation) => self.operation(operation, put),
            AttributionRecord::Edge(edge) => self.edge(edge, put),
        }
    }

    /// Draws the files that no other record has named, at time zero.
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

    /// Categories of what was drawn so far, by ascending number.
    pub fn categories(&self) -> Vec<Category> {
        self.categories.values().cloned().collect()
    }

    /// Lines of what was drawn so far, without those of the ranks' threads, by ascending number.
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

    /// Something names a file: if it is the first since the file got its role, the file is drawn there.
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
        let identity = (file.role, file.device, file.inode);
        self.drawn_files.insert(file.id, identity);
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
        // When line numbers have run out, overlapping drawables are drawn over each other.
        let Ok(line) = i32::try_from(self.next_line) else {
            return place::own_line(&self.base, Lane { lane: 0, ..lane }).unwrap_or(0);
        };
        self.next_line += 1;
        self.lines.insert(lane, line);
        line
    }
}

/// Kind of attribution record that the drawables of a category show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// Files.
    File,
    /// Data accesses (`I/O access`).
    Access,
    /// Operations of the kind with this number ([`blockfile::operation::KINDS`]).
    Operation(u16),
    /// Edges.
    Edge(Relation),
}

/// Kind of attribution record that the drawables of `category` show; `None` if this module does not make such a category.
pub fn shows(category: &Category) -> Option<Shows> {
    Some(match categories::recognise(category)? {
        categories::DrawableMeaning::File => Shows::File,
        categories::DrawableMeaning::Access => Shows::Access,
        categories::DrawableMeaning::Operation(kind, _) => Shows::Operation(kind),
        categories::DrawableMeaning::Edge(_, relation) => Shows::Edge(relation),
    })
}

/// True if arrows of this category are messages between ranks. Two kinds of arrows are not: the edges that this module draws from an
/// MPI-IO call to its operations, and those that `mpitrace arrows` draws from a call to the drawables with its CallID. In SLOG-1 their names
/// end in a direction.
pub fn is_message(category: &Category) -> bool {
    let follows_a_call = || {
        let name = category.name.to_str();
        let is_named = name.starts_with("triggers ") || name.starts_with("carries ");
        let mut keys = category.info_keys.iter();
        is_named && keys.next().is_some_and(|key| key.0.starts_with(b"CallID="))
    };
    shows(category).is_none() && !follows_a_call()
}
