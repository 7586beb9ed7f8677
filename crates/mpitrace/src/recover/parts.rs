//! The files of a run made by several jobs that do not see each other: each leaves its part beside the files to be, and one job puts
//! the parts together.
//!
//! A part of `NAME` is called `NAME.RUN.part-I-of-N`; RUN stands for the run, so that several runs can be in one folder. Its DUMPI files
//! have that name, too, with `.dumpi-…` behind it, and get their own in the end.

use super::write::{MergeableRun, RecoveredFiles, dumpi_options, with_run, with_size};
use super::{Arguments, MergeWay, OutputFormat};
use crate::block_files::groups::{RunFiles, stamp};
use crate::failure::Failure;
use crate::trace_files::input::{self, OpenedInput};
use merge::dumpi::DumpiOptions;
use merge::outputs::SharedOutputs;
use merge::slices::{JobFileError, JobFileWriter, JobFiles, LocalJobs};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use trace_model::PartNumber;
use trace_model::files;
use trace_model::hash::Wide;
use wrappers::Table;

/// Refuses what cannot be made in parts.
///
/// # Errors
/// If the arguments ask for that.
pub fn check(arguments: &Arguments) -> Result<(), Failure> {
    if !arguments.is_in_parts() {
        return Ok(());
    }
    if arguments.merge == MergeWay::Tree {
        let why = "--part and --join cut the files by time, which --merge tree does not do";
        return Err(Failure::Call(why.to_owned()));
    }
    if !arguments.formats.contains(&OutputFormat::Slog2) {
        let why = "--part and --join need slog2 among --formats: CLOG2 and DUMPI are made in parts beside it";
        return Err(Failure::Call(why.to_owned()));
    }
    Ok(())
}

/// Path of the file in which jobs that take the same block files have the same reading of the clocks.
pub fn clock_path(arguments: &Arguments, paths: &[PathBuf]) -> PathBuf {
    let mut hash = Wide::new();
    for path in paths {
        // Where the file is, however it was named.
        let path = fs::canonicalize(path);
        let path = path.unwrap_or_default();
        let bytes = path.as_os_str().as_bytes();
        hash = hash.word(bytes.len() as u64);
        hash = bytes
            .iter()
            .fold(hash, |hash, &byte| hash.word(byte.into()));
    }
    let number = hash.finish().0[0] as u32;
    arguments
        .dir
        .join(format!("recover.{number:08x}.part-clock"))
}

/// Maximum number of missing parts that an error names.
const TOLD_PARTS: usize = 16;

/// Makes a part.
pub fn write(
    group: &RunFiles<'_>,
    table: &Table,
    arguments: &Arguments,
    part: PartNumber,
) -> RecoveredFiles {
    with_run(group, table, arguments, |run, base, written| {
        if let Err(why) = write_part(run, base, arguments, part, written) {
            written.failures.push(why);
        }
    })
}

fn write_part(
    run: &MergeableRun<'_>,
    base: &Path,
    arguments: &Arguments,
    part: PartNumber,
    written: &mut RecoveredFiles,
) -> Result<(), String> {
    let path = part_path(base, run.group, part);
    let out = JobFileWriter::create(&path)?;
    let has_dumpi = arguments.formats.contains(&OutputFormat::Dumpi);
    let mut dumpi = Vec::new();
    if has_dumpi {
        let processes: Vec<_> = run.merge.processes().collect();
        let share = part.share(processes.len() as u64);
        let processes = &processes[share.start as usize..share.end as usize];
        let options = part_dumpi(&path, run.group);
        for (result, (_, scan)) in run
            .write_dumpi(processes, &options)
            .into_iter()
            .zip(processes)
        {
            let summary = result.map_err(|e| e.to_string())?;
            dumpi.push((scan.rank().unwrap_or(0), summary.bytes));
        }
    }
    out.note(&note(has_dumpi, &dumpi));
    let plan = run.output_plan(base, &arguments.formats, false, &arguments.tree);
    let operations = run.operations(base, written);
    let threads = u32::try_from(run.threads).unwrap_or(u32::MAX);
    let jobs = LocalJobs::new(run.merge, run.files, &plan, operations, threads);
    let (bytes, operations_failure) = jobs.write(part, out)?;
    written.failures.extend(operations_failure);
    written.files.push(with_size(&path, bytes));
    Ok(())
}

/// Makes the files of the parts of all jobs, and removes the parts.
pub fn join(group: &RunFiles<'_>, table: &Table, arguments: &Arguments) -> RecoveredFiles {
    with_run(group, table, arguments, |run, base, written| {
        if let Err(why) = join_parts(run, base, arguments, written) {
            written.failures.push(why);
        }
    })
}

