//! `mpitrace print`: a trace as text.

use crate::failure::Failure;
use crate::input::{Input, shown};
use formats::clog2;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Print a trace as text
///
/// What the file is, its content decides. The text is that of clog2_print, slog2print or dumpi2ascii.
#[derive(clap::Args)]
pub struct Arguments {
    /// The file; - is stdin
    file: PathBuf,
    /// CLOG2: the text of the Java clog2print
    #[arg(long)]
    java: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let input = Input::open(&arguments.file)?;
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let printed = if clog2::Reader::recognises(&input) {
        print_clog2(&input, arguments, &mut out)
    } else {
        let message = "neither a CLOG2 nor an SLOG2 nor a DUMPI file";
        Err(Failure::Data(format!(
            "{}: {message}",
            shown(&arguments.file).display()
        )))
    };
    // What was printed of a bad file is shown before its error.
    out.flush()
        .map_err(|error| Failure::output("stdout", &error))?;
    printed
}

fn print_clog2(input: &[u8], arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    clog2::Reader::new(input)
        .and_then(|reader| {
            if arguments.java {
                clog2::java::print(&reader, out)
            } else {
                clog2::print::print(&reader, out)
            }
        })
        .map_err(|error| clog2_failure(error, &arguments.file))
}

/// The failure an error of a CLOG2 file, or of printing it, amounts to.
pub fn clog2_failure(error: clog2::Error, file: &Path) -> Failure {
    match &error.kind {
        clog2::ErrorKind::Io(cause) => Failure::output("stdout", cause),
        _ => Failure::Data(error.in_file(shown(file)).to_string()),
    }
}
