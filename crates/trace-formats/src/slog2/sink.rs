//! Makes an SLOG2 file of drawables from any source.

use std::io::{BufWriter, Seek, Write};
use std::path::Path;

use super::error::{Slog2Error, Slog2ErrorKind};
use super::tree_builder::{TreeBuilder, TreeOptions};
use super::types::Slog2Header;
use super::views;
use trace_model::PendingFile;
use trace_model::{Category, Ratios, Topology};
use trace_model::{Complete, Definitions, Drawable, DrawableOrder, Line, Losses, Stop};

/// An SLOG2 file in the making. Wants drawables by end time, as the original's tree builder does.
pub struct Slog2Sink<W> {
    builder: TreeBuilder<W>,
    categories: Vec<Category>,
    lines: Vec<Line>,
    losses: Losses,
    complete: Complete<W>,
}

impl Slog2Sink<BufWriter<PendingFile>> {
    /// Starts the file at `path`, which gets its name when it is complete. Another thread writes it ([`TreeBuilder::on_thread`]).
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(
        path: impl AsRef<Path>,
        definitions: &Definitions,
        options: TreeOptions,
    ) -> Result<Self, Slog2Error> {
        let path = path.as_ref();
        let (out, complete) = PendingFile::create_for_sink(path)?;
        let sink = Slog2Sink::new(out, definitions, options, complete)
            .map_err(|error| error.in_file(path))?;
        Ok(Slog2Sink {
            builder: sink.builder.on_thread(),
            ..sink
        })
    }
}

impl<W: Write + Seek> Slog2Sink<W> {
    /// Starts a file at the beginning of `out`. `complete` gets it when everything is written.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(
        out: W,
        definitions: &Definitions,
        options: TreeOptions,
        complete: impl FnOnce(W) -> Result<(), Stop> + 'static,
    ) -> Result<Self, Slog2Error> {
        let previews = [Topology::Event, Topology::State, Topology::Arrow].map(Category::preview);
        // The ratios of the source are those of another file, whose drawables may have been filtered.
        let real = definitions.categories.iter().filter(|c| c.index >= 0);
        let real = real.map(|category| Category {
            summary: Ratios::default(),
            ..category.clone()
        });
        Ok(Slog2Sink {
            builder: TreeBuilder::new(out, options)?,
            categories: previews.into_iter().chain(real).collect(),
            lines: definitions.lines.clone(),
            losses: Losses::default(),
            complete: Box::new(complete),
        })
    }

    /// Number of drawables so far.
    pub fn count(&self) -> u64 {
        self.builder.count()
    }

    /// Takes the next drawable. One that the format cannot hold is counted and left out.
    ///
    /// # Errors
    /// When the file could not be written.
    pub fn add(&mut self, drawable: &Drawable<'_>) -> Result<(), Slog2Error> {
        match self.builder.add(drawable) {
            Err(error) => match error.kind {
                Slog2ErrorKind::VertexCount { .. } => {
                    self.losses
                        .add("drawable with other than 1 or 2 vertices", 1);
                    Ok(())
                }
                Slog2ErrorKind::TooLarge { .. } if drawable.info.len() > i16::MAX as usize => {
                    self.losses
                        .add("drawable with an info above 32767 bytes", 1);
                    Ok(())
                }
                _ => Err(error),
            },
            Ok(()) => Ok(()),
        }
    }

    /// Writes the rest of the file and completes it; gives its header and what it could not hold.
    ///
    /// # Errors
    /// When it could not be written, and [`Slog2ErrorKind::NoDrawables`] if there was none.
    pub fn close(self) -> Result<(Slog2Header, Losses), Stop> {
        let mut losses = self.losses;
        let tree = self.builder.close()?;
        let mut used = Vec::with_capacity(tree.lines().len());
        let mut undefined = Vec::new();
        for &id in tree.lines() {
            match self.lines.binary_search_by_key(&id, |line| line.id) {
                Ok(at) => used.push(self.lines[at].clone()),
                Err(_) => {
                    undefined.push(id);
                    used.push(views::unnamed(id));
                }
            }
        }
        let named: Vec<&Line> = used
            .iter()
            .filter(|l| undefined.binary_search(&l.id).is_err())
            .collect();
        let [names, hosts] = views::unnamed_in_views(&named);
        losses.add("name of a line", names);
        losses.add("name of a host beyond the first eight", hosts);
        losses.add(
            "line that nothing defines, named by its number",
            undefined.len() as u64,
        );
        let maps = views::views(&used.iter().collect::<Vec<_>>());
        let (mut out, header) = tree.finish(&self.categories, &maps)?;
        out.flush().map_err(|error| Slog2Error::io(0, error))?;
        (self.complete)(out)?;
        Ok((header, losses))
    }
}

impl<W: Write + Seek> trace_model::Sink for Slog2Sink<W> {
    fn order(&self) -> DrawableOrder {
        DrawableOrder::End
    }

    fn put(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        Ok(self.add(drawable)?)
    }

    fn finish(self: Box<Self>) -> Result<Losses, Stop> {
        self.close().map(|(_, losses)| losses)
    }
}
