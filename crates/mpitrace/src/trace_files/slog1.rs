//! Making SLOG-1 files: the options of their frames, and conversion as by clog2slog.

use crate::failure::Failure;
use crate::trace_files::target::Target;
use crate::trace_files::trace::TraceInput;
use trace_formats::{clog1, slog1};
use trace_model::Losses;
use trace_model::PendingFile;

/// Copies an SLOG-1 file without changes.
pub fn copy(trace: &TraceInput, target: &Target) -> Result<Losses, Failure> {
    let failed = |error: slog1::Slog1Error| {
        Failure::in_file_or_output(error, trace.name(), target.path.display())
    };
    let reader = slog1::Slog1Reader::new(trace.bytes()).map_err(failed)?;
    // That a file which is cut off is not taken for a whole one.
    reader
        .statistics()
        .map(drop)
        .or_else(|error| match error.kind {
            slog1::Slog1ErrorKind::NoStatistics => Ok(()),
            _ => Err(failed(error)),
        })?;
    target.fill(|mut out| {
        slog1::copy(&reader, &mut out).map_err(failed)?;
        Ok((out, Losses::default()))
    })
}

/// The bytes of clog2slog. Of a file that is cut off, what is there.
pub fn from_clog1(trace: &TraceInput, target: &Target) -> Result<Losses, Failure> {
    let bad = |error: clog1::Clog1Error| Failure::in_file(error, trace.name());
    let reader = clog1::Clog1Reader::new(trace.bytes()).map_err(bad)?;
    target.place(|path| {
        let create = || PendingFile::create(path);
        let made = slog1::from_clog1(&reader, create, &target.frames.options());
        let (file, conversion) = made.map_err(|error| match error {
            slog1::Slog1FromClog1Error::Clog1(error) => bad(error),
            slog1::Slog1FromClog1Error::Slog1(error) => {
                Failure::in_file_or_output(error, &target.path, target.path.display())
            }
            error => Failure::file(trace.name(), error),
        })?;
        if let Some(error) = conversion.cut {
            return Err(bad(error));
        }
        file.persist()
            .map_err(|error| Failure::output(target.path.display(), &error))?;
        Ok(conversion.losses)
    })
}
