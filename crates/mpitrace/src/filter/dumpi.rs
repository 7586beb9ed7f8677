//! DUMPI to DUMPI: the options of dumpi2dumpi, for one file or for all of a run.

use super::Arguments;
use crate::failure::Failure;
use crate::terminal::progress::TaskProgress;
use crate::terminal::tell;
use crate::trace_files::format::Format;
use crate::trace_files::input::{OpenedInput, shown};
use crate::trace_files::target::Target;
use std::collections::HashSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use trace_formats::dumpi::meta::{Meta, bin_path, meta_path};
use trace_formats::dumpi::read::DumpiReader;
use trace_formats::dumpi::types::Version;
use trace_formats::dumpi::write::{DumpiWriteError, FileWriter};
use trace_model::{TemporaryFolder, files};
use transform::{Copied, DumpiFilter, Selection, first_wall_time};

/// Filters one file.
pub fn file(
    arguments: &Arguments,
    selection: &Selection,
    input: &Path,
    output: &Path,
) -> Result<(), Failure> {
    if !selection.ranks.is_empty() {
        let message = "a .bin file is of one rank; give the run's .meta file to choose among them";
        return Err(Failure::Call(message.into()));
    }
    let bytes = OpenedInput::open(input)?;
    let origin = first_time(&bytes);
    let filter = arguments.dumpi.filter(selection, origin.unwrap_or(0))?;
    if !selection.is_all() && !keeps_any(&filter, &bytes) {
        return Err(nothing_selected(input));
    }
    let target = Target::new(output, Some(Format::Dumpi), &arguments.tree)?;
    let copied = target.place(|path| copy(&bytes, shown(input), &filter, path, output))?;
    if !arguments.quiet {
        report(output, copied.kept, copied.removed);
    }
    damage(input, &copied)
}

/// Copies one file, with everything in it; what cannot be read of it is said.
pub fn whole(bytes: &[u8], input: &Path, target: &Target, quiet: bool) -> Result<(), Failure> {
    let filter = DumpiFilter::default();
    let copied = target.place(|path| copy(bytes, input, &filter, path, &target.path))?;
    if !quiet {
        report(&target.path, copied.kept, copied.removed);
    }
    damage(input, &copied)
}

