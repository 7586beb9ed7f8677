//! SLOG-1 as the text of slog_print.

use super::Arguments;
use crate::failure::Failure;
use crate::trace_files::input::shown;
use std::io::Write;
use trace_formats::slog1::{Slog1Reader, print as print_all};

pub fn print(input: &[u8], arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let name = arguments.file.as_os_str().as_encoded_bytes();
    let printed = Slog1Reader::new(input).and_then(|reader| print_all(&reader, name, out));
    printed.map_err(|error| Failure::in_file_or_output(error, shown(&arguments.file), "stdout"))
}
