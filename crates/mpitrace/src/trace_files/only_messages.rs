//! Traces without the arrows from an MPI-IO call to the operations below it, for formats in which every arrow is a message.

use io_attribution::draw::is_message;
use std::collections::HashSet;
use trace_model::{Definitions, Drawable, DrawableOrder, Losses, Source, Stop, Topology};

/// A source whose arrows are messages. The others are counted as lost.
pub(super) struct OnlyMessages<'a> {
    source: &'a dyn Source,
    definitions: Definitions,
    /// Categories of arrows that are no messages.
    others: HashSet<i32>,
}

impl<'a> OnlyMessages<'a> {
    pub(super) fn of(source: &'a dyn Source) -> OnlyMessages<'a> {
        let mut definitions = source.definitions().clone();
        let mut others = HashSet::new();
        definitions.categories.retain(|category| {
            let is_other = category.topology == Topology::Arrow && !is_message(category);
            !(is_other && others.insert(category.index))
        });
        OnlyMessages {
            source,
            definitions,
            others,
        }
    }
}

impl Source for OnlyMessages<'_> {
    fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    fn order(&self) -> DrawableOrder {
        self.source.order()
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let mut left_out = 0;
        let mut losses = self.source.for_each(&mut |drawable| {
            if drawable.topology == Topology::Arrow && self.others.contains(&drawable.category) {
                left_out += 1;
                return Ok(());
            }
            put(drawable)
        })?;
        losses.add("arrow that is no message", left_out);
        Ok(losses)
    }
}
