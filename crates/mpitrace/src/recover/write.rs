//! The files of one run, made as at MPI_Finalize.

use super::{Arguments, MergeWay, OutputFormat};
use crate::block_files::groups::{RunFiles, stamp};
use crate::block_files::source::BlockFileInput;
use crate::system::cores;
use crate::trace_files::shape::{Leaf, TreeArguments};
use blockfile::file::BlockFile;
use merge::dumpi;
use merge::local::{self, Merge};
use merge::on_threads;
use merge::operations::{self, DrawnOperations};
use merge::outputs::{OutputFiles, OutputPlan, SharedOutputs, WrittenOutputs, numbered};
use merge::slices::{is_worth_while, write_local};
use merge::stream::Notes;
use settings::{CallIds, Settings};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use trace_formats::clog2::states::CallIdDisplay;
use trace_model::{files, units};
use unify::functions::FunctionSelection;
use unify::scan::Scan;
use wrappers::Table;

/// Result of recovering a run.
#[derive(Default)]
pub struct RecoveredFiles {
    /// The files with their sizes.
    pub files: Vec<String>,
    /// Notes on the files.
    pub notes: Vec<String>,
    /// Files that could not be written or read, and why.
    pub failures: Vec<String>,
    /// Whether all that the block files of the processes hold is in the files.
    pub all_in: bool,
}

impl RecoveredFiles {
    /// Takes what came of the merged files, which are called `base` with their endings.
    pub(super) fn take(&mut self, ended: WrittenOutputs, notes: Notes, base: &Path) {
        self.files
            .extend(ended.files.iter().map(|f| with_size(&f.path, f.size)));
        self.failures.extend(ended.failures);
        if notes.unmatched_endpoints > 0 {
            self.notes.push(format!(
                "{} message endpoints are not drawn: the other end is left out or not known",
                notes.unmatched_endpoints
            ));
        }
        if notes.large_messages > 0 {
            self.notes.push(format!(
                "{} messages are larger than 2 GiB: their sizes are 2147483647 bytes in CLOG2 and SLOG2 files, and right in DUMPI files",
                notes.large_messages
            ));
        }
        if notes.unknown_calls > 0 {
            self.failures.push(format!(
                "{}: {} calls left out: their function is not known or their arguments cannot be read",
                base.display(),
                notes.unknown_calls
            ));
        }
    }
}

/// `path`, and its size.
pub(super) fn with_size(path: &Path, bytes: u64) -> String {
    format!("{} ({})", path.display(), units::bytes(bytes))
}

/// The block files of a run: those of its ranks, then those of its servers.
fn block_files<'g>(group: &RunFiles<'g>) -> Vec<BlockFile<'g>> {
    let ranks = group.sources.iter().map(|source| &source.file);
    ranks.chain(&group.servers).cloned().collect()
}

/// Whether a process of the run did not come to MPI_Finalize, or was in a call at its end.
fn is_unfinished(group: &RunFiles<'_>) -> bool {
    let in_call = |source: &BlockFileInput<'_>| {
        let threads = source.file.threads();
        threads.iter().any(|thread| thread.open_call().is_some())
    };
    let mut sources = group.sources.iter();
    sources.any(|source| !source.reached_finalize() || in_call(source))
}

/// Options for merging the block files of a run: as in MPI_Finalize, if all of its processes came there.
fn merge_options(group: &RunFiles<'_>) -> local::MergeOptions {
    let settings = group.settings();
    local::MergeOptions {
        call_ids: match settings.callids {
            CallIds::All => CallIdDisplay::All,
            CallIds::Io => CallIdDisplay::Files,
            CallIds::None => CallIdDisplay::None,
        },
        details: settings.details,
        recover: is_unfinished(group),
        functions: shown_functions(),
    }
}

/// The functions of the program that the settings of the run wanted to be shown, with readable names.
fn shown_functions() -> FunctionSelection {
    FunctionSelection {
        demangle: Some(demangled),
        ..FunctionSelection::default()
    }
}

