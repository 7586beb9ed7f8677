//! CLOG2 and SLOG2 files of the block files on one machine, written by several threads.

use super::local::LocalSlices;
use super::{PartFile, WholeSlices};
use crate::local::Merge;
use crate::operations::DrawnOperations;
use crate::outputs::{SharedOutputs, WrittenOutputs};
use crate::stream::Notes;
use std::os::unix::fs::FileExt;
use trace_formats::slog2::PendingFile;

/// A file that several threads write to.
struct ThreadFile<'f>(&'f PendingFile);

impl PartFile for ThreadFile<'_> {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), String> {
        let written = self.0.file().write_all_at(bytes, offset);
        written.map_err(|e| format!("{}: {e}", self.0.current_path().display()))
    }
}

/// Writes the outputs of `merge`, SLOG2 among them, with `threads` threads; the bytes do not depend on their number. Gives what was written, and
/// what could not be shown. `operations` are those below MPI, if there are any, drawn where [`crate::operations::base`] says.
pub fn write_local(
    merge: &Merge<'_, '_, '_>,
    outputs: SharedOutputs,
    operations: Option<DrawnOperations>,
    threads: u32,
) -> (WrittenOutputs, Notes) {
    let threads = threads.max(1);
    let plan = outputs.plan();
    let [slog2, clog2] = outputs.files();
    if slog2.is_none() {
        return (outputs.finish([None, None]), Notes::default());
    }
    let files = || {
        [slog2, clog2].map(|file| {
            let file = ThreadFile(file.as_ref()?);
            Some(Box::new(file) as Box<dyn PartFile + Send + '_>)
        })
    };
    let preamble = plan.preamble.clone();
    let tree = plan.tree_options();
    let has_clog2 = clog2.is_some();
    let mut slices = LocalSlices::new(merge, preamble, tree, has_clog2, operations, threads);
    let views = |whole: &WholeSlices, _: &[i32]| whole.world_views(plan);
    let mut result = slices.write(threads, files, views);
    if let (Some(clog2), None) = (clog2, &result.failures[1]) {
        let comms = merge.comm_table();
        let ended = slices.end_clog2(&mut ThreadFile(clog2), result.blocks, comms);
        result.failures[1] = ended.err();
    }
    let mut written = outputs.finish(result.failures);
    written.failures.extend(result.operations_failure);
    (written, result.notes)
}
