//! DUMPI as the text of dumpi2ascii.

use super::Arguments;
use crate::failure::Failure;
use crate::trace_files::input::shown;
use std::io::Write;
use trace_formats::dumpi::print::{PrintError, Sections, Zone, print as print_sections};
use trace_formats::dumpi::read::DumpiReader;

pub fn print(input: &[u8], arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let name = shown(&arguments.file).display();
    let bad = |error: &dyn std::fmt::Display| Failure::Data(format!("{name}: {error}"));
    // Of a file that was never completed (a killed run) the calls that are whole are shown, then the error.
    let (reader, incomplete) = match DumpiReader::open(input) {
        Ok(reader) => (reader, None),
        Err(error) => (
            DumpiReader::salvage(input).map_err(|_| bad(&error))?,
            Some(error),
        ),
    };
    match print_sections(&reader, sections(arguments), Zone::Local, out) {
        Err(PrintError::Output(error)) => Err(Failure::output("stdout", &error)),
        Err(PrintError::Input(error)) => Err(bad(incomplete.as_ref().unwrap_or(&error))),
        Ok(()) => incomplete.map_or(Ok(()), |error| Err(bad(&error))),
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
