//! Categories and lines of drawables that are in no record of the log, and the tables of a file that has both.

use super::super::types::LineIdMap;
use super::super::views;
use super::drawing::Drawing;
use super::warnings::Warnings;
use trace_model::{Category, Line};

/// What drawables use that came from elsewhere than from records.
#[derive(Debug, Default)]
pub struct ForeignCategories {
    /// Their categories.
    pub categories: Vec<Category>,
    /// Their lines beyond those of the log, by ascending id.
    pub lines: Vec<Line>,
}

impl ForeignCategories {
    /// The views of these lines, which are ascending.
    fn views(&self, used: &[i32], drawing: &mut Drawing) -> Vec<LineIdMap> {
        let find = |id: &i32| {
            let at = self.lines.binary_search_by_key(id, |line| line.id).ok()?;
            self.lines.get(at)
        };
        let of_log: Vec<i32> = used
            .iter()
            .copied()
            .filter(|id| find(id).is_none())
            .collect();
        // Warns of lines of the log that no record announces, whatever other lines there are.
        let views = drawing.views(&of_log);
        if of_log.len() == used.len() {
            return views;
        }
        let of_record = |id: i32| {
            let place = drawing.place(id);
            Line {
                comm: place.comm,
                comm_rank: place.rank,
                ..Line::of_thread(id, place.world_rank, place.thread)
            }
        };
        // Who knows the hosts of all lines adds a view by node.
        let without_host = |line: &Line| Line {
            host: None,
            ..line.clone()
        };
        let line = |id: &i32| find(id).map_or_else(|| of_record(*id), without_host);
        let lines: Vec<Line> = used.iter().map(line).collect();
        views::views(&lines.iter().collect::<Vec<_>>())
    }

    /// The categories of the file, in the order in which the original inserts those of the log, and the views of these lines, which are
    /// ascending: by process, by communicator, by line. Gives also what is odd in the log.
    pub fn tables(
        self,
        mut drawing: Drawing,
        lines: &[i32],
    ) -> (Vec<Category>, Vec<LineIdMap>, Warnings) {
        let views = self.views(lines, &mut drawing);
        let mut categories = drawing.categories.into_insertion_order();
        categories.extend(self.categories);
        (categories, views, drawing.warnings)
    }
}
