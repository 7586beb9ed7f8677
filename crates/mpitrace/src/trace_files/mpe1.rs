//! Conversion between ALOG and CLOG-1 event by event, so that more is kept than drawables can hold.

use crate::failure::Failure;
use crate::terminal::tell;
use crate::trace_files::format::Format;
use crate::trace_files::target::Target;
use crate::trace_files::trace::TraceInput;
use std::io::Write;
use std::path::Path;
use trace_formats::clog2::Endian;
use trace_formats::{alog, clog1};
use trace_model::{Fault, FaultKind, Losses};

/// Opens a CLOG-1 file, and says on stderr if it is an odd one.
pub fn open<'a>(bytes: &'a [u8], name: &Path) -> Result<clog1::Clog1Reader<'a>, Failure> {
    let reader = clog1::Clog1Reader::new(bytes).map_err(|error| Failure::in_file(error, name))?;
    let layout = reader.layout();
    let name = name.display();
    if layout.endian == Endian::Little {
        tell!(
            "mpitrace: note: {name}: is little-endian, which CLOG-1 files are not; read as it is"
        );
    }
    if !layout.is_padded {
        tell!(
            "mpitrace: note: {name}: has the records of MPICH 1.1.0 and older, whose texts begin 4 bytes earlier"
        );
    }
    Ok(reader)
}

/// A CLOG-1 file as drawables.
pub fn source<'a>(bytes: &'a [u8], name: &Path) -> Result<clog1::Clog1Source<'a>, Failure> {
    match clog1::Clog1Source::salvaged(open(bytes, name)?) {
        (source, None) => Ok(source),
        (_, Some(error)) => Err(Failure::in_file(error, name)),
    }
}

/// Converts one to the other, or copies: a CLOG-1 file then gets blocks of the usual size and no bytes without meaning.
pub fn convert(trace: &TraceInput, target: &Target) -> Result<Losses, Failure> {
    let no_output = |error| Failure::output(target.path.display(), &error);
    target.fill(|mut out| {
        let losses = match (trace.format, target.format) {
            (Format::Alog, Format::Alog) => {
                alog::check(&alog::AlogReader::new(trace.bytes()))
                    .map_err(|error| Failure::in_file(error, trace.name()))?;
                out.write_all(trace.bytes()).map_err(no_output)?;
                Losses::default()
            }
            (Format::Alog, _) => from_alog(trace, target, &mut out)?,
            (_, Format::Alog) => to_alog(trace, target, &mut out)?,
            _ => copy(trace, target, &mut out)?,
        };
        Ok((out, losses))
    })
}

fn from_alog(trace: &TraceInput, target: &Target, out: &mut impl Write) -> Result<Losses, Failure> {
    match clog1::from_alog(&alog::AlogReader::new(trace.bytes()), out) {
        Ok((_, losses)) => Ok(losses),
        Err(clog1::FromAlogError::Input(error)) => Err(Failure::in_file(error, trace.name())),
        Err(clog1::FromAlogError::Output(error)) => Err(written(error, target)),
    }
}

/// The bytes of clog2alog.
fn to_alog(trace: &TraceInput, target: &Target, out: &mut impl Write) -> Result<Losses, Failure> {
    let reader = open(trace.bytes(), trace.name())?;
    match alog::from_clog1(&reader, out) {
        Ok(losses) => Ok(losses),
        Err(alog::AlogFromClog1Error::Input(error)) => Err(Failure::in_file(error, trace.name())),
        Err(alog::AlogFromClog1Error::Output(error)) => Err(written(error, target)),
    }
}

fn copy(trace: &TraceInput, target: &Target, out: &mut impl Write) -> Result<Losses, Failure> {
    let reader = open(trace.bytes(), trace.name())?;
    let mut writer = clog1::Clog1Writer::new(out, clog1::Clog1Layout::default());
    for record in reader.records() {
        let record = record.map_err(|error| Failure::in_file(error, trace.name()))?;
        let result = writer.write(&record);
        result.map_err(|error| written(error, target))?;
    }
    let finished = writer.finish();
    finished.map_err(|error| written(error, target))?;
    Ok(Losses::default())
}

/// Turns an error about the output into a failure that names it.
fn written<K: FaultKind>(error: Fault<K>, target: &Target) -> Failure {
    Failure::in_file_or_output(error, &target.path, target.path.display())
}
