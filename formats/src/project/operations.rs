//! What is drawn beside the calls: operations below MPI and their edges, found by the join, sorted for the tree of an SLOG2 file.

use std::io;
use std::path::Path;

use crate::io::draw::Base;
use crate::io::{Drawer, Fact};
use crate::model::{Category, Line, Order, Sorted, Sorter, Stop};

/// Takes facts and sorts what is drawn of them, in bounded memory.
#[derive(Debug)]
pub struct Operations {
    drawer: Drawer,
    sorter: Sorter,
}

/// What was drawn.
#[derive(Debug)]
pub struct Drawn {
    /// The categories used.
    pub categories: Vec<Category>,
    /// The lines used, beyond those of the ranks' threads.
    pub lines: Vec<Line>,
    /// The drawables, by increasing end time.
    pub drawables: Sorted,
}

impl Operations {
    /// Temporary files go to `folder`.
    pub fn new(base: Base, folder: &Path) -> Self {
        Operations {
            drawer: Drawer::new(base),
            sorter: Sorter::in_folder(Order::End, folder),
        }
    }

    /// Draws a fact.
    ///
    /// # Errors
    /// When a temporary file could not be written.
    pub fn take(&mut self, fact: &Fact) -> Result<(), Stop> {
        let sorter = &mut self.sorter;
        self.drawer
            .draw(fact, &mut |drawable| Ok(sorter.push(drawable)?))
    }

    /// There are no more facts.
    ///
    /// # Errors
    /// When a temporary file could not be written or read.
    pub fn finish(mut self) -> Result<Drawn, Stop> {
        let sorter = &mut self.sorter;
        self.drawer
            .finish(&mut |drawable| Ok(sorter.push(drawable)?))?;
        Ok(Drawn {
            categories: self.drawer.categories(),
            lines: self.drawer.lines(),
            drawables: self.sorter.sorted()?,
        })
    }
}

impl Drawn {
    /// Gives the drawables that end at `time` or before.
    ///
    /// # Errors
    /// Those of `put`, and of the temporary files.
    pub(super) fn until<E>(
        &mut self,
        time: f64,
        mut put: impl FnMut(&crate::model::Drawable<'_>) -> Result<(), E>,
    ) -> io::Result<Result<(), E>> {
        while self.drawables.peek().is_some_and(|next| next <= time) {
            let Some(drawable) = self.drawables.next()? else {
                break;
            };
            if let Err(error) = put(&drawable) {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }
}
