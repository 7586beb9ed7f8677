//! The block files of a run as a source of drawables: those that its CLOG2 file would give.

use std::collections::{BTreeMap, BTreeSet};

use super::merge::{Error, Merge, Options};
use crate::model::{self, Definitions, Drawable, Line, Losses, Order, Stop};
use crate::slog2::Drawing;
use records::file::File;
use wrappers::Table;

/// The block files of a run, ready to be drawn.
#[derive(Debug)]
pub struct Source<'a> {
    files: Vec<File<'a>>,
    table: Table,
    options: Options,
    definitions: Definitions,
}

impl<'a> Source<'a> {
    /// Of the files of one run. They are read twice, once for the definitions.
    ///
    /// # Errors
    /// If the files do not belong together, or were made with another table of functions than `table`.
    pub fn new(files: Vec<File<'a>>, table: Table, options: Options) -> Result<Self, Error> {
        let mut source = Source {
            files,
            table,
            options,
            definitions: Definitions::default(),
        };
        let merge = source.merge()?;
        let mut hosts: BTreeMap<i32, String> = BTreeMap::new();
        let mut program = String::new();
        for scan in merge.scans() {
            let process = scan.library.process();
            if program.is_empty() {
                program = process.program.clone();
            }
            if !process.host.is_empty() {
                hosts.insert(scan.info.rank, process.host.clone());
            }
        }
        let mut lines = BTreeSet::new();
        let (drawing, _) = draw(&merge, &mut |drawable: &Drawable<'_>| {
            lines.extend(drawable.vertices.iter().map(|vertex| vertex.line));
            Ok::<(), std::convert::Infallible>(())
        })
        .unwrap_or_else(|never| match never {});
        drop(merge);
        let place = |id| {
            let place = drawing.place(id);
            Line {
                id,
                rank: place.world_rank,
                thread: place.thread,
                comm: place.comm,
                comm_rank: place.rank,
                host: hosts.get(&place.world_rank).cloned(),
                name: None,
            }
        };
        let lines = lines.into_iter().map(place).collect();
        let (categories, etypes) = drawing.into_categories();
        source.definitions = Definitions {
            program,
            categories,
            lines,
            etypes,
        };
        Ok(source)
    }

    fn merge(&self) -> Result<Merge<'_, 'a, '_>, Error> {
        Merge::new(&self.files, &self.table, self.options)
    }
}

impl model::Source for Source<'_> {
    fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    fn order(&self) -> Order {
        // Several threads and clocks that were set back may leave it by a little.
        Order::Any
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let merge = self.merge()?;
        let (drawing, mut losses) = draw(&merge, &mut |drawable: &Drawable<'_>| put(drawable))?;
        losses.merge(&drawing.losses());
        let lost = merge.scans().map(|scan| scan.lost).sum();
        losses.add("call that the recorder could not keep", lost);
        Ok(losses)
    }
}

fn draw<E>(
    merge: &Merge<'_, '_, '_>,
    put: &mut impl FnMut(&Drawable<'_>) -> Result<(), E>,
) -> Result<(Drawing, Losses), E> {
    let mut drawing = Drawing::new(&merge.preamble(), false);
    let notes = merge
        .run(|record| drawing.push(record, &mut |drawable: &Drawable<'_>, _| put(drawable)))?;
    let mut losses = Losses::default();
    let what = "communicator drawn on MPI_COMM_WORLD, having too many members or lines";
    losses.add(what, notes.folded_comms);
    losses.add(
        "message whose communicator or partner is not known",
        notes.unknown_messages,
    );
    losses.add(
        "call whose function is not known or that is damaged",
        notes.unknown_calls,
    );
    Ok((drawing, losses))
}