fn join_parts(
    run: &MergeableRun<'_>,
    base: &Path,
    arguments: &Arguments,
    written: &mut RecoveredFiles,
) -> Result<(), String> {
    let stem = stem(base, run.group);
    let found = parts_of(&stem)?;
    let mut opened = Vec::new();
    for path in &found {
        let file = files::open_found(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let is_empty = file.metadata().is_ok_and(|metadata| metadata.len() == 0);
        let bytes = match is_empty {
            true => Ok(OpenedInput::Read(Vec::new())),
            false => input::map(&file),
        };
        opened.push(bytes.map_err(|e| format!("{}: {e}", path.display()))?);
    }
    let plan = run.output_plan(base, &arguments.formats, false, &arguments.tree);
    let operations = run.operations(base, written);
    let threads = u32::try_from(run.threads).unwrap_or(u32::MAX);
    let jobs = LocalJobs::new(run.merge, run.files, &plan, operations, threads);
    let mut parts = JobFiles::default();
    for (path, bytes) in found.iter().zip(&opened) {
        let added = parts.add(path, bytes, jobs.identity());
        added.map_err(|e| said(&e, arguments))?;
    }
    let path_of = |part| part_path(base, run.group, part);
    all_here(&parts, path_of, arguments)?;
    let has_dumpi = arguments.formats.contains(&OutputFormat::Dumpi);
    let dumpi = dumpi_files(&parts, has_dumpi, path_of, run, arguments)?;
    let outputs = SharedOutputs::new(plan);
    let (ended, notes) = jobs
        .join(&parts, outputs)
        .map_err(|e| said(&e, arguments))?;
    written.take(ended, notes, base);
    if !written.failures.is_empty() {
        return Ok(());
    }
    if has_dumpi {
        name_dumpi(run, base, arguments, &dumpi, written)?;
    }
    drop(opened);
    // Pieces that killed jobs have left are among them.
    for (path, _) in named_as_parts(&stem)? {
        fs::remove_file(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

/// What the parts of a run begin with: path of the merged files, and the run.
fn stem(base: &Path, group: &RunFiles<'_>) -> PathBuf {
    let runs = group.sources.iter().map(|source| source.info.run);
    let hash = Wide::new()
        .word(runs.max().unwrap_or(0))
        .word(group.started());
    let mut name = base.as_os_str().to_owned();
    name.push(format!(".{:08x}", hash.finish().0[0] as u32));
    PathBuf::from(name)
}

/// Path of the part of a job.
fn part_path(base: &Path, group: &RunFiles<'_>, part: PartNumber) -> PathBuf {
    let mut name = stem(base, group).into_os_string();
    name.push(format!(".{}", part.name()));
    PathBuf::from(name)
}

/// The regular files whose names begin as those of the parts of a run, each with its name from `part-` on.
fn named_as_parts(stem: &Path) -> Result<Vec<(PathBuf, String)>, String> {
    let folder = stem
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut beginning = stem.file_name().unwrap_or_default().to_owned();
    beginning.push(".");
    let failed = |error: io::Error| format!("{}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let rest = name.as_bytes().strip_prefix(beginning.as_bytes());
        let rest = rest.map(|rest| String::from_utf8_lossy(rest).into_owned());
        let rest = rest.filter(|rest| rest.starts_with("part-"));
        if let Some(rest) = rest.filter(|_| entry.file_type().is_ok_and(|kind| kind.is_file())) {
            found.push((stem.with_file_name(&name), rest));
        }
    }
    Ok(found)
}

/// The parts of a run, in order of name.
fn parts_of(stem: &Path) -> Result<BTreeSet<PathBuf>, String> {
    let named = named_as_parts(stem)?.into_iter();
    let parts: BTreeSet<PathBuf> = named
        .filter(|(_, rest)| PartNumber::of_name(rest).is_some())
        .map(|(path, _)| path)
        .collect();
    match parts.is_empty() {
        false => Ok(parts),
        true => Err(format!(
            "{}.part-*: no part of this run is here: run mpitrace recover --part I/N with each I from 1 to N first",
            stem.display()
        )),
    }
}

/// Whether all parts of a run are there.
///
/// # Errors
/// The parts that are missing, and how they are made, in words.
fn all_here(
    parts: &JobFiles<'_>,
    path_of: impl Fn(PartNumber) -> PathBuf,
    arguments: &Arguments,
) -> Result<(), String> {
    // A file that is no part of ours may tell of any number of parts.
    let mut missing = parts.missing();
    let told: Vec<PartNumber> = missing.by_ref().take(TOLD_PARTS).collect();
    let Some(first) = told.first() else {
        return Ok(());
    };
    let again: Vec<String> = told.iter().map(|part| command(*part, arguments)).collect();
    let others = missing.next().map_or("", |_| ", and so on");
    Err(format!(
        "{}: not here: run {}{others}",
        path_of(*first).display(),
        again.join(", ")
    ))
}

/// The command that makes a part again.
fn command(part: PartNumber, arguments: &Arguments) -> String {
    let dir = arguments.dir.display();
    format!("mpitrace recover --part {part} --dir {dir} with the same block files and options")
}

/// An error of parts, and what to do about it.
fn said(error: &JobFileError, arguments: &Arguments) -> String {
    match error.part() {
        Some(part) => format!("{error}: run {} again", command(part, arguments)),
        None => error.to_string(),
    }
}

/// Names of the DUMPI files of a part.
fn part_dumpi(part: &Path, group: &RunFiles<'_>) -> DumpiOptions {
    let mut root = part.as_os_str().to_owned();
    root.push(".dumpi");
    let settings = group.settings();
    dumpi_options(
        PathBuf::from(root),
        false,
        stamp(group.started()),
        &settings,
    )
}

/// What a part says of its DUMPI files: whether there are to be any, and the ranks and sizes of those of the part.
fn note(has_dumpi: bool, files: &[(u32, u64)]) -> Vec<u8> {
    let mut bytes = vec![u8::from(has_dumpi)];
    for (rank, size) in files {
        bytes.extend_from_slice(&rank.to_le_bytes());
        bytes.extend_from_slice(&size.to_le_bytes());
    }
    bytes
}

/// A DUMPI file of a part: its path, its rank, its bytes.
type PartDumpi = (PathBuf, u32, u64);

/// The DUMPI files of all parts, which must be there.
fn dumpi_files(
    parts: &JobFiles<'_>,
    has_dumpi: bool,
    path_of: impl Fn(PartNumber) -> PathBuf,
    run: &MergeableRun<'_>,
    arguments: &Arguments,
) -> Result<Vec<PartDumpi>, String> {
    let mut found = Vec::new();
    for (part, note) in parts.notes() {
        let path = path_of(part);
        let (&wanted, list) = note.split_first().unwrap_or((&0, &[]));
        if (wanted == 1) != has_dumpi {
            let (was, is) = if has_dumpi {
                ("without", "with")
            } else {
                ("with", "without")
            };
            return Err(format!(
                "{}: part {part} was made {was} dumpi among --formats: run {} again, {is} it, or join {was} it",
                path.display(),
                command(part, arguments)
            ));
        }
        let options = part_dumpi(&path, run.group);
        for entry in list.as_chunks::<12>().0 {
            let (rank, size) = entry.split_at(4);
            let rank = rank.first_chunk().copied().map_or(0, u32::from_le_bytes);
            let size = size.first_chunk().copied().map_or(0, u64::from_le_bytes);
            let file = options.bin_path(rank);
            let metadata = file.symlink_metadata();
            if !metadata.is_ok_and(|metadata| metadata.is_file() && metadata.len() == size) {
                return Err(format!(
                    "{}: not here as part {part} has made it: run {} again",
                    file.display(),
                    command(part, arguments)
                ));
            }
            found.push((file, rank, size));
        }
    }
    Ok(found)
}

/// Gives the DUMPI files of all parts their names, and writes the metafile.
fn name_dumpi(
    run: &MergeableRun<'_>,
    base: &Path,
    arguments: &Arguments,
    files: &[PartDumpi],
    written: &mut RecoveredFiles,
) -> Result<(), String> {
    let (options, claim) = run.dumpi_names(base, arguments.dumpi_folders);
    let _claim = claim.map_err(|e| format!("{}: {e}", arguments.dir.display()))?;
    for (from, rank, _) in files {
        let to = options.bin_path(*rank);
        if let Some(folder) = to.parent().filter(|_| options.folders) {
            // If it cannot be made, that shows when the file gets its name.
            drop(fs::create_dir_all(folder));
        }
        fs::rename(from, &to).map_err(|e| format!("{}: {e}", to.display()))?;
    }
    let sizes: Vec<u64> = files.iter().map(|&(.., size)| size).collect();
    run.write_meta(&options, &sizes, written);
    Ok(())
}
