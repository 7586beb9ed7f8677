//! The report beside the trace (setting `report`): what `mpitrace report` prints.

use super::command::CommandRun;
use crate::platform::environment;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use trace_model::PendingFile;

/// Writes the report on a SLOG2 file beside it, as `NAME.report.txt`. Gives the path.
///
/// # Errors
/// Why there is none, in words.
pub fn write(slog2: &Path, deadline: Option<Duration>) -> Result<PathBuf, String> {
    let slog2 = environment::home().join(slog2);
    let path = slog2.with_extension("report.txt");
    let unwritten = |error: io::Error| format!("{}: {error}", path.display());
    let report = PendingFile::create_regular(&path).map_err(unwritten)?;
    let run = CommandRun {
        subcommand: "report",
        words: &[OsStr::new("--quiet"), OsStr::new("--"), slog2.as_os_str()],
        folder: slog2.parent().unwrap_or(Path::new(".")),
        out: Some(report.file()),
        deadline,
    };
    run.run()?;
    let written = report.file().metadata().map_err(unwritten)?.len();
    if written == 0 {
        return Err("mpitrace report: it printed nothing".to_owned());
    }
    report.persist().map_err(unwritten)?;
    Ok(path)
}
