//! A Pajé trace as the text of pj_dump.

use super::Arguments;
use crate::failure::Failure;
use crate::terminal::tell;
use crate::trace_files::input::shown;
use std::io::Write;
use trace_formats::paje::{PajePrintOptions, print as print_trace};

pub fn print(input: &[u8], arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let trace = crate::trace_files::paje::trace(input, &arguments.file);
    let options = PajePrintOptions {
        user_defined: arguments.user_defined,
        ignore_incomplete_links: arguments.ignore_incomplete_links,
        precision: arguments.float_precision.map_or(6, usize::from),
        header: arguments.header,
    };
    let printed =
        print_trace(&trace, &options, out).map_err(|error| Failure::output("stdout", &error))?;
    let name = shown(&arguments.file);
    for warning in &printed.warnings {
        tell!("mpitrace: warning: {}: {warning}", name.display());
    }
    match printed.error {
        Some(error) => Err(Failure::in_file(error, name)),
        None => Ok(()),
    }
}
