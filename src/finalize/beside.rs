//! What is made of the SLOG2 file when that has its name, and stands beside it: an OTF2 archive and a report. Whatever becomes of them, the trace is
//! there.

use super::report::shown;
use super::{written_archive, written_report};
use crate::platform::say::say;
use settings::Settings;
use std::path::{Path, PathBuf};

/// Makes what the settings ask for, in this process alone.
pub fn make(slog2: &Path, settings: &Settings) {
    if settings.outputs.otf2 {
        let archive = written_archive::write(slog2, settings);
        tell("OTF2 archive", archive, settings);
    }
    report(slog2, settings);
}

/// Makes the report, if the settings ask for it.
pub fn report(slog2: &Path, settings: &Settings) {
    if settings.report {
        let report = written_report::write(slog2, settings.deadline);
        tell("report", report, settings);
    }
}

/// Says where something is that was made of the trace, or why there is none.
pub fn tell(what: &str, made: Result<PathBuf, String>, settings: &Settings) {
    match made {
        Ok(_) if settings.quiet => {}
        Ok(path) => say!("trace: the {what} is in {}", shown(&path)),
        Err(why) => say!("trace: no {what}: {why}"),
    }
}
