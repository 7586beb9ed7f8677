//! The operations below MPI of a run, which one rank has drawn for all: cut by windows as the records are.

use super::produce::{Cutter, Segment, put};
use crate::operations::DrawnOperations;
use trace_formats::slog2::ForeignCategories;
use trace_model::Sorted;

/// Stands for the rank of operations in segments: behind those of all processes.
const PROCESS: u32 = u32::MAX;

/// Drawn operations, on their way to the owners of windows.
pub(super) struct OperationProducer {
    drawn: DrawnOperations,
    /// The leaf in which the latest operation ended.
    leaf: usize,
    failure: Option<String>,
}

impl OperationProducer {
    pub(super) fn new(drawn: DrawnOperations) -> OperationProducer {
        OperationProducer {
            drawn,
            leaf: 0,
            failure: None,
        }
    }

    /// Appends what ends before the end of a window to `out`, until that has `limit` bytes. Whether that was all.
    pub(super) fn fill(
        &mut self,
        cutter: &mut Cutter<'_>,
        window: u64,
        limit: usize,
        out: &mut Vec<u8>,
    ) -> bool {
        let plan = cutter.plan;
        let leaves = plan.leaves_of(window);
        let end = plan.end_of(leaves.end - 1);
        self.leaf = self.leaf.max(leaves.start);
        let mut segment = Segment::default();
        let drawables = &mut self.drawn.drawables;
        let is_all = loop {
            let Some(time) = drawables.peek().filter(|&time| time < end) else {
                break true;
            };
            if out.len() + segment.len() >= limit {
                break false;
            }
            self.leaf = plan.leaf_from(self.leaf, leaves.end, time);
            match drawables.next() {
                Ok(Some(drawable)) => {
                    let drawn = &mut segment.drawn;
                    put(plan, &mut cutter.crossing, (&drawable, self.leaf), drawn);
                }
                Ok(None) => break true,
                Err(e) => {
                    self.failure = Some(unreadable(&e));
                    *drawables = Sorted::default();
                }
            }
        };
        segment.encode(PROCESS, out);
        is_all
    }

    /// Passes over what ends before `time`, which others draw.
    pub(super) fn skip(&mut self, time: f64) {
        let drawables = &mut self.drawn.drawables;
        while drawables.peek().is_some_and(|next| next < time) {
            match drawables.next() {
                Ok(Some(_)) => {}
                Ok(None) => return,
                Err(e) => {
                    self.failure = Some(unreadable(&e));
                    *drawables = Sorted::default();
                }
            }
        }
    }

    /// What the operations use, and why some are missing.
    pub(super) fn end(self) -> (ForeignCategories, Option<String>) {
        let DrawnOperations {
            categories, lines, ..
        } = self.drawn;
        (ForeignCategories { categories, lines }, self.failure)
    }
}

/// Says that a temporary file with operations could not be read.
fn unreadable(why: &std::io::Error) -> String {
    format!("operations below MPI are not all there: {why}")
}
