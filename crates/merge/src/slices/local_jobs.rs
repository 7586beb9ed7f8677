//! A merge by slices in several jobs, each with threads on one machine.

use super::job::{join_jobs, write_job};
use super::job_file::{JobFileError, JobFileWriter, JobFiles};
use super::local::{GAVE_UP, LocalSliceResult, LocalSlices, PartFiles, part};
use super::{Peers, SliceFiles, ThreadPeers, WholeSlices, complete};
use crate::on_threads;
use blockfile::file::BlockFile;
use std::sync::Mutex;
use trace_formats::clog2::CommTable;
use trace_formats::slog2::LineIdMap;
use trace_model::PartNumber;
use trace_model::hash::Wide;

impl LocalSlices<'_, '_, '_, '_> {
    /// A number that stands for what is in the block files of the run, for the plan and for the formats.
    pub(super) fn identity(&self, files: &[BlockFile<'_>], threads: u32) -> u64 {
        let hashes = on_threads(threads as usize, files, BlockFile::content_hash);
        let start = Wide::new()
            .word(self.plan.identity())
            .word(u64::from(self.clog2))
            .word(files.len() as u64);
        hashes.into_iter().fold(start, Wide::word).finish().0[0]
    }

    /// The communicators of the run.
    pub(super) fn comm_table(&self) -> &CommTable {
        self.merge.comm_table()
    }

    /// Writes the windows of a job to its part. Gives why operations below MPI are missing in it.
    ///
    /// # Errors
    /// When a thread has given up.
    pub(super) fn write_job(
        &mut self,
        threads: u32,
        part: PartNumber,
        out: &JobFileWriter,
    ) -> Result<Option<String>, String> {
        let drawn = self.merge.drawn_endpoints();
        let operations = self.operations.take();
        let has_operations = operations.is_some();
        let operations = Mutex::new(operations);
        let windows = part.share(self.plan.windows());
        let slices = &*self;
        let clog2 = slices.clog2;
        std::thread::scope(|scope| {
            let mut running = Vec::new();
            for mut peers in ThreadPeers::new(threads) {
                let (operations, drawn, windows) = (&operations, drawn.as_ref(), windows.clone());
                running.push(scope.spawn(move || {
                    let thread = peers.rank();
                    let processes = slices.merge.streams(thread, threads, clog2, drawn);
                    let operations = match thread {
                        0 => operations.lock().ok().and_then(|mut drawn| drawn.take()),
                        _ => None,
                    };
                    let input = slices.input(processes, has_operations, operations);
                    write_job(&mut peers, &slices.plan, windows, (input, clog2), out)
                }));
            }
            let mut failure = None;
            for thread in running {
                match thread.join() {
                    Ok(Ok(why)) => failure = failure.or(why),
                    _ => return Err(GAVE_UP.to_owned()),
                }
            }
            Ok(failure)
        })
    }

    /// Writes the files from the parts of all jobs. `views` makes the views that are added to the usual ones.
    ///
    /// # Errors
    /// If a part is damaged.
    pub(super) fn join_jobs(
        &mut self,
        parts: &JobFiles<'_>,
        [mut slog2, mut clog2]: PartFiles<'_>,
        views: impl FnOnce(&WholeSlices, &[i32]) -> Vec<LineIdMap>,
    ) -> Result<LocalSliceResult, JobFileError> {
        let operations = self.operations.take();
        let slices = &*self;
        let input = slices.input(Vec::new(), operations.is_some(), operations);
        let mut result = LocalSliceResult::default();
        let gave_up = || Some(GAVE_UP.to_owned());
        let Some(mut peers) = ThreadPeers::new(1).pop() else {
            result.failures[0] = gave_up();
            return Ok(result);
        };
        let mut files = SliceFiles {
            slog2: part(&mut slog2),
            clog2: part(&mut clog2),
        };
        let summary = match join_jobs(&mut peers, &slices.plan, input, parts, &mut files) {
            Ok(summary) => summary,
            Err(Some(damage)) => return Err(damage),
            Err(None) => {
                result.failures = [gave_up(), gave_up()];
                return Ok(result);
            }
        };
        result.failures = summary.failures.clone();
        result.notes = summary.notes;
        if let Some(whole) = &summary.whole {
            result.blocks = whole.blocks;
            result.operations_failure = whole.operations_failure.clone();
        }
        let completed = complete(&mut peers, &slices.plan, summary, part(&mut slog2), views);
        let failure = completed.unwrap_or_else(|_| gave_up());
        let slog2_failure = result.failures[0].take();
        result.failures[0] = slog2_failure.or(failure);
        Ok(result)
    }
}
