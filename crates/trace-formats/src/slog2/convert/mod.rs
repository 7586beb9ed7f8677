//! CLOG2 to SLOG2: records to drawables, in one pass over the records in file order (`spec/slog2.md` section 7).
//!
//! [`FromClog2`] takes the records one at a time, so that the recorder can feed it the stream it writes to a CLOG2 file;
//! [`convert`] feeds it a whole file.

mod categories;
mod counted;
mod drawing;
mod foreign;
mod lines;
mod matching;
mod warnings;

use std::io::{Seek, Write};

pub use warnings::{Warning, Warnings};

pub(super) use categories::{Binding, EventRole};
pub use drawing::{Drawing, WholeState};
pub use foreign::ForeignCategories;
pub(super) use lines::LineNumbering;
pub use matching::{LogArrow, MessageEndpoint};
pub(super) use matching::{Meeting, RecordMatching};

use super::error::Slog2Error;
use super::tree_builder::{TreeBuilder, TreeOptions, WrittenTree};
use super::types::{LineIdMap, Slog2Header};
use crate::clog2::{
    self, Clog2Record, Endian, HEADER_SIZE, PREAMBLE_SIZE, Preamble, peek_rectype, peek_size,
    rectype,
};
use trace_model::Category;
use trace_model::Drawable as NewDrawable;
use trace_model::Line;

/// Options of a conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConvertOptions {
    /// The shape of the tree.
    pub tree: TreeOptions,
    /// Whether to warn of drawables that are not in order of increasing end time.
    pub check_end_times: bool,
}

/// Result of a conversion.
#[derive(Clone, Debug, PartialEq)]
pub struct Slog2Conversion {
    /// The header of the file.
    pub header: Slog2Header,
    /// Number of drawables.
    pub drawables: u64,
    /// Number of unmatched events, as the original counts them (`spec/slog2.md` section 7.7): a state described n times
    /// counts n times, a never described one not at all.
    pub unmatched_events: u64,
    /// Bytes of all records taken, ENDBLOCK and ENDLOG included.
    pub record_bytes: u64,
    /// Counts of what was skipped.
    pub warnings: Warnings,
}

/// Error of a conversion.
#[derive(Debug)]
pub enum ConvertError {
    /// The input is damaged.
    Clog2(clog2::Clog2Error),
    /// The input is a local file of one rank: its bytes are little-endian and its times not yet shifted. Only merged
    /// files can be converted.
    LittleEndian,
    /// The output could not be made.
    Slog2(Slog2Error),
}

impl std::fmt::Display for ConvertError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ConvertError::Clog2(error) => error.fmt(f),
            ConvertError::LittleEndian => {
                write!(
                    f,
                    "the CLOG2 file is little-endian: a local file of one rank, to be merged first"
                )
            }
            ConvertError::Slog2(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ConvertError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ConvertError::Clog2(error) => Some(error),
            ConvertError::LittleEndian => None,
            ConvertError::Slog2(error) => Some(error),
        }
    }
}

impl From<clog2::Clog2Error> for ConvertError {
    fn from(error: clog2::Clog2Error) -> Self {
        ConvertError::Clog2(error)
    }
}

impl From<Slog2Error> for ConvertError {
    fn from(error: Slog2Error) -> Self {
        ConvertError::Slog2(error)
    }
}

/// Converts a merged CLOG2 file, given all its bytes, and gives the output back. Another thread writes it where there are processors for that.
pub fn convert<W: Write + Seek + Send + 'static>(
    clog2: &[u8],
    out: W,
    options: ConvertOptions,
) -> Result<(W, Slog2Conversion), ConvertError> {
    convert_with_progress(clog2, out, options, |_| ())
}

/// Converts a merged CLOG2 file as [`convert()`] does, calling `progress` with the number of bytes of the CLOG2 file that are done, after every block.
pub fn convert_with_progress<W: Write + Seek + Send + 'static>(
    clog2: &[u8],
    out: W,
    options: ConvertOptions,
    progress: impl FnMut(u64),
) -> Result<(W, Slog2Conversion), ConvertError> {
    let reader = clog2::Clog2Reader::new(clog2)?;
    if reader.preamble().endian == Endian::Little {
        return Err(ConvertError::LittleEndian);
    }
    let mut converter = FromClog2::new(out, reader.preamble(), options)?.on_thread();
    let mut push = |_, record: &[u8]| converter.push_encoded(record);
    if !for_each_record(clog2, reader.preamble(), &mut push, progress)? {
        // The reader knows best what is wrong, and where.
        for record in reader.raw_records() {
            record?;
        }
    }
    Ok(converter.finish()?)
}

