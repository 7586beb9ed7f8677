//! The traces that are shown: opened where they are SLOG2 files, made into one first where they are of another format.

use super::ending::Ending;
use super::mapped::Mapped;
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
    /// The file that is shown as it is, and can be opened again; `None` for a trace that was converted or read.
    pub file: Option<PathBuf>,
    /// Number of the trace that was opened in place of this one, after its file had changed.
    pub instead: OnceLock<usize>,
    /// Report for comparisons with other traces, made when it is first wanted.
    pub report: OnceLock<PerformanceReport>,
}

impl OpenedTrace {
    /// Why what was read must not be trusted any more.
    pub fn trouble(&self) -> Option<String> {
        let torn = self.index.filter(|index| index.is_torn());
        (self.mapped.trouble()).or_else(|| torn.and_then(Mapped::trouble))
    }
}

/// Opens the traces that these files make up.
pub fn open(paths: &[PathBuf], quiet: bool, ending: &Ending) -> Result<Vec<OpenedTrace>, Failure> {
    let mut opened = Vec::new();
    for files in traces(paths)? {
        let path = files.first().map_or(Path::new(""), |path| shown(path));
        opened.push(match slog2(&files)? {
            Some(mapped) => of(path, mapped, true)?,
            None => of(path, converted(&files, quiet, ending)?, false)?,
        });
    }
    Ok(opened)
}

/// Opens the file of a trace again, which has another content now.
pub fn reopen(path: &Path) -> Result<OpenedTrace, Failure> {
    let found =
        || slog2(&[path.to_path_buf()])?.ok_or(Failure::file(path, "is no SLOG2 file any more"));
    // What is shown stays open for good: what cannot be shown, since it is still being written, must not.
    let attempt = found()?;
    let bad = |error: ApiError| Failure::file(path, error);
    Viewer::new("", &attempt, AnswerLimits::default()).map_err(bad)?;
    of(path, found()?, true)
}

/// The trace in these bytes. `is_own` says that they are those of the file, which was not converted.
fn of(path: &Path, mapped: Mapped, is_own: bool) -> Result<OpenedTrace, Failure> {
    // Whoever answers questions holds on to the bytes, and both stay until the end.
    let mapped: &'static Mapped = Box::leak(Box::new(mapped));
    let bad = |error: ApiError| Failure::file(path, error);
    let name = folder::name_of(path);
    let viewer = Viewer::new(&name, mapped, AnswerLimits::default()).map_err(bad)?;
    let reader = viewer.trace().reader();
    let store = is_own.then(|| CacheFolder::of(path, reader, mapped, cache_folder()));
    Ok(OpenedTrace {
        store: store.and_then(Result::ok),
        index: None,
        file: is_own.then(|| path.to_path_buf()),
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

/// The trace as a temporary SLOG2 file, which has no name any more when it is open.
fn converted(files: &[PathBuf], quiet: bool, ending: &Ending) -> Result<Mapped, Failure> {
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
    Ok(Mapped::read(trace.name(), input))
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
