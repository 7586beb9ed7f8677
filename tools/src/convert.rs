//! `mpitrace convert`: CLOG2 to SLOG2, with the builder that the recorder uses at MPI_Finalize.

use crate::failure::Failure;
use crate::input::{Input, shown};
use formats::slog2::{
    Conversion, ConvertError, ConvertOptions, ErrorKind, Options, PendingFile, convert,
};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Cursor, Write};
use std::path::{Path, PathBuf};

/// Convert a CLOG2 file to SLOG2
///
/// Says on stderr what came out, and what was odd in the log. The output gets its name when it is complete.
#[derive(clap::Args)]
pub struct Arguments {
    /// The merged CLOG2 file; - is stdin
    input: PathBuf,
    /// The SLOG2 file to write; - is stdout
    output: PathBuf,
    /// Children of each inner node of the tree
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(i16).range(2..))]
    children: i16,
    /// Bytes of a leaf of the tree; with k or m, that many KiB or MiB
    #[arg(long, value_name = "BYTES", default_value = "64k", value_parser = size)]
    leaf: i32,
    /// Tell of drawables that do not come in order of increasing end time
    #[arg(long)]
    check: bool,
    /// Say nothing if all went well
    #[arg(short, long)]
    quiet: bool,
}

/// Warnings that are shown in full.
const SHOWN: usize = 10;

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let input = Input::open(&arguments.input)?;
    let options = ConvertOptions {
        tree: Options {
            children_per_node: arguments.children,
            leaf_byte_size: arguments.leaf,
        },
        check_end_times: arguments.check,
    };
    let output = &arguments.output;
    let failed = |error: ConvertError| failure(error, &arguments.input, output);
    let no_output = |error: io::Error| Failure::output(output.display(), &error);
    let conversion = if output == OsStr::new("-") {
        // The header is written last, so the file is made in memory first.
        let (file, conversion) =
            convert(&input, Cursor::new(Vec::new()), options).map_err(failed)?;
        io::stdout()
            .lock()
            .write_all(file.get_ref())
            .map_err(|error| Failure::output("stdout", &error))?;
        conversion
    } else if fs::metadata(output).is_ok_and(|found| !found.is_file()) {
        // A device must not be replaced by a file of its name.
        convert(&input, File::create(output).map_err(no_output)?, options)
            .map_err(failed)?
            .1
    } else {
        let file = PendingFile::create(output).map_err(no_output)?;
        let (file, conversion) = convert(&input, file, options).map_err(failed)?;
        file.persist().map_err(no_output)?;
        conversion
    };
    if !arguments.quiet {
        report(&conversion, output);
    }
    Ok(())
}

fn failure(error: ConvertError, input: &Path, output: &Path) -> Failure {
    let input = shown(input);
    match error {
        ConvertError::Clog2(error) => Failure::Data(error.in_file(input).to_string()),
        ConvertError::LittleEndian => Failure::Data(format!("{}: {error}", input.display())),
        ConvertError::Slog2(error) => match error.kind {
            ErrorKind::NoDrawables => Failure::Data(format!("{}: {error}", input.display())),
            _ => Failure::Data(error.in_file(output).to_string()),
        },
    }
}

/// The last lines of clog2TOslog2 in short, on stderr, and what the conversion passed over.
fn report(conversion: &Conversion, output: &Path) {
    let warnings = &conversion.warnings;
    for warning in warnings.first.iter().take(SHOWN) {
        eprintln!("mpitrace: warning: {warning}");
    }
    let shown = warnings.first.len().min(SHOWN) as u64;
    if warnings.total > shown {
        eprintln!("mpitrace: and {} warnings more", warnings.total - shown);
    }
    eprintln!(
        "mpitrace: {}: {} drawables, {} unmatched events, {} bytes of records, tree of depth {}",
        output.display(),
        conversion.drawables,
        conversion.unmatched_events,
        conversion.record_bytes,
        conversion.header.max_depth
    );
}

/// A number of bytes with an optional suffix, at least 1.
pub fn size(text: &str) -> Result<i32, String> {
    let (digits, unit) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1 << 10),
        None => text
            .strip_suffix(['m', 'M'])
            .map_or((text, 1), |digits| (digits, 1 << 20)),
    };
    let bytes = digits
        .parse::<i32>()
        .ok()
        .and_then(|number| number.checked_mul(unit));
    bytes
        .filter(|&bytes| bytes > 0)
        .ok_or_else(|| "expected a number of bytes from 1 to 2047m".to_string())
}