/// Gives all records of a big-endian file, as they stand in its blocks, with their offsets. False if they do not end with
/// ENDLOG.
pub(super) fn for_each_record(
    clog2: &[u8],
    preamble: &Preamble,
    push: &mut impl FnMut(usize, &[u8]) -> Result<(), ConvertError>,
    mut progress: impl FnMut(u64),
) -> Result<bool, ConvertError> {
    let end = match usize::try_from(preamble.comm_table_offset) {
        Ok(offset) if offset >= PREAMBLE_SIZE && offset <= clog2.len() => offset,
        _ => clog2.len(),
    };
    let blocks = clog2.get(PREAMBLE_SIZE..end).unwrap_or_default();
    let mut done = PREAMBLE_SIZE;
    for block in blocks.chunks((preamble.block_size as usize).max(HEADER_SIZE)) {
        let mut at = 0;
        loop {
            let rest = &block[at..];
            let size = peek_size(rest);
            if size == 0 {
                return Ok(false);
            }
            push(done + at, &rest[..size])?;
            match peek_rectype(rest) {
                rectype::ENDLOG => return Ok(true),
                rectype::ENDBLOCK => break,
                _ => at += size,
            }
        }
        done += block.len();
        progress(done as u64);
    }
    Ok(false)
}

/// Puts the drawables of a conversion into the tree.
pub trait DrawIntoTree<W> {
    /// Adds a drawable; `born` is the number of drawables that were complete when the first of its records was met.
    fn draw(
        &mut self,
        builder: &mut TreeBuilder<W>,
        drawable: &NewDrawable<'_>,
        born: u64,
    ) -> Result<(), Slog2Error>;

    /// Completes the tree.
    fn close(&mut self, builder: TreeBuilder<W>) -> Result<WrittenTree<W>, Slog2Error>;
}

/// Puts them where they belong, and does nothing else.
#[derive(Clone, Copy, Debug, Default)]
pub struct TreeOnly;

impl<W: Write + Seek> DrawIntoTree<W> for TreeOnly {
    #[inline]
    fn draw(
        &mut self,
        builder: &mut TreeBuilder<W>,
        drawable: &NewDrawable<'_>,
        _: u64,
    ) -> Result<(), Slog2Error> {
        builder.add(drawable)
    }

    fn close(&mut self, builder: TreeBuilder<W>) -> Result<WrittenTree<W>, Slog2Error> {
        builder.close()
    }
}

/// Takes the records of a merged log and makes an SLOG2 file of them.
#[derive(Debug)]
pub struct FromClog2<W, D = TreeOnly> {
    builder: TreeBuilder<W>,
    draw: D,
    drawing: Drawing,
    views: Vec<LineIdMap>,
    others: ForeignCategories,
}

impl<W: Write + Seek> FromClog2<W> {
    /// Starts a file at the beginning of `out`, which should be empty. World size, thread count and the ranges of event
    /// numbers of the preamble must be final.
    pub fn new(out: W, preamble: &Preamble, options: ConvertOptions) -> Result<Self, Slog2Error> {
        FromClog2::drawing(TreeOnly, out, preamble, options)
    }

    /// Draws a state that is known as a whole, and not by two records.
    ///
    /// # Errors
    /// Of the output only; what is odd becomes a [`Warning`].
    #[inline]
    pub fn state(&mut self, state: &WholeState<'_>) -> Result<(), Slog2Error> {
        if let Some(known) = self.drawing.known_state(state) {
            return self.builder.add_state(&known);
        }
        let builder = &mut self.builder;
        let mut put = |drawable: &NewDrawable<'_>, _| builder.add(drawable);
        self.drawing.state(state, &mut put)
    }
}

impl<W: Write + Seek + Send + 'static, D> FromClog2<W, D> {
    /// From now on another thread writes what is drawn ([`TreeBuilder::on_thread`]).
    #[must_use]
    pub fn on_thread(self) -> Self {
        FromClog2 {
            builder: self.builder.on_thread(),
            ..self
        }
    }
}

impl<W: Write + Seek, D: DrawIntoTree<W>> FromClog2<W, D> {
    /// A conversion that has `draw` put drawables into the tree.
    pub(super) fn drawing(
        draw: D,
        out: W,
        preamble: &Preamble,
        options: ConvertOptions,
    ) -> Result<Self, Slog2Error> {
        Ok(FromClog2 {
            builder: TreeBuilder::new(out, options.tree)?,
            draw,
            drawing: Drawing::new(preamble, options.check_end_times),
            views: Vec::new(),
            others: ForeignCategories::default(),
        })
    }

    /// Takes `count` numbers that no category of the log gets then, for those of other drawables; gives the first.
    pub fn reserve_categories(&mut self, count: i32) -> i32 {
        self.drawing.reserve_categories(count)
    }

