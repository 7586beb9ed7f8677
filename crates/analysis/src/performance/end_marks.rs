//! What the recorder says of a rank at its end: that it did not come to MPI_Finalize, in which calls its threads were then, and how many of its messages
//! are not drawn; and whether the rank called MPI_Abort.

use std::collections::{BTreeMap, BTreeSet};
use trace_formats::clog2::annotations::{
    NO_FINALIZE, annotation_text, is_annotation, not_matched_of, unfinished_of,
};
use trace_model::Category;
use trace_model::hash::Map;

/// Collects it.
#[derive(Clone, Debug, Default)]
pub(super) struct EndMarks {
    /// Places of the categories that have the mark, and whether it is in the info.
    marks: Vec<(u32, bool)>,
    /// Ranks of lines, if there can be marks.
    of_lines: Map<i32, i32>,
    not_finalized: BTreeSet<i32>,
    /// By function the ranks that were in it.
    unfinished: BTreeMap<String, BTreeSet<i32>>,
    /// Lines on which calls had not returned, with the bits of the times when they began.
    open: BTreeSet<(i32, u64)>,
    /// Place of the category of MPI_Abort.
    abort: Option<u32>,
    aborted: BTreeSet<i32>,
    /// Ends of messages that are not drawn.
    pub unmatched: u64,
}

impl EndMarks {
    /// None so far, of a trace with these categories, and lines of ranks: number of the line, and rank.
    pub(super) fn new(
        categories: &[&Category],
        lines: impl Iterator<Item = (i32, i32)>,
    ) -> EndMarks {
        let marks = (0..).zip(categories).filter_map(|(place, category)| {
            let is_named = is_mark(category);
            (is_named || is_annotation(category)).then_some((place, !is_named))
        });
        let marks: Vec<(u32, bool)> = marks.collect();
        let is_abort = |category: &&Category| category.function_name() == "MPI_Abort";
        let abort = categories.iter().position(is_abort);
        EndMarks {
            abort: abort.and_then(|place| u32::try_from(place).ok()),
            of_lines: lines.filter(|_| !marks.is_empty()).collect(),
            marks,
            ..EndMarks::default()
        }
    }

    /// Whether drawables of a category may be marks.
    pub(super) fn may_mark(&self, category: u32) -> bool {
        self.marks.iter().any(|(place, _)| *place == category)
    }

    /// Takes a drawable of a category that may be a mark. `place` is the place of the category.
    pub(super) fn take(
        &mut self,
        (place, category): (u32, &Category),
        line: i32,
        time: f64,
        info: &[u8],
    ) {
        let Some((_, is_in_info)) = self.marks.iter().find(|(mark, _)| *mark == place) else {
            return;
        };
        let text = match is_in_info {
            false => Some(NO_FINALIZE.as_bytes()),
            true => annotation_text(category, info),
        };
        let text = text.unwrap_or_default();
        if text == NO_FINALIZE.as_bytes() {
            self.not_finalized.extend(self.of_lines.get(&line));
        } else if let Some(function) = unfinished_of(text) {
            let ranks = self.unfinished.entry(function.to_owned()).or_default();
            ranks.extend(self.of_lines.get(&line));
            self.open.insert((line, time.to_bits()));
        } else if let Some(messages) = not_matched_of(text) {
            self.unmatched = self.unmatched.saturating_add(messages);
        }
    }

    /// Takes a state of a rank. `place` is the place of its category.
    #[inline]
    pub(super) fn take_state(&mut self, place: u32, rank: i32) {
        if self.abort == Some(place) {
            self.aborted.insert(rank);
        }
    }

    /// Whether the call on this line that began at `time` had not returned when recording ended.
    #[inline]
    pub(super) fn is_open(&self, line: i32, time: f64) -> bool {
        !self.open.is_empty() && self.open.contains(&(line, time.to_bits()))
    }

    /// The ranks that called MPI_Abort, in order.
    pub(super) fn aborted(&self) -> Vec<i32> {
        self.aborted.iter().copied().collect()
    }

    /// The functions that ranks were in at the end, each with these ranks.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = (&str, Vec<i32>)> {
        let calls = self.unfinished.iter();
        calls.map(|(function, ranks)| (function.as_str(), ranks.iter().copied().collect()))
    }

    /// The ranks that did not come to MPI_Finalize, in order.
    pub(super) fn not_finalized(&self) -> Vec<i32> {
        self.not_finalized.iter().copied().collect()
    }
}

/// Whether all drawables of a category are marks, as those of DUMPI are.
pub(super) fn is_mark(category: &Category) -> bool {
    category.name.0 == NO_FINALIZE.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace_formats::clog2::annotations::not_matched;
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
        let mut marks = EndMarks::new(&categories, lines);
        let may: Vec<bool> = (0..3).map(|place| marks.may_mark(place)).collect();
        assert_eq!(may, [true, false, true]);
        let mut info = InfoWriter::default();
        for (line, text) in [
            (11, NO_FINALIZE),
            (12, "unfinished MPI_Send"),
            (99, NO_FINALIZE),
        ] {
            let info = info.clear().text(text.as_bytes());
            marks.take((0, &annotation), line, 2.5, info.bytes());
        }
        let unfinished: Vec<_> = marks.unfinished().collect();
        assert_eq!(unfinished, [("MPI_Send", vec![2])]);
        let open = [(12, 2.5), (12, 2.0), (11, 2.5)].map(|(line, time)| marks.is_open(line, time));
        assert_eq!(open, [true, false, false]);
        let abort = category("MPI_Abort", Topology::State);
        let mut of_abort = EndMarks::new(&[&call, &abort], [].into_iter());
        for (place, rank) in [(0, 0), (1, 4), (1, 2)] {
            of_abort.take_state(place, rank);
        }
        assert_eq!(of_abort.aborted(), [2, 4]);
        marks.take((1, &call), 12, 0.0, b"");
        marks.take((2, &named), 10, 0.0, b"");
        assert_eq!((marks.not_finalized(), marks.unmatched), (vec![0, 1], 0));
        for text in [
            not_matched(7),
            not_matched(35),
            "x messages not matched".into(),
        ] {
            let info = info.clear().text(text.as_bytes());
            marks.take((0, &annotation), 12, 0.0, info.bytes());
        }
        assert_eq!((marks.not_finalized(), marks.unmatched), (vec![0, 1], 42));
    }
}
