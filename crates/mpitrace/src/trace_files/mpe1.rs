//! From ALOG and CLOG-1 to each other and to themselves: event by event, so that more is kept than drawables can hold.

use crate::failure::Failure;
use crate::trace_files::format::Format;
use crate::trace_files::target::Target;
use crate::trace_files::trace::Trace;
use std::io::Write;
use std::path::Path;
use trace_formats::clog2::Endian;
use trace_formats::{alog, clog1};
use trace_model::Losses;

/// Opens a CLOG-1 file, and says on stderr if it is an odd one.
pub fn open<'a>(bytes: &'a [u8], name: &Path) -> Result<clog1::Reader<'a>, Failure> {
    let reader = clog1::Reader::new(bytes)
        .map_err(|error| Failure::Data(error.in_file(name).to_string()))?;
    let layout = reader.layout();
    let name = name.display();
    if layout.endian == Endian::Little {
        eprintln!(
            "mpitrace: note: {name}: is little-endian, which CLOG-1 files are not; read as it is"
        );
    }
    if !layout.is_padded {
        eprintln!(
            "mpitrace: note: {name}: has the records of MPICH 1.1.0 and older, whose texts begin 4 bytes earlier"
        );
    }
    Ok(reader)
}

/// A CLOG-1 file as drawables.
pub fn source<'a>(bytes: &'a [u8], name: &Path) -> Result<clog1::Source<'a>, Failure> {
    match clog1::Source::salvaged(open(bytes, name)?) {
        (source, None) => Ok(source),
        (_, Some(error)) => Err(Failure::Data(error.in_file(name).to_string())),
    }
}

/// Converts one to the other, or copies: a CLOG-1 file then gets blocks of the usual size and no bytes without meaning.
pub fn convert(trace: &Trace, target: &Target) -> Result<Losses, Failure> {
    let no_output = |error| Failure::output(target.path.display(), &error);
    target.fill(|mut out| {
        let losses = match (trace.format, target.format) {
            (Format::Alog, Format::Alog) => {
                alog::check(&alog::Reader::new(trace.bytes()))
                    .map_err(|error| Failure::Data(error.in_file(trace.name()).to_string()))?;
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

fn from_alog(trace: &Trace, target: &Target, out: &mut impl Write) -> Result<Losses, Failure> {
    match clog1::from_alog(&alog::Reader::new(trace.bytes()), out) {
        Ok((_, losses)) => Ok(losses),
        Err(clog1::FromAlogError::Alog(error)) => {
            Err(Failure::Data(error.in_file(trace.name()).to_string()))
        }
        Err(clog1::FromAlogError::Clog1(error)) => Err(clog1_output(error, target)),
    }
}

/// The bytes of clog2alog.
fn to_alog(trace: &Trace, target: &Target, out: &mut impl Write) -> Result<Losses, Failure> {
    let reader = open(trace.bytes(), trace.name())?;
    match alog::from_clog1(&reader, out) {
        Ok(losses) => Ok(losses),
        Err(alog::FromClog1Error::Clog1(error)) => Err(clog1_input(error, trace)),
        Err(alog::FromClog1Error::Alog(error)) => match &error.kind {
            alog::ErrorKind::Io(cause) => Err(Failure::output(target.path.display(), cause)),
            _ => Err(Failure::Data(error.in_file(&target.path).to_string())),
        },
    }
}

fn copy(trace: &Trace, target: &Target, out: &mut impl Write) -> Result<Losses, Failure> {
    let reader = open(trace.bytes(), trace.name())?;
    let mut writer = clog1::Writer::new(out, clog1::Layout::default());
    for record in reader.records() {
        let record = record.map_err(|error| clog1_input(error, trace))?;
        let written = writer.write(&record);
        written.map_err(|error| clog1_output(error, target))?;
    }
    let finished = writer.finish();
    finished.map_err(|error| clog1_output(error, target))?;
    Ok(Losses::default())
}

fn clog1_input(error: clog1::Error, trace: &Trace) -> Failure {
    Failure::Data(error.in_file(trace.name()).to_string())
}

fn clog1_output(error: clog1::Error, target: &Target) -> Failure {
    match &error.kind {
        clog1::ErrorKind::Io(cause) => Failure::output(target.path.display(), cause),
        _ => Failure::Data(error.in_file(&target.path).to_string()),
    }
}
