//! CLOG-1 as the text of clog_print; ALOG, which is text, as it is.

use super::Arguments;
use crate::failure::Failure;
use crate::trace_files::input::shown;
use crate::trace_files::mpe1;
use std::io::Write;
use trace_formats::{alog, clog1};

pub fn print_clog1(
    input: &[u8],
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let reader = mpe1::open(input, shown(&arguments.file))?;
    clog1::print::print(&reader, out)
        .map_err(|error| Failure::in_file_or_output(error, shown(&arguments.file), "stdout"))
}

pub fn print_alog(
    input: &[u8],
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let checked = alog::check(&alog::AlogReader::new(input));
    out.write_all(input)
        .map_err(|error| Failure::output("stdout", &error))?;
    checked
        .map(|_| ())
        .map_err(|error| Failure::in_file(error, shown(&arguments.file)))
}