/// Filters all files of a run.
pub fn run(
    arguments: &Arguments,
    selection: &Selection,
    input: &Path,
    output: &Path,
) -> Result<(), Failure> {
    let name = input.display();
    // The name of the metafile to write means its root, too.
    let without = output.with_extension("");
    let is_meta = output.extension().is_some_and(|ending| ending == "meta");
    let output = if is_meta { without.as_path() } else { output };
    let text = OpenedInput::open(input)?;
    let meta = Meta::parse(&text).map_err(|error| Failure::Data(format!("{name}: {error}")))?;
    let rank_files = meta.rank_files(input);
    let there: Vec<(u32, &Path)> = rank_files.iter().collect();
    let missing = rank_files.missing();
    if missing > 0 {
        let message = format!("{name}: {missing} of {} files are not there", meta.numprocs);
        return Err(Failure::Data(message));
    }
    let written = there.iter().map(|&(rank, _)| bin_path(output, rank, 4));
    let written: Vec<PathBuf> = written.chain([meta_path(output)]).collect();
    let read: Vec<&Path> = there.iter().map(|&(_, path)| path).chain([input]).collect();
    arguments.overwrite.allow_all(&written, &read)?;
    for path in &written {
        files::may_replace(path).map_err(|error| Failure::output(path.display(), &error))?;
    }
    let replaced = files_of_run(output);
    let progress = TaskProgress::bytes(&name.to_string(), there.len() as u64, arguments.quiet);
    let mut origin = None;
    if !selection.windows.is_empty() {
        for (_, path) in &there {
            let first = first_time(&OpenedInput::open(path)?);
            origin = [origin, first].into_iter().flatten().min();
        }
    }
    let filter = arguments.dumpi.filter(selection, origin.unwrap_or(0))?;
    let (mut kept, mut removed) = (0, 0);
    let mut damaged = Ok(());
    let whole = filter.whole();
    // What is not chosen has no call that the options mean: inverted, all of it is kept.
    let filter_of = |rank: u32| match selection.ranks.admits_number(rank) {
        true => (!filter.removes_all()).then_some(&filter),
        false => selection.invert.then_some(&whole),
    };
    // What dumpi2dumpi's own options leave of a run may be nothing.
    let mut is_any_kept = selection.is_all();
    for &(rank, path) in &there {
        if is_any_kept {
            break;
        }
        if let Some(filter) = filter_of(rank) {
            is_any_kept = keeps_any(filter, &OpenedInput::open(path)?);
        }
    }
    if !is_any_kept {
        return Err(nothing_selected(input));
    }
    let pending = PendingRun::create(output)?;
    for (done, &(rank, path)) in (1u64..).zip(&there) {
        let bytes = OpenedInput::open(path)?;
        match filter_of(rank) {
            None => removed += calls(&bytes),
            Some(filter) => {
                let final_path = bin_path(output, rank, 4);
                let at = pending.path_of(&final_path);
                let copied = copy(&bytes, path, filter, &at, &final_path)?;
                kept += copied.kept;
                removed += copied.removed;
                damaged = damaged.and(damage(path, &copied));
            }
        }
        progress.at(done);
    }
    let kept_ranks = there
        .iter()
        .map(|&(rank, _)| rank)
        .filter(|&rank| filter_of(rank).is_some());
    let mut meta = Meta {
        fileprefix: output.as_os_str().as_bytes().to_vec(),
        version: Version::CURRENT,
        ranks_per_folder: 0,
        ..meta
    };
    let kept_ranks: Vec<u32> = kept_ranks.collect();
    let kept_files = kept_ranks.iter().map(|&rank| bin_path(output, rank, 4));
    let kept_files: Vec<PathBuf> = kept_files.collect();
    meta.set_present(kept_ranks);
    let path = meta_path(output);
    pending.persist(&kept_files, &path, &meta.text())?;
    let read = read.iter().map(|&path| path.to_owned());
    let needed: Vec<PathBuf> = kept_files.into_iter().chain(read).collect();
    remove_all_but(&needed, &replaced)?;
    drop(progress);
    if !arguments.quiet {
        report(&path, kept, removed);
    }
    damaged
}

/// The files of a run that get their names together, when all of them are complete: until then the files of an older run of that name are whole.
struct PendingRun {
    folder: TemporaryFolder,
}

impl PendingRun {
    /// The files are made in a folder beside `root`, with which their names are to begin.
    fn create(root: &Path) -> Result<PendingRun, Failure> {
        let folder = TemporaryFolder::beside(root);
        let folder = folder.map_err(|error| Failure::output(root.display(), &error))?;
        Ok(PendingRun { folder })
    }

    /// Where a file is made that is to have this path.
    fn path_of(&self, final_path: &Path) -> PathBuf {
        self.folder
            .path()
            .join(final_path.file_name().unwrap_or_default())
    }

    /// Gives the files of ranks their names, and the metafile at `meta` last, which tells readers of them.
    fn persist(self, ranks: &[PathBuf], meta: &Path, text: &[u8]) -> Result<(), Failure> {
        let written = fs::write(self.path_of(meta), text);
        written.map_err(|error| Failure::output(meta.display(), &error))?;
        for path in ranks.iter().map(PathBuf::as_path).chain([meta]) {
            let named = fs::rename(self.path_of(path), path);
            named.map_err(|error| Failure::output(path.display(), &error))?;
        }
        Ok(())
    }
}