/// How the DUMPI files of a run with these settings are written.
pub(super) fn dumpi_options(
    root: PathBuf,
    folders: bool,
    stamp: String,
    settings: &Settings,
) -> dumpi::DumpiOptions {
    dumpi::DumpiOptions {
        root,
        folders,
        stamp,
        wall: settings.timestamp.wall(),
        statuses: settings.statuses as u8,
        extensions: settings.extensions,
        enter: settings.tracing.enter,
        exit: settings.tracing.exit,
        unfinished: true,
        functions: shown_functions(),
        ..dumpi::DumpiOptions::default()
    }
}

/// A name of C++ or Rust as people write it.
fn demangled(name: &str) -> Option<String> {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return Some(format!("{rust:#}"));
    }
    let symbol = cpp_demangle::Symbol::new(name).ok()?;
    symbol.demangle().ok()
}

/// Writes all files of a run.
pub fn write(group: &RunFiles<'_>, table: &Table, arguments: &Arguments) -> RecoveredFiles {
    with_run(group, table, arguments, |run, base, written| {
        let kinds = &arguments.formats;
        if kinds.iter().any(|kind| *kind != OutputFormat::Dumpi) {
            run.merged(base, kinds, false, &arguments.tree, written);
        }
        if kinds.contains(&OutputFormat::Dumpi) {
            run.per_rank(base, arguments.dumpi_folders, written);
        }
    })
}

/// Gives `make` a run that has calls, the path of its merged files without ending, and where to tell what came of it.
pub(super) fn with_run(
    group: &RunFiles<'_>,
    table: &Table,
    arguments: &Arguments,
    make: impl FnOnce(&MergeableRun<'_>, &Path, &mut RecoveredFiles),
) -> RecoveredFiles {
    let mut written = RecoveredFiles::default();
    let files = block_files(group);
    let threads = arguments.threads();
    let merge = match Merge::on_threads(&files, table, merge_options(group), threads) {
        Ok(merge) => merge,
        // Nothing that any of the formats could hold: they all need a rank.
        Err(local::RunFilesError::NoRank) => return written,
        Err(error) => {
            written.failures.push(error.to_string());
            return written;
        }
    };
    written.all_in = group
        .sources
        .iter()
        .all(|s| s.info.rank >= 0 && s.damage.is_empty());
    // Calls, also one that was running, or what the program tells of itself.
    let has_records = merge.scans().any(|scan| scan.first_ns().is_some());
    if let Some(what) = held_by_no_file(&merge, &arguments.formats, has_records) {
        written.all_in = false;
        if arguments.remove {
            let note = format!("block files stay: {what} are in none of these files");
            written.notes.push(note);
        }
    }
    if !has_records {
        return written;
    }
    if let Err(error) = fs::create_dir_all(&arguments.dir) {
        written
            .failures
            .push(format!("{}: {error}", arguments.dir.display()));
        return written;
    }
    // The program's name is what a file says that anybody may have written.
    let program = files::part_of_name(group.program());
    let name = arguments.output.as_deref().unwrap_or(&program);
    let run = MergeableRun {
        files: &files,
        merge: &merge,
        group,
        table,
        threads,
        way: arguments.merge,
    };
    make(&run, &arguments.dir.join(name), &mut written);
    if arguments.part.is_none() {
        written.notes.extend(said_of_clocks(&merge));
    }
    written
}

/// What is to be said of clocks that nobody compared.
fn said_of_clocks(merge: &Merge<'_, '_, '_>) -> Option<String> {
    let ranks = match merge.placed_by_time_of_day() {
        0 => return None,
        1 => "1 rank on another host is".to_owned(),
        count => format!("{count} ranks on other hosts are"),
    };
    Some(format!(
        "{ranks} placed by the time of day of the hosts: the run did not come to compare their clocks (clock-sync twice does it in MPI_Init, too)"
    ))
}

/// What block files hold that files of these formats do not: the first such thing. Nothing is written without calls, and without regions, events and
/// functions of the program.
fn held_by_no_file(
    merge: &Merge<'_, '_, '_>,
    formats: &[OutputFormat],
    has_records: bool,
) -> Option<&'static str> {
    let is_written = |format| has_records && formats.contains(&format);
    let has_slog2 = is_written(OutputFormat::Slog2);
    if !has_slog2 && merge.scans().any(|scan| scan.operations > 0) {
        return Some("operations below MPI");
    }
    let has_counters = has_slog2 || is_written(OutputFormat::Dumpi);
    let counters = !has_counters && has_records && !merge.counter_names().is_empty();
    counters.then_some("values of performance counters")
}

