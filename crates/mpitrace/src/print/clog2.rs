//! CLOG2 as the text of clog2_print or of the Java clog2print.

use super::Arguments;
use crate::failure::Failure;
use crate::trace_files::input::shown;
use std::io::Write;
use trace_formats::clog2::{Clog2Reader, java, print};

pub fn print(input: &[u8], arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let printed = Clog2Reader::new(input).and_then(|reader| {
        if arguments.java {
            java::print(&reader, out)
        } else {
            print::print(&reader, out)
        }
    });
    printed.map_err(|error| Failure::in_file_or_output(error, shown(&arguments.file), "stdout"))
}
