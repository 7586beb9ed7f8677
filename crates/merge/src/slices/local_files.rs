//! CLOG2 and SLOG2 files of the block files on one machine, written by several threads, or by several jobs.

use super::job_file::{JobFileError, JobFileWriter, JobFiles};
use super::local::{LocalSliceResult, LocalSlices};
use super::{PartFile, PartFiles, WholeSlices};
use crate::local::Merge;
use crate::operations::DrawnOperations;
use crate::outputs::{OutputPlan, SharedOutputs, WrittenOutputs};
use crate::stream::Notes;
use blockfile::file::BlockFile;
use std::os::unix::fs::FileExt;
use trace_formats::slog2::PendingFile;
use trace_model::PartNumber;

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
    if outputs.files()[0].is_none() {
        return (outputs.finish([None, None]), Notes::default());
    }
    let plan = outputs.plan();
    let (preamble, tree) = (plan.preamble.clone(), plan.tree_options());
    let has_clog2 = outputs.files()[1].is_some();
    let mut slices = LocalSlices::new(merge, preamble, tree, has_clog2, operations, threads);
    let views = |whole: &WholeSlices, _: &[i32]| whole.world_views(plan);
    let result = slices.write(threads, || thread_files(&outputs), views);
    finish(&slices, result, outputs)
}

/// A file for a thread for each of the outputs.
fn thread_files(outputs: &SharedOutputs) -> PartFiles<'_> {
    let [slog2, clog2] = outputs.files();
    [slog2, clog2].map(|file| {
        let file = ThreadFile(file.as_ref()?);
        Some(Box::new(file) as Box<dyn PartFile + Send + '_>)
    })
}

/// Ends the files when all nodes and blocks are written.
fn finish(
    slices: &LocalSlices<'_, '_, '_, '_>,
    mut result: LocalSliceResult,
    outputs: SharedOutputs,
) -> (WrittenOutputs, Notes) {
    if let (Some(clog2), None) = (&outputs.files()[1], &result.failures[1]) {
        let comms = slices.comm_table();
        let ended = slices.end_clog2(&mut ThreadFile(clog2), result.blocks, comms);
        result.failures[1] = ended.err();
    }
    let mut written = outputs.finish(result.failures);
    written.failures.extend(result.operations_failure);
    (written, result.notes)
}

/// The outputs of a merge, SLOG2 among them, that several jobs make together, which do not see each other.
pub struct LocalJobs<'m, 'f, 'a, 't> {
    slices: LocalSlices<'m, 'f, 'a, 't>,
    threads: u32,
    identity: u64,
}

impl<'m, 'f, 'a, 't> LocalJobs<'m, 'f, 'a, 't> {
    /// For the outputs of `plan`, with `threads` threads. `files` are all block files of the run; `operations` are those below MPI, if there
    /// are any.
    pub fn new(
        merge: &'m Merge<'f, 'a, 't>,
        files: &[BlockFile<'_>],
        plan: &OutputPlan,
        operations: Option<DrawnOperations>,
        threads: u32,
    ) -> LocalJobs<'m, 'f, 'a, 't> {
        let (preamble, tree) = (plan.preamble.clone(), plan.tree_options());
        let slices = LocalSlices::new(merge, preamble, tree, plan.clog2, operations, threads);
        let identity = slices.identity(files, threads);
        LocalJobs {
            slices,
            threads: threads.max(1),
            identity,
        }
    }

    /// A number that all jobs have in common which make parts of the same files: it stands for what is in the block files, and for the
    /// plan.
    pub fn identity(&self) -> u64 {
        self.identity
    }

    /// Writes the part of a job. Gives its bytes, and why operations below MPI are missing in it.
    ///
    /// # Errors
    /// In words.
    pub fn write(
        mut self,
        part: PartNumber,
        out: JobFileWriter,
    ) -> Result<(u64, Option<String>), String> {
        let operations_failure = self.slices.write_job(self.threads, part, &out)?;
        Ok((out.finish(self.identity, part)?, operations_failure))
    }

    /// Writes the outputs from the parts of all jobs. Gives what was written, and what could not be shown.
    ///
    /// # Errors
    /// If a part is damaged. Nothing is written then.
    pub fn join(
        mut self,
        parts: &JobFiles<'_>,
        outputs: SharedOutputs,
    ) -> Result<(WrittenOutputs, Notes), JobFileError> {
        if outputs.files()[0].is_none() {
            return Ok((outputs.finish([None, None]), Notes::default()));
        }
        self.slices.plan.deal_to_one();
        let plan = outputs.plan();
        let views = |whole: &WholeSlices, _: &[i32]| whole.world_views(plan);
        let result = (self.slices).join_jobs(parts, thread_files(&outputs), views)?;
        Ok(finish(&self.slices, result, outputs))
    }
}
