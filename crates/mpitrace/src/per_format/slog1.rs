//! What is special in making SLOG-1 files: the options of their frames, and what clog2slog did.

use crate::failure::Failure;
use crate::traces::{Target, Trace};
use crate::tree::size;
use trace_formats::model::Losses;
use trace_formats::{PendingFile, clog1, slog1};

const HEADING: &str = "Frames of an SLOG-1 file";

/// Frames of an SLOG-1 file.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct FrameArguments {
    /// Bytes of a frame; with k or m, that many KiB or MiB [default: 64k, and twice as much until all fits]
    #[arg(long, help_heading = HEADING, value_name = "BYTES", value_parser = size)]
    pub frame: Option<i32>,
    /// Frames in a directory [default: as many as are needed]
    #[arg(long, help_heading = HEADING, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub frames: Option<u32>,
}

impl FrameArguments {
    /// The options of the writer.
    pub fn options(&self) -> slog1::Options {
        slog1::Options {
            frame_size: self.frame.map(i32::unsigned_abs),
            frames_per_directory: self.frames,
        }
    }

    /// The first of the options that was given, for outputs where they mean nothing.
    pub fn given(&self) -> Option<&'static str> {
        let frames = self.frames.is_some().then_some("--frames");
        self.frame.is_some().then_some("--frame").or(frames)
    }
}

/// The same file again, without changes.
pub fn copy(trace: &Trace, target: &Target) -> Result<Losses, Failure> {
    let failed = |error: slog1::Error| match &error.kind {
        slog1::ErrorKind::Io(cause) => Failure::output(target.path.display(), cause),
        _ => Failure::Data(error.in_file(trace.name()).to_string()),
    };
    let reader = slog1::Reader::new(trace.bytes()).map_err(failed)?;
    // That a file which is cut off is not taken for a whole one.
    reader
        .statistics()
        .map(drop)
        .or_else(|error| match error.kind {
            slog1::ErrorKind::NoStatistics => Ok(()),
            _ => Err(failed(error)),
        })?;
    target.fill(|mut out| {
        slog1::copy(&reader, &mut out).map_err(failed)?;
        Ok((out, Losses::default()))
    })
}

/// The bytes of clog2slog. Of a file that is cut off, what is there.
pub fn from_clog1(trace: &Trace, target: &Target) -> Result<Losses, Failure> {
    let bad = |error: clog1::Error| Failure::Data(error.in_file(trace.name()).to_string());
    let reader = clog1::Reader::new(trace.bytes()).map_err(bad)?;
    target.place(|path| {
        let create = || PendingFile::create(path);
        let made = slog1::from_clog1(&reader, create, &target.frames.options());
        let (file, conversion) = made.map_err(|error| match error {
            slog1::FromClog1Error::Clog1(error) => bad(error),
            slog1::FromClog1Error::Slog1(error) => match &error.kind {
                slog1::ErrorKind::Io(cause) => Failure::output(target.path.display(), cause),
                _ => Failure::Data(error.in_file(&target.path).to_string()),
            },
            error => Failure::Data(format!("{}: {error}", trace.name().display())),
        })?;
        if let Some(error) = conversion.cut {
            return Err(bad(error));
        }
        file.persist()
            .map_err(|error| Failure::output(target.path.display(), &error))?;
        Ok(conversion.losses)
    })
}
