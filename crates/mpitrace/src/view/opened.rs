//! The traces that are shown: opened where they are SLOG2 files, made into one first where they are of another format.

use super::ending::Ending;
use super::mapped::{Mapped, WatchedFile};
use super::store::{CacheFolder, cache_folder};
use crate::failure::Failure;
use crate::trace_files::format::Format;
use crate::trace_files::input::{OpenedInput, shown};
use crate::trace_files::losses::report_losses_of_picture;
use crate::trace_files::shape::TreeArguments;
use crate::trace_files::target::Target;
use crate::trace_files::trace::TraceInput;
use crate::trace_files::{annotation, dumpi_run, folder};
use analysis::performance::PerformanceReport;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use viewer_core::{AnswerLimits, ApiError, Viewer};

/// A trace that is shown.
pub struct OpenedTrace {
    /// Name of the trace on the page.
    pub name: String,
    /// Bytes of the trace, mapped as long as the process runs.
    pub mapped: &'static Mapped,
    /// Viewer that answers queries about the trace.
    pub viewer: &'static Viewer<'static>,
    /// Folder in which its index is cached; `None` for a trace that was converted.
    pub store: Option<CacheFolder>,
    /// The bytes of the index that was kept, if there was one.
    pub index: Option<&'static Mapped>,
    /// The files that were named, which can be opened again; none if they came from a pipe.
    pub files: Vec<PathBuf>,
    /// Files that were converted, as they were before; none for a file that is shown as it is.
    sources: Vec<WatchedFile>,
    /// Number of the trace that was opened in place of this one, after its file had changed.
    pub instead: OnceLock<usize>,
    /// Report for comparisons with other traces, made when it is first wanted.
    pub report: OnceLock<PerformanceReport>,
}

impl OpenedTrace {
    /// Why what was read must not be trusted any more.
    pub fn trouble(&self) -> Option<String> {
        let torn = self.index.filter(|index| index.is_torn());
        (self.mapped.trouble())
            .or_else(|| torn.and_then(Mapped::trouble))
            .or_else(|| self.sources.iter().find_map(WatchedFile::trouble))
    }
}

/// Files of a trace that are watched at most: each of them is looked at for every answer.
const MAX_WATCHED: usize = 16;

/// The bytes of a trace, and where they come from.
struct TraceBytes {
    mapped: Mapped,
    /// Whether they are those of the file, which was not converted.
    is_own: bool,
    sources: Vec<WatchedFile>,
}

/// Opens the traces that these files make up.
pub fn open(paths: &[PathBuf], quiet: bool, ending: &Ending) -> Result<Vec<OpenedTrace>, Failure> {
    let mut opened = Vec::new();
    let all = traces(paths)?;
    let of_all: Vec<&Path> = all.iter().map(|files| name_of(files)).collect();
    let names = folder::names_of(&of_all);
    for (files, name) in all.iter().zip(names) {
        let bytes = bytes_of(files, quiet, ending)?;
        opened.push(of(files.clone(), name, bytes)?);
    }
    Ok(opened)
}

/// Opens the files of a trace again, which have another content now. It keeps its name.
pub fn reopen(trace: &OpenedTrace, ending: &Ending) -> Result<OpenedTrace, Failure> {
    let files = &trace.files;
    let bytes = bytes_of(files, true, ending)?;
    // What is shown stays open for good: what cannot be shown, since it is still being written, must not.
    let viewer = Viewer::new("", &bytes.mapped, AnswerLimits::default());
    drop(viewer.map_err(|error| Failure::file(name_of(files), error))?);
    of(files.clone(), trace.name.clone(), bytes)
}

/// Name of the trace in these files for messages.
fn name_of(files: &[PathBuf]) -> &Path {
    files.first().map_or(Path::new(""), |path| shown(path))
}

/// The bytes of the trace in these files, as SLOG2.
fn bytes_of(files: &[PathBuf], quiet: bool, ending: &Ending) -> Result<TraceBytes, Failure> {
    let named = files.iter().take(MAX_WATCHED);
    let sources = named.filter_map(|path| WatchedFile::of(&folder::file_of(path)));
    let mut sources: Vec<WatchedFile> = sources.collect();
    if let Some(mapped) = slog2(files)? {
        // A mapped file looks after itself.
        sources.retain(|_| !mapped.is_of_file());
        return Ok(TraceBytes {
            mapped,
            is_own: true,
            sources,
        });
    }
    let (mapped, format) = converted(files, quiet, ending)?;
    // Block files grow while the program runs: what was read of them stays true.
    let is_watched = format != Format::Blocks;
    Ok(TraceBytes {
        mapped,
        is_own: false,
        sources: if is_watched { sources } else { Vec::new() },
    })
}

