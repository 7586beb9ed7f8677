//! A merge by slices of the block files on one machine, with threads in place of ranks.

use super::plan::{SlicePlan, SliceShare, SliceTotals};
use super::{
    Histogram, PartFile, SliceFiles, SliceInput, SliceSummary, ThreadPeers, WholeSlices, complete,
    end_clog2, write,
};
use crate::local::Merge;
use crate::operations::DrawnOperations;
use crate::stream::{MergeStream, Notes};
use std::sync::Mutex;
use trace_formats::clog2::{CommTable, Preamble};
use trace_formats::slog2::{LineIdMap, TreeOptions};

/// Said when a thread has ended without a result.
pub(super) const GAVE_UP: &str = "a thread has given up";

/// A file for each thread: SLOG2, CLOG2.
pub type PartFiles<'f> = [Option<Box<dyn PartFile + Send + 'f>>; 2];

/// The block files of a run, planned to be merged by slices of time.
pub struct LocalSlices<'m, 'f, 'a, 't> {
    pub(super) merge: &'m Merge<'f, 'a, 't>,
    pub(super) preamble: Preamble,
    pub(super) plan: SlicePlan,
    pub(super) operations: Option<DrawnOperations>,
    /// Whether there will be a CLOG2 file.
    pub(super) clog2: bool,
}

/// What came of a merge by slices.
#[derive(Debug, Default)]
pub struct LocalSliceResult {
    /// Why a file could not be written: SLOG2, CLOG2.
    pub failures: [Option<String>; 2],
    /// What could not be shown.
    pub notes: Notes,
    /// Blocks of the CLOG2 file, without the one that ends the log.
    pub blocks: u64,
    /// Why operations below MPI are missing.
    pub operations_failure: Option<String>,
}

impl<'m, 'f, 'a, 't> LocalSlices<'m, 'f, 'a, 't> {
    /// For `threads` threads. `preamble` is that of a CLOG2 file of the run; `clog2` says whether there will be one. `operations` are those below
    /// MPI, if there are any, drawn where [`crate::operations::base`] says.
    pub fn new(
        merge: &'m Merge<'f, 'a, 't>,
        preamble: Preamble,
        tree: TreeOptions,
        clog2: bool,
        operations: Option<DrawnOperations>,
        threads: u32,
    ) -> LocalSlices<'m, 'f, 'a, 't> {
        let zero_ns = merge.zero_ns();
        let shares = merge
            .scans()
            .map(|scan| SliceShare::of_process(scan, zero_ns));
        let of_calls = shares.fold(SliceShare::default(), SliceShare::and);
        let totals = SliceTotals {
            share: match &operations {
                Some(drawn) => of_calls.with_operations(drawn),
                None => of_calls,
            },
            ranks: merge.ranks(),
            tree,
            clog2_block: if clog2 { preamble.block_size } else { 0 },
        };
        let mut histogram = Histogram::new(totals.bins(), totals.share.end);
        for scan in merge.scans() {
            histogram.add_process(scan, zero_ns);
        }
        if let Some(drawn) = &operations {
            histogram.add_operations(drawn);
        }
        LocalSlices {
            merge,
            preamble,
            plan: SlicePlan::new(&totals, &histogram, threads.max(1)),
            operations,
            clog2,
        }
    }

    /// The plan.
    pub fn plan(&self) -> &SlicePlan {
        &self.plan
    }