    /// Defines a kind of states. `whole_name` is its name, where the definition may have only the beginning.
    pub fn define_state(
        &mut self,
        def: &clog2::Clog2StateDef,
        whole_name: Option<&str>,
        details: &str,
    ) {
        self.drawing.define_state(def, whole_name, details);
    }

    /// Defines a kind of events. `whole_name` is its name, where the definition may have only the beginning.
    pub fn define_event(&mut self, def: &clog2::Clog2EventDef, whole_name: Option<&str>) {
        self.drawing.define_event(def, whole_name);
    }

    /// Names of the performance counters whose values [`WholeState::counts`] has. Before the first state.
    pub fn name_counters(&mut self, names: &[String]) {
        self.drawing.name_counters(names);
    }

    /// Adds a drawable that is in no record. Those of both kinds should come by increasing end time.
    ///
    /// # Errors
    /// When the output could not be written.
    pub fn add(&mut self, drawable: &NewDrawable<'_>) -> Result<(), Slog2Error> {
        self.draw.draw(&mut self.builder, drawable, 0)
    }

    /// Declares what [`FromClog2::add`] used: categories, and lines beyond those of the log, by ascending id.
    pub fn describe(&mut self, categories: Vec<Category>, lines: Vec<Line>) {
        self.others = ForeignCategories { categories, lines };
    }

    /// What puts the drawables into the tree.
    pub(super) fn draw_mut(&mut self) -> &mut D {
        &mut self.draw
    }

    /// What event numbers came to mean, in the order in which that became known.
    pub(super) fn bindings(&self) -> &[Binding] {
        self.drawing.categories.bindings()
    }

    /// Adds a view behind the three of every converted log. Its lines without drawables are left out.
    pub fn add_line_map(&mut self, map: LineIdMap) {
        self.views.push(map);
    }

    /// Takes one end of a message: what [`FromClog2::push`] does with a record of it.
    ///
    /// # Errors
    /// When the output could not be written.
    #[inline]
    pub fn message(
        &mut self,
        header: &clog2::Clog2RecordHeader,
        message: &clog2::Clog2Msg,
        ahead: i32,
    ) -> Result<(), Slog2Error> {
        let (draw, builder) = (&mut self.draw, &mut self.builder);
        let mut put = |drawable: &NewDrawable<'_>, born| draw.draw(builder, drawable, born);
        self.drawing.message(header, (message, ahead), &mut put)
    }

    /// Takes the next record.
    ///
    /// # Errors
    /// Of the output only; what is odd in the records becomes a [`Warning`].
    #[inline]
    pub fn push(&mut self, record: &Clog2Record) -> Result<(), Slog2Error> {
        let (draw, builder) = (&mut self.draw, &mut self.builder);
        let mut put = |drawable: &NewDrawable<'_>, born| draw.draw(builder, drawable, born);
        self.drawing.push(record, &mut put)
    }

    /// Takes the next record, big-endian as in a merged file: what [`FromClog2::push`] does, without making a [`Clog2Record`]
    /// of the most frequent ones.
    ///
    /// # Errors
    /// Also [`ConvertError::Clog2`] if `bytes` is no record; its offset counts from their start.
    #[inline]
    pub fn push_encoded(&mut self, bytes: &[u8]) -> Result<(), ConvertError> {
        let (draw, builder) = (&mut self.draw, &mut self.builder);
        let mut put = |drawable: &NewDrawable<'_>, born| Ok(draw.draw(builder, drawable, born)?);
        self.drawing.push_encoded(bytes, &mut put)
    }

    /// Writes the rest of the file.
    ///
    /// # Errors
    /// [`super::Slog2ErrorKind::NoDrawables`] if there was none; what is written by then is no SLOG2 file.
    pub fn finish(self) -> Result<(W, Slog2Conversion), Slog2Error> {
        self.finish_with(&[])
    }

    /// Ends the file as [`FromClog2::finish`] does, with annotations at the end, if there are any.
    pub(super) fn finish_with(
        mut self,
        annotations: &[u8],
    ) -> Result<(W, Slog2Conversion), Slog2Error> {
        let drawables = self.builder.count();
        let unmatched_events = self.drawing.categories.unmatched();
        let record_bytes = self.drawing.record_bytes;
        let tree = self.draw.close(self.builder)?;
        let (categories, mut views, warnings) = self.others.tables(self.drawing, tree.lines());
        views.extend(self.views.iter().map(|map| map.restricted(tree.lines())));
        let (out, header) = tree.finish_with(&categories, &views, annotations)?;
        let conversion = Slog2Conversion {
            header,
            drawables,
            unmatched_events,
            record_bytes,
            warnings,
        };
        Ok((out, conversion))
    }
}
