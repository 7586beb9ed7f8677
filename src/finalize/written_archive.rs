//! The OTF2 archive beside the trace (word `otf2` of the setting `outputs`): what `mpitrace convert` makes of the SLOG2 file.

use super::command::CommandRun;
use crate::platform::environment;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Writes the archive of a SLOG2 file beside it, as the folder `NAME.otf2`. One that is there already stays unless `replace` says otherwise.
/// Gives the path.
///
/// # Errors
/// Why there is none, in words.
pub fn write(slog2: &Path, replace: bool, deadline: Option<Duration>) -> Result<PathBuf, String> {
    let slog2 = environment::home().join(slog2);
    let path = slog2.with_extension("otf2");
    let options = ["--quiet", "--to", "otf2", "--force", "--"].map(OsStr::new);
    let options = options.iter().filter(|word| replace || **word != "--force");
    let files = [slog2.as_os_str(), path.as_os_str()];
    let run = CommandRun {
        subcommand: "convert",
        words: &options.copied().chain(files).collect::<Vec<_>>(),
        folder: slog2.parent().unwrap_or(Path::new(".")),
        out: None,
        deadline,
    };
    run.run()?;
    Ok(path)
}
