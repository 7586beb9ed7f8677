//! CLOG2 as the text of clog2_print or of the Java clog2print.

use super::Arguments;
use crate::failure::Failure;
use crate::trace_files::input::shown;
use std::io::Write;
use trace_formats::clog2::{ErrorKind, Reader, java, print};

pub fn print(input: &[u8], arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let printed = Reader::new(input).and_then(|reader| {
        if arguments.java {
            java::print(&reader, out)
        } else {
            print::print(&reader, out)
        }
    });
    printed.map_err(|error| match &error.kind {
        // The input is in memory, so only the output can fail.
        ErrorKind::Io(cause) => Failure::output("stdout", cause),
        _ => Failure::Data(error.in_file(shown(&arguments.file)).to_string()),
    })
}
