//! Ranks that did not come to MPI_Finalize, as the recorder marks them in the trace of a run that was killed.

use crate::stats::polls;
use std::collections::BTreeSet;
use trace_formats::clog2::states::NO_FINALIZE;
use trace_model::hash::Map;
use trace_model::{Category, InfoValue, info_values};

/// Finds such ranks.
#[derive(Clone, Debug, Default)]
pub(super) struct UnendedRanks {
    /// Places of the categories that have the mark, and whether it is in the info.
    marks: Vec<(u32, bool)>,
    /// Ranks of lines, if there can be marks.
    of_lines: Map<i32, i32>,
    found: BTreeSet<i32>,
}

impl UnendedRanks {
    /// None so far, of a trace with these categories, and lines of ranks: number of the line, and rank.
    pub(super) fn new(
        categories: &[&Category],
        lines: impl Iterator<Item = (i32, i32)>,
    ) -> UnendedRanks {
        let marks = (0..).zip(categories).filter_map(|(place, category)| {
            let is_named = is_mark(category);
            (is_named || polls::is_annotation(category)).then_some((place, !is_named))
        });
        let marks: Vec<(u32, bool)> = marks.collect();
        UnendedRanks {
            of_lines: lines.filter(|_| !marks.is_empty()).collect(),
            marks,
            found: BTreeSet::new(),
        }
    }

    /// Whether drawables of a category may be marks.
    pub(super) fn may_mark(&self, category: u32) -> bool {
        self.marks.iter().any(|(place, _)| *place == category)
    }

    /// Takes a drawable of a category that may be a mark. `place` is the place of the category.
    pub(super) fn take(&mut self, (place, category): (u32, &Category), line: i32, info: &[u8]) {
        let Some((_, is_in_info)) = self.marks.iter().find(|(mark, _)| *mark == place) else {
            return;
        };
        let tells = |value| match value {
            InfoValue::Text(text) => text == NO_FINALIZE.as_bytes(),
            _ => false,
        };
        if !is_in_info || info_values(category, info).any(|(_, value)| tells(value)) {
            self.found.extend(self.of_lines.get(&line));
        }
    }

    /// The ranks, in order.
    pub(super) fn ranks(&self) -> Vec<i32> {
        self.found.iter().copied().collect()
    }
}

/// Whether all drawables of a category are marks, as those of DUMPI are.
pub(super) fn is_mark(category: &Category) -> bool {
    category.name.0 == NO_FINALIZE.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace_model::{Color, InfoWriter, Topology};

    #[test]
    fn marks_are_texts_of_annotations_or_names_of_categories() {
        let category = |name: &str, topology| Category::new(0, name.into(), topology, Color::WHITE);
        let mut annotation = category("annotation", Topology::Event);
        annotation.set_info_format(b"%s");
        let named = category(NO_FINALIZE, Topology::State);
        let call = category("MPI_Send", Topology::State);
        let categories = [&annotation, &call, &named];
        let lines = (0..4).map(|line| (10 + line, line));
        let mut unended = UnendedRanks::new(&categories, lines);
        let may: Vec<bool> = (0..3).map(|place| unended.may_mark(place)).collect();
        assert_eq!(may, [true, false, true]);
        let mut info = InfoWriter::default();
        for (line, text) in [
            (11, NO_FINALIZE),
            (12, "unfinished MPI_Send"),
            (99, NO_FINALIZE),
        ] {
            let info = info.clear().text(text.as_bytes());
            unended.take((0, &annotation), line, info.bytes());
        }
        unended.take((1, &call), 12, b"");
        unended.take((2, &named), 10, b"");
        assert_eq!(unended.ranks(), [0, 1]);
    }
}