    /// Merges. `files` gives what a thread writes to; `views` makes the views that are added to the usual ones, of what
    /// rank 0 of a run knows of all and the lines that have drawables.
    pub fn write<'p>(
        &mut self,
        threads: u32,
        files: impl Fn() -> PartFiles<'p> + Sync,
        views: impl FnOnce(&WholeSlices, &[i32]) -> Vec<LineIdMap> + Send,
    ) -> LocalSliceResult {
        let drawn = self.merge.drawn_endpoints();
        let results = Mutex::new(LocalSliceResult::default());
        let views = Mutex::new(Some(views));
        let operations = self.operations.take();
        let has_operations = operations.is_some();
        let operations = Mutex::new(operations);
        let slices = &*self;
        std::thread::scope(|scope| {
            for mut peers in ThreadPeers::new(threads.max(1)) {
                let (files, results, views, operations) = (&files, &results, &views, &operations);
                let drawn = drawn.as_ref();
                scope.spawn(move || {
                    let thread = super::Peers::rank(&peers);
                    let [mut slog2, mut clog2] = files();
                    let enters = clog2.is_some();
                    let processes = (slices.merge).streams(thread, threads.max(1), enters, drawn);
                    let operations = match thread {
                        0 => operations.lock().ok().and_then(|mut drawn| drawn.take()),
                        _ => None,
                    };
                    let input = slices.input(processes, has_operations, operations);
                    let mut parts = SliceFiles {
                        slog2: part(&mut slog2),
                        clog2: part(&mut clog2),
                    };
                    let Ok(summary) = write(&mut peers, &slices.plan, input, &mut parts) else {
                        if let Ok(mut results) = results.lock() {
                            results.failures = [(); 2].map(|()| Some(GAVE_UP.to_owned()));
                        }
                        return;
                    };
                    let failures = summary.failures.clone();
                    let (notes, whole) = (summary.notes, summary.whole.as_ref());
                    let blocks = whole.map_or(0, |whole| whole.blocks);
                    let operations_failure =
                        whole.and_then(|whole| whole.operations_failure.clone());
                    let failure = slices.end(&mut peers, summary, part(&mut slog2), views);
                    if let Ok(mut results) = results.lock() {
                        results.notes.add(notes);
                        results.blocks = results.blocks.max(blocks);
                        let missing = &mut results.operations_failure;
                        *missing = missing.take().or(operations_failure);
                        let failures = failures.into_iter().chain([failure]);
                        for (nth, why) in failures.enumerate() {
                            // The last one is that of the SLOG2 file.
                            let all = &mut results.failures[nth % 2];
                            *all = all.take().or(why);
                        }
                    }
                });
            }
        });
        results.into_inner().unwrap_or_default()
    }

    /// What a thread brings that has these processes.
    pub(super) fn input<'s>(
        &'s self,
        processes: Vec<(u32, MergeStream<'s>)>,
        has_operations: bool,
        operations: Option<DrawnOperations>,
    ) -> SliceInput<'s> {
        SliceInput {
            processes,
            ranks: self.merge.ranks(),
            preamble: &self.preamble,
            schema: self.merge.schema(),
            names: self.merge.function_names(),
            used: self.merge.functions(),
            counters: self.merge.counter_names(),
            has_operations,
            operations,
        }
    }

    /// Writes what ends the CLOG2 file behind `blocks` blocks.
    ///
    /// # Errors
    /// In words, if a block has no room for it, and the errors of the file.
    pub fn end_clog2(
        &self,
        file: &mut dyn PartFile,
        blocks: u64,
        comms: &CommTable,
    ) -> Result<(), String> {
        end_clog2(file, &self.preamble, blocks, comms)
    }

    fn end<V: FnOnce(&WholeSlices, &[i32]) -> Vec<LineIdMap>>(
        &self,
        peers: &mut ThreadPeers,
        summary: SliceSummary,
        file: Option<&mut dyn PartFile>,
        views: &Mutex<Option<V>>,
    ) -> Option<String> {
        file.as_ref()?;
        let add_views = |whole: &WholeSlices, lines: &[i32]| {
            let views = views.lock().ok().and_then(|mut views| views.take());
            views.map_or_else(Vec::new, |views| views(whole, lines))
        };
        complete(peers, &self.plan, summary, file, add_views).unwrap_or(None)
    }
}

pub(super) fn part<'b>(
    file: &'b mut Option<Box<dyn PartFile + Send + '_>>,
) -> Option<&'b mut dyn PartFile> {
    match file {
        Some(file) => Some(file.as_mut()),
        None => None,
    }
}
