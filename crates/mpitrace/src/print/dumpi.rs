//! DUMPI as the text of dumpi2ascii.

use super::Arguments;
use crate::failure::Failure;
use crate::trace_files::dumpi_run;
use crate::trace_files::input::shown;
use std::io::Write;
use std::path::Path;
use trace_formats::dumpi::print::{PrintError, Sections, Zone, print as print_sections};
use trace_formats::dumpi::read::DumpiReader;

pub fn print(input: &[u8], arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let name = shown(&arguments.file);
    dumpi_run::refuse_meta(input, name)?;
    let (reader, incomplete) = open_or_salvage(input, name)?;
    match print_sections(&reader, sections(arguments), Zone::Local, out) {
        Err(PrintError::Output(error)) => Err(Failure::output("stdout", &error)),
        Err(PrintError::Input(error)) => {
            Err(incomplete.unwrap_or_else(|| Failure::file(name, error)))
        }
        Ok(()) => incomplete.map_or(Ok(()), Err),
    }
}

/// Opens a DUMPI file. Of one that was never completed (a killed run) the calls that are whole can be read; then the failure says what is wrong
/// with it.
///
/// # Errors
/// When nothing of it can be read.
pub fn open_or_salvage<'a>(
    input: &'a [u8],
    name: &Path,
) -> Result<(DumpiReader<'a>, Option<Failure>), Failure> {
    match DumpiReader::open(input) {
        Ok(reader) => Ok((reader, None)),
        Err(error) => {
            let salvaged = DumpiReader::salvage(input).ok();
            let failure = Failure::file(name, error);
            match salvaged {
                Some(reader) => Ok((reader, Some(failure))),
                None => Err(failure),
            }
        }
    }
}

/// Sections that dumpi2ascii's options select; without any, the stream.
fn sections(arguments: &Arguments) -> Sections {
    let chosen = Sections {
        header: arguments.header,
        stream: arguments.stream,
        keyvals: arguments.keyvals,
        footer: arguments.footer,
        perf_labels: arguments.perf,
        address_labels: arguments.addresses,
        type_sizes: arguments.sizes,
    };
    if arguments.a {
        Sections::ALL
    } else if chosen == Sections::default() {
        Sections::STREAM
    } else {
        chosen
    }
}
