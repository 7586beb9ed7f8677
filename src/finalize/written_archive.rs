//! The OTF2 archive beside the trace (word `otf2` of the setting `outputs`), made by one process: what `mpitrace convert` makes of the SLOG2 file.

use super::command::CommandRun;
use crate::platform::environment;
use settings::Settings;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Path of the archive of a SLOG2 file: the folder `NAME.otf2` beside it.
pub fn path_for(slog2: &Path) -> PathBuf {
    slog2.with_extension("otf2")
}

/// Writes the archive of a SLOG2 file beside it. One that is there already stays unless the settings say otherwise. Gives the path.
///
/// # Errors
/// Why there is none, in words.
pub fn write(slog2: &Path, settings: &Settings) -> Result<PathBuf, String> {
    convert(slog2, &[], settings.overwrite, settings.deadline)
}

/// Has the command make the archive of a SLOG2 file, with these further options. One that is there already is replaced if `replace` says so. Gives
/// the path.
///
/// # Errors
/// Why there is none, in words.
pub fn convert(
    slog2: &Path,
    more: &[&OsStr],
    replace: bool,
    deadline: Option<Duration>,
) -> Result<PathBuf, String> {
    let slog2 = environment::home().join(slog2);
    let path = path_for(&slog2);
    let options = ["--quiet", "--to", "otf2", "--force"].map(OsStr::new);
    let options = options.into_iter();
    let options = options.filter(|word| replace || *word != "--force");
    let files = [OsStr::new("--"), slog2.as_os_str(), path.as_os_str()];
    let run = CommandRun {
        subcommand: "convert",
        words: &options
            .chain(more.iter().copied())
            .chain(files)
            .collect::<Vec<_>>(),
        folder: slog2.parent().unwrap_or(Path::new(".")),
        out: None,
        deadline,
    };
    run.run()?;
    Ok(path)
}