/// The trace of this name in these bytes, which come from these files.
fn of(files: Vec<PathBuf>, name: String, bytes: TraceBytes) -> Result<OpenedTrace, Failure> {
    // Whoever answers questions holds on to the bytes, and both stay until the end.
    let mapped: &'static Mapped = Box::leak(Box::new(bytes.mapped));
    let path = name_of(&files);
    let bad = |error: ApiError| Failure::file(path, error);
    let viewer = Viewer::new(&name, mapped, AnswerLimits::default()).map_err(bad)?;
    let reader = viewer.trace().reader();
    let store = (bytes.is_own).then(|| CacheFolder::of(path, reader, mapped, cache_folder()));
    Ok(OpenedTrace {
        store: store.and_then(Result::ok),
        index: None,
        files: match files.iter().any(|path| path == OsStr::new("-")) {
            true => Vec::new(),
            false => files,
        },
        sources: bytes.sources,
        instead: OnceLock::new(),
        report: OnceLock::new(),
        name,
        mapped,
        viewer: Box::leak(Box::new(viewer)),
    })
}

/// The files of each trace: the block files of a run are one, so are its DUMPI files; each other file is one.
pub fn traces(paths: &[PathBuf]) -> Result<Vec<Vec<PathBuf>>, Failure> {
    let mut traces: Vec<Vec<PathBuf>> = Vec::new();
    let mut shared: Vec<(Format, usize)> = Vec::new();
    for path in paths {
        let format = match path == OsStr::new("-") || path.is_dir() {
            true => None,
            false => {
                let input = OpenedInput::open_raw(path)?;
                let format = Format::known(&input, path)?;
                let is_part = match format {
                    Format::Blocks => true,
                    Format::Dumpi => dumpi_run::is_file(&input),
                    _ => false,
                };
                is_part.then_some(format)
            }
        };
        let known = shared.iter().find(|(shared, _)| Some(*shared) == format);
        if let Some(&(_, position)) = known {
            traces[position].push(path.clone());
            continue;
        }
        shared.extend(format.map(|format| (format, traces.len())));
        traces.push(vec![path.clone()]);
    }
    Ok(traces)
}

/// The trace as it is, if it is an SLOG2 file.
fn slog2(files: &[PathBuf]) -> Result<Option<Mapped>, Failure> {
    let [path] = files else {
        return Ok(None);
    };
    if path == OsStr::new("-") || path.is_dir() {
        return Ok(None);
    }
    let input = OpenedInput::open_raw(path)?;
    if Format::known(&input, path)? != Format::Slog2 {
        return Ok(None);
    }
    match annotation::is_annotation(&input) {
        false => Mapped::open(path).map(Some),
        true => Ok(Some(Mapped::read(path, OpenedInput::open(path)?))),
    }
}

/// The trace as a temporary SLOG2 file, which has no name any more when it is open, and the format that it had.
fn converted(files: &[PathBuf], quiet: bool, ending: &Ending) -> Result<(Mapped, Format), Failure> {
    let trace = TraceInput::open_all(files)?;
    let folder = ending.makes(tempfile::tempdir, |folder| folder.path().to_path_buf());
    let folder = folder.map_err(|error| Failure::output("temporary folder", &error))?;
    let folder_path = folder.path().to_path_buf();
    let path = folder_path.join("trace.slog2");
    let target = Target::new(&path, Some(Format::Slog2), &TreeArguments::default())?;
    let losses = target.write(trace.source()?.as_ref(), quiet)?;
    report_losses_of_picture(losses, trace.name());
    let input = OpenedInput::open_raw(&path)?;
    // The mapping stays although its name is gone.
    drop(folder);
    ending.forgets(&folder_path);
    Ok((Mapped::read(trace.name(), input), trace.format))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_files_are_one_trace_and_others_one_each() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace-formats/tests/data");
        let slog2 = data.join("slog2/sample.slog2");
        let clog2 = data.join("clog2/small.clog2");
        let given = [slog2.clone(), clog2.clone(), slog2.clone()];
        let found = traces(&given).unwrap();
        assert_eq!(found, [[slog2.clone()], [clog2], [slog2]]);
        assert!(traces(&["/nowhere/a".into()]).is_err());
    }
}
