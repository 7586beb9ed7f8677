//! `mpitrace repair`: completes CLOG2 files that a crash cut off, as clog2_repair was meant to.

use crate::failure::Failure;
use crate::terminal::tell;
use crate::trace_files::format::Format;
use crate::trace_files::input::{OpenedInput, shown};
use crate::trace_files::overwrite::Overwrite;
use crate::trace_files::shape::TreeArguments;
use crate::trace_files::target::Target;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use trace_formats::clog2::{self, Clog2Reader, Clog2Writer, Repair, repair};

/// Complete a CLOG2 file that was cut off
///
/// The command keeps every sound record, block by block, ends the log, rebuilds a missing communicator table, and
/// prints what was lost. After a crash, repair the local files of the ranks and then join them with `mpitrace join`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace repair cut.clog2 whole.clog2
  mpitrace repair --in-place /tmp/clog2_taskID=0000_k3rXq9")]
pub struct Arguments {
    /// The CLOG2 file; - is stdin
    input: PathBuf,
    /// The file to write; - is stdout
    #[arg(required_unless_present = "in_place", conflicts_with = "in_place")]
    output: Option<PathBuf>,
    /// Replace the file by the repaired one, if there is anything to repair
    #[arg(long)]
    in_place: bool,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print nothing if the file is sound
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(output) = &arguments.output {
        let inputs = [&arguments.input];
        arguments.overwrite.allow(output, &inputs)?;
    }
    let input = OpenedInput::open(&arguments.input)?;
    let name = shown(&arguments.input);
    let output = arguments.output.as_ref().unwrap_or(&arguments.input);
    let bad = |error: clog2::Clog2Error| Failure::in_file_or_output(error, name, output.display());
    let reader = Clog2Reader::new(&input).map_err(bad)?;
    if arguments.in_place && arguments.input == OsStr::new("-") {
        return Err(Failure::Call("--in-place needs a file".into()));
    }
    let target = Target::new(output, Some(Format::Clog2), &TreeArguments::default())?;
    let repaired = if arguments.in_place && is_sound(&reader) {
        None
    } else {
        let made = target.place(|path: &Path| {
            let writer = Clog2Writer::create(path, reader.preamble()).map_err(bad)?;
            let (_, repair) = repair(&reader, writer).map_err(bad)?;
            Ok(repair)
        });
        Some(made?)
    };
    match &repaired {
        Some(repair) if !repair.was_sound() => report(repair, name),
        _ if !arguments.quiet => tell!("mpitrace: {}: nothing to repair", name.display()),
        _ => {}
    }
    Ok(())
}

fn is_sound(reader: &Clog2Reader<'_>) -> bool {
    reader.comm_table().is_ok() && reader.records().all(|record| record.is_ok())
}

/// Says what was wrong, and what of it is lost.
fn report(repair: &Repair, name: &Path) {
    let name = name.display();
    for damage in &repair.damage {
        tell!("mpitrace: {name}: {damage}");
    }
    if repair.damages > repair.damage.len() as u64 {
        let more = repair.damages - repair.damage.len() as u64;
        tell!("mpitrace: {name}: and {more} places of damage more");
    }
    if repair.had_no_end {
        tell!(
            "mpitrace: {name}: the log had no end: what the process held in memory, the definitions of its states \
             among it, is lost"
        );
    }
    if repair.had_no_table {
        tell!("mpitrace: {name}: the communicator table was made from the COMM records");
    }
    tell!(
        "mpitrace: {name}: {} records kept, {} bytes and {} records lost",
        repair.records,
        repair.bytes_lost,
        repair.records_lost
    );
}
