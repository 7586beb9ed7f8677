//! A CLOG2 file as a source of drawables: what the converter to SLOG2 makes of its records, in order of their ends.
//!
//! Files of single ranks are taken as the merge would take them: communicators by their numbers in the file's own table,
//! times on root's clock as far as its TIMESHIFT records tell.

use std::collections::BTreeSet;

use super::bytes::Endian;
use super::error::Clog2Error;
use super::merging::Merging;
use super::read::Clog2Reader;
use super::record::Clog2Body;
use crate::slog2::Drawing;
use trace_model::{Definitions, Drawable, DrawableOrder, Line, Losses, Stop};

/// A CLOG2 file that can be read as drawables.
#[derive(Debug)]
pub struct Clog2Source<'a> {
    reader: Clog2Reader<'a>,
    definitions: Definitions,
    order: DrawableOrder,
}

impl<'a> Clog2Source<'a> {
    /// Reads all records once, for the definitions and to see whether drawables come in order.
    ///
    /// # Errors
    /// The file is damaged, wherever. [`mod@super::repair`] makes a sound file of what is left.
    pub fn new(file: &'a [u8]) -> Result<Self, Clog2Error> {
        Clog2Source::of(Clog2Reader::new(file)?)
    }

    /// Source of a file that is open.
    ///
    /// # Errors
    /// As [`Clog2Source::new`].
    pub fn of(reader: Clog2Reader<'a>) -> Result<Self, Clog2Error> {
        let mut lines = BTreeSet::new();
        let mut last_line = None;
        let mut before = (f64::NEG_INFINITY, f64::INFINITY);
        let mut ordered = true;
        let drawing = draw(&reader, &mut |drawable: &Drawable<'_>| {
            let (mut start, mut end) = (f64::INFINITY, f64::NEG_INFINITY);
            for vertex in drawable.vertices {
                start = start.min(vertex.time);
                end = end.max(vertex.time);
                // Neighbours are mostly on one line.
                if last_line != Some(vertex.line) {
                    last_line = Some(vertex.line);
                    lines.insert(vertex.line);
                }
            }
            // NaN is out of order.
            ordered &= end > before.0 || end == before.0 && start <= before.1;
            before = (end, start);
            Ok::<(), Clog2Error>(())
        })?;
        let place = |id| {
            let place = drawing.place(id);
            Line {
                id,
                rank: place.world_rank,
                thread: place.thread,
                comm: place.comm,
                comm_rank: place.rank,
                ..Line::default()
            }
        };
        let lines = lines.into_iter().map(place).collect();
        let (categories, etypes) = drawing.into_categories();
        Ok(Clog2Source {
            reader,
            definitions: Definitions {
                program: String::new(),
                categories,
                lines,
                etypes,
            },
            order: if ordered {
                DrawableOrder::End
            } else {
                DrawableOrder::Any
            },
        })
    }

    /// The file.
    pub fn reader(&self) -> &Clog2Reader<'a> {
        &self.reader
    }
}

impl trace_model::Source for Clog2Source<'_> {
    fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    fn order(&self) -> DrawableOrder {
        self.order
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let drawing = draw(&self.reader, &mut |drawable: &Drawable<'_>| {
            put(drawable).map_err(Halt::Put)
        });
        match drawing {
            Ok(drawing) => Ok(drawing.losses()),
            Err(Halt::Put(stop)) => Err(stop),
            Err(Halt::File(error)) => Err(error.into()),
        }
    }
}

/// Reason to end a pass over the file early.
enum Halt {
    File(Clog2Error),
    Put(Stop),
}

impl From<Clog2Error> for Halt {
    fn from(error: Clog2Error) -> Self {
        Halt::File(error)
    }
}

/// Gives all drawables of a file to `put`.
fn draw<E: From<Clog2Error>>(
    reader: &Clog2Reader<'_>,
    put: &mut impl FnMut(&Drawable<'_>) -> Result<(), E>,
) -> Result<Drawing, E> {
    let preamble = reader.preamble();
    let mut drawing = Drawing::new(preamble, false);
    if preamble.endian == Endian::Big && preamble.is_finalized {
        for encoded in reader.encoded_records() {
            drawing.push_encoded(encoded?, &mut |drawable, _| put(drawable))?;
        }
        return Ok(drawing);
    }
    let table = match reader.comm_table() {
        Ok(table) => table,
        Err(_) => reader.comm_table_of_records(),
    };
    let mut merging = Merging::new(preamble, Some(&table));
    for record in reader.raw_records() {
        let (_, record) = record?;
        let record = merging.apply(record);
        if !matches!(record.body, Clog2Body::EndBlock | Clog2Body::EndLog) {
            drawing.push(&record, &mut |drawable, _| put(drawable))?;
        }
    }
    Ok(drawing)
}