/// Writes the SLOG2 file of a run, and nothing else, to `base` with its ending; a file of that name is replaced.
pub fn slog2(
    group: &RunFiles<'_>,
    table: &Table,
    base: &Path,
) -> Result<RecoveredFiles, local::RunFilesError> {
    let mut written = RecoveredFiles {
        all_in: true,
        ..RecoveredFiles::default()
    };
    let files = block_files(group);
    let threads = cores();
    let merge = Merge::on_threads(&files, table, merge_options(group), threads)?;
    let run = MergeableRun {
        files: &files,
        merge: &merge,
        group,
        table,
        threads,
        way: MergeWay::Auto,
    };
    let tree = TreeArguments::default();
    run.merged(base, &[OutputFormat::Slog2], true, &tree, &mut written);
    written.notes.extend(said_of_clocks(&merge));
    Ok(written)
}

/// A run whose calls can be merged.
pub(super) struct MergeableRun<'r> {
    pub(super) files: &'r [BlockFile<'r>],
    pub(super) merge: &'r Merge<'r, 'r, 'r>,
    pub(super) group: &'r RunFiles<'r>,
    pub(super) table: &'r Table,
    pub(super) threads: usize,
    way: MergeWay,
}

impl MergeableRun<'_> {
    /// SLOG2 and CLOG2, those that are wanted. `replace` is whether they take the place of files of that name.
    fn merged(
        &self,
        base: &Path,
        kinds: &[OutputFormat],
        replace: bool,
        tree: &TreeArguments,
        written: &mut RecoveredFiles,
    ) {
        let merge = self.merge;
        let plan = self.output_plan(base, kinds, replace, tree);
        let operations = match plan.slog2 {
            true => self.operations(base, written),
            false => None,
        };
        let (ended, notes) = if self.is_by_slices(&plan) {
            let threads = u32::try_from(self.threads).unwrap_or(u32::MAX);
            write_local(merge, SharedOutputs::new(plan), operations, threads)
        } else {
            let mut outputs = OutputFiles::new(plan);
            operations.into_iter().for_each(|drawn| outputs.draw(drawn));
            let notes = outputs.take(merge);
            (outputs.finish(merge.comm_table()), notes)
        };
        written.take(ended, notes, base);
    }

    /// How the merged files are written.
    pub(super) fn output_plan(
        &self,
        base: &Path,
        kinds: &[OutputFormat],
        replace: bool,
        tree: &TreeArguments,
    ) -> OutputPlan {
        let (merge, group) = (self.merge, self.group);
        let settings = group.settings();
        let mut preamble = merge.preamble();
        preamble.block_size = u32::try_from(settings.clog2_block).unwrap_or(preamble.block_size);
        // As many ranks as a merged file can have, whatever a damaged header says.
        let ranks = merge.scans().map(Scan::ranks).max().unwrap_or(0);
        let ranked = |source: &'_ BlockFileInput<'_>| u32::try_from(source.info.rank).ok();
        let sources = || group.sources.iter().filter_map(|s| Some((ranked(s)?, s)));
        let hosts = sources().map(|(rank, s)| (rank, s.process.host.as_str()));
        let (hosts, nodes) = numbered(hosts, ranks);
        let programs = sources().map(|(rank, s)| (rank, s.process.program.as_str()));
        let (programs, program_of) = numbered(programs, ranks);
        OutputPlan {
            base: base.to_path_buf(),
            replace,
            clog2: kinds.contains(&OutputFormat::Clog2),
            slog2: kinds.contains(&OutputFormat::Slog2),
            preamble,
            children: (tree.children).map_or(settings.children, |n| n.unsigned_abs().into()),
            leaf: match tree.leaf {
                None => settings.leaf,
                Some(Leaf::Auto) => None,
                Some(Leaf::Bytes(bytes)) => Some(u64::from(bytes.unsigned_abs())),
            },
            nodes,
            hosts,
            program_of,
            programs,
            counters: merge.counter_names().to_vec(),
            forward: false,
        }
    }

    /// Whether the files are cut by time, so that all threads have work.
    fn is_by_slices(&self, plan: &OutputPlan) -> bool {
        let calls: u64 = self.merge.scans().map(|scan| scan.calls).sum();
        let is_wanted = match self.way {
            MergeWay::Auto => is_worth_while(calls, self.merge.scans().len()),
            MergeWay::Tree => false,
            MergeWay::Parallel => true,
        };
        is_wanted && plan.slog2
    }

    /// Whether there is anything below MPI to draw.
    fn has_operations(&self) -> bool {
        self.merge.scans().any(|scan| scan.operations > 0) || !self.group.servers.is_empty()
    }

    /// The operations below MPI, drawn, if there are any.
    pub(super) fn operations(
        &self,
        base: &Path,
        written: &mut RecoveredFiles,
    ) -> Option<DrawnOperations> {
        if !self.has_operations() {
            return None;
        }
        let folder = base
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let drawn = operations::draw_files(self.merge, self.files, self.table, folder);
        let left_out = drawn.as_ref().ok().and_then(|drawn| drawn.left_out.note());
        written.notes.extend(left_out);
        drawn
            .map_err(|error| {
                written.failures.push(format!(
                    "operations below MPI are not in the trace: {error}"
                ));
            })
            .ok()
    }

    /// DUMPI: a file for each rank and the metafile, whose names begin with `base`.
    fn per_rank(&self, base: &Path, folders: bool, written: &mut RecoveredFiles) {
        let (options, _claim) = self.dumpi_names(base, folders);
        let processes: Vec<_> = self.merge.processes().collect();
        let results = self.write_dumpi(&processes, &options);
        let mut bytes = Vec::new();
        for result in results {
            match result {
                Ok(summary) => bytes.push(summary.bytes),
                Err(error) => written.failures.push(error.to_string()),
            }
        }
        self.write_meta(&options, &bytes, written);
    }

    /// The first names of DUMPI files that are free, from the second on in which the run began; nobody else takes them as long as the claim is
    /// there.
    pub(super) fn dumpi_names(
        &self,
        root: &Path,
        folders: bool,
    ) -> (dumpi::DumpiOptions, io::Result<Option<dumpi::Claim>>) {
        let settings = self.group.settings();
        let folders = folders || settings.dumpi_folders;
        let mut second = self.group.started();
        loop {
            let options = dumpi_options(root.to_owned(), folders, stamp(second), &settings);
            match dumpi::Claim::new(&options) {
                // Another run of the same second, or this one recovered before, has this name: the next one is free.
                Ok(None) => second += 1,
                claim => return (options, claim),
            }
        }
    }

    /// Writes the DUMPI files of some processes.
    pub(super) fn write_dumpi(
        &self,
        processes: &[(&BlockFile<'_>, &Scan)],
        options: &dumpi::DumpiOptions,
    ) -> Vec<Result<dumpi::DumpiFileSummary, dumpi::DumpiRunError>> {
        on_threads(self.threads, processes, |&(file, scan)| {
            dumpi::write(file, scan, self.table, options)
        })
    }

    /// Writes the metafile for DUMPI files of these sizes.
    pub(super) fn write_meta(
        &self,
        options: &dumpi::DumpiOptions,
        bytes: &[u64],
        written: &mut RecoveredFiles,
    ) {
        let Some(first) = self.merge.scans().next() else {
            return;
        };
        let present = self.merge.scans().filter_map(Scan::rank);
        match dumpi::write_meta(first, options, present) {
            Ok(path) => written.files.push(format!(
                "{} + {} .bin ({})",
                path.display(),
                bytes.len(),
                units::bytes(bytes.iter().sum())
            )),
            Err(error) => written.failures.push(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_unit_that_fits_them() {
        let path = Path::new("./p.slog2");
        assert_eq!(with_size(path, 12_595), "./p.slog2 (12.3 KiB)");
        assert_eq!(with_size(path, 3 << 30), "./p.slog2 (3.00 GiB)");
    }
}
