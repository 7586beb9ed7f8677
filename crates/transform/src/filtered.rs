//! A source without what is not selected.

use std::cell::Cell;

use super::file_names::FileNames;
use super::select::{Judge, Selection};
use trace_model::{Definitions, Drawable, DrawableOrder, Losses, Source, Stop};

/// The selected part of a trace of any format.
pub struct Filtered<'s> {
    source: &'s dyn Source,
    selection: &'s Selection,
    judge: Judge<'s>,
    definitions: Definitions,
    counts: Cell<(u64, u64)>,
}

impl<'s> Filtered<'s> {
    /// The part of `source` that is selected.
    pub fn new(source: &'s dyn Source, selection: &'s Selection) -> Self {
        let mut definitions = source.definitions().clone();
        if !selection.invert {
            definitions.lines.retain(|line| selection.admits_line(line));
        }
        Filtered {
            source,
            selection,
            judge: Judge::new(selection, source.definitions()),
            definitions,
            counts: Cell::default(),
        }
    }

    /// Numbers of drawables kept and removed, complete after all have been read.
    pub fn counts(&self) -> (u64, u64) {
        self.counts.get()
    }
}

impl Source for Filtered<'_> {
    fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    fn order(&self) -> DrawableOrder {
        FileNames::new(self.selection, self.source.definitions()).order(self.source.order())
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let (mut kept, mut removed) = (0, 0);
        let mut names = FileNames::new(self.selection, self.source.definitions());
        let losses = self.source.for_each(&mut |drawable| {
            if self.judge.admits(drawable) {
                let times = drawable.vertices.iter().map(|vertex| vertex.time);
                for name in names.keeps(times.fold(f64::NEG_INFINITY, f64::max)) {
                    (kept, removed) = (kept + 1, removed - 1);
                    put(&name.drawable())?;
                }
                kept += 1;
                return put(drawable);
            }
            let vertices = drawable.vertices.iter().copied();
            match names.take(drawable.category, drawable.info, vertices) {
                Some(name) => {
                    kept += 1;
                    put(&name.drawable())
                }
                None => {
                    removed += 1;
                    Ok(())
                }
            }
        })?;
        self.counts.set((kept, removed));
        Ok(losses)
    }
}