/// The files of ranks of the run that has the name `root` already, beside its metafile or in the folders of such a run. Files of another
/// name are none of them, though the metafile names them.
fn files_of_run(root: &Path) -> Vec<PathBuf> {
    let meta_path = meta_path(root);
    let text = OpenedInput::open_regular(&meta_path);
    let Some(meta) = text.ok().and_then(|text| Meta::parse(&text).ok()) else {
        return Vec::new();
    };
    let folder = |path: &Path| match path.parent() {
        Some(folder) if folder != Path::new("") => folder.canonicalize().ok(),
        _ => Path::new(".").canonicalize().ok(),
    };
    let Some(place) = folder(root) else {
        return Vec::new();
    };
    let begins = |path: &Path, sign: &[u8]| {
        let name = path.file_name().unwrap_or_default().as_bytes();
        let own = root.file_name().unwrap_or_default().as_bytes();
        name.strip_prefix(own)
            .is_some_and(|rest| rest.starts_with(sign))
    };
    let is_own = |path: &Path| {
        let Some(found) = folder(path) else {
            return false;
        };
        let is_beside = found == place;
        let is_below = found.parent() == Some(&place) && begins(&found, b".");
        begins(path, b"-") && (is_beside || is_below)
    };
    let files = meta.rank_files(&meta_path);
    let own = files.iter().filter(|(_, path)| is_own(path));
    own.map(|(_, path)| path.to_owned()).collect()
}

/// Removes files of a run that was replaced, without those that are `needed`.
fn remove_all_but(needed: &[PathBuf], replaced: &[PathBuf]) -> Result<(), Failure> {
    let needed: HashSet<PathBuf> = needed
        .iter()
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    for path in replaced {
        // One that is gone already has no place.
        let place = path.canonicalize();
        if place.is_ok_and(|place| !needed.contains(&place)) {
            fs::remove_file(path).map_err(|error| Failure::output(path.display(), &error))?;
        }
    }
    Ok(())
}

fn nothing_selected(input: &Path) -> Failure {
    Failure::file(shown(input), "nothing of it is selected")
}

/// Whether any call of a file is kept. A file that cannot be opened is for the copying to refuse.
fn keeps_any(filter: &DumpiFilter, bytes: &[u8]) -> bool {
    open(bytes).map_or(true, |reader| filter.keeps_any(&reader))
}

/// Number of calls in a file, as far as it can be read.
fn calls(bytes: &[u8]) -> u64 {
    let calls = |reader: DumpiReader<'_>| reader.records().map_while(Result::ok).count();
    open(bytes).map_or(0, calls) as u64
}

fn first_time(bytes: &[u8]) -> Option<i64> {
    first_wall_time(&open(bytes).ok()?)
}

/// Opens a file; one that was never completed as far as it goes.
fn open(bytes: &[u8]) -> Result<DumpiReader<'_>, trace_formats::dumpi::DumpiError> {
    DumpiReader::open(bytes).or_else(|error| DumpiReader::salvage(bytes).map_err(|_| error))
}

/// Filters the file of a rank into the file `at`, which errors call `output`.
fn copy(
    bytes: &[u8],
    input: &Path,
    filter: &DumpiFilter,
    at: &Path,
    output: &Path,
) -> Result<Copied, Failure> {
    let bad = |error| Failure::file(input, error);
    let failed = |error| match error {
        DumpiWriteError::File { error, .. } => Failure::file(output, error),
        error => Failure::file(output, error),
    };
    let complete = DumpiReader::open(bytes);
    let reader = match &complete {
        Ok(reader) => reader.clone(),
        Err(_) => open(bytes).map_err(bad)?,
    };
    let mut writer = FileWriter::create(at, filter.offsets(&reader)).map_err(failed)?;
    let mut copied = filter.copy(&reader, &mut writer).map_err(failed)?;
    writer
        .finish(&copied.trailer, filter.layout())
        .map_err(failed)?;
    if let Err(error) = complete {
        copied.damage.get_or_insert(error);
    }
    Ok(copied)
}

/// The error of a file that could only be read in part. The output holds that part.
fn damage(input: &Path, copied: &Copied) -> Result<(), Failure> {
    match &copied.damage {
        None => Ok(()),
        Some(error) => Err(Failure::Data(format!(
            "{}: {error}; the {} calls before are filtered",
            shown(input).display(),
            copied.kept + copied.removed
        ))),
    }
}

fn report(output: &Path, kept: u64, removed: u64) {
    let name = output.display();
    tell!("mpitrace: {name}: {kept} calls kept, {removed} removed");
}
