//! `mpitrace join`: several CLOG2 files as one, in the bytes of clog2_join, or those of several MPI_COMM_WORLDs on one clock.

mod arguments;
mod worlds;

pub use arguments::Arguments;

use crate::failure::Failure;
use crate::terminal::tell;
use crate::trace_files::input::{OpenedInput, shown};
use crate::trace_files::shape::TreeArguments;
use crate::trace_files::target::Target;
use std::path::Path;
use trace_formats::clog2::{Clog2Reader, Clog2Writer, join, joined_preamble};

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Some((output, paths)) = arguments.files.split_last() else {
        return Err(Failure::Call("no files".into()));
    };
    if paths.is_empty() {
        let message = "expected a file to read, and behind it the file to write";
        return Err(Failure::Call(message.into()));
    }
    arguments.overwrite.allow(output, paths)?;
    let mut inputs = Vec::new();
    for path in paths {
        inputs.push(OpenedInput::open(path)?);
    }
    let mut readers = Vec::new();
    for (path, input) in paths.iter().zip(&inputs) {
        let reader = Clog2Reader::new(input);
        readers.push(reader.map_err(|e| Failure::in_file(e, shown(path)))?);
    }
    if arguments.worlds {
        return worlds::join(arguments, output, paths, &readers);
    }
    if let Some(option) = arguments.tree.given() {
        return Err(Failure::Call(format!(
            "{option} has no meaning without --worlds"
        )));
    }
    let target = Target::new(
        output,
        Some(crate::trace_files::format::Format::Clog2),
        &TreeArguments::default(),
    )?;
    let failed = |error: trace_formats::clog2::Clog2Error| match &error.kind {
        trace_formats::clog2::Clog2ErrorKind::Io(io) => Failure::output(output.display(), io),
        _ => Failure::Data(error.to_string()),
    };
    let joined = target.place(|path: &Path| {
        let writer = Clog2Writer::create(path, &joined_preamble(&readers)).map_err(failed)?;
        let (_, joined) = join(&readers, writer).map_err(failed)?;
        Ok(joined)
    })?;
    for index in &joined.without_table {
        let name = shown(&paths[*index]).display();
        tell!("mpitrace: warning: {name}: no communicator table; its COMM records stand in for it");
    }
    for (index, error) in joined.cut_off {
        let error = error.in_file(shown(&paths[index]));
        tell!("mpitrace: warning: {error}; what comes before is taken");
    }
    if !arguments.quiet {
        tell!(
            "mpitrace: {}: {} records of {} files",
            output.display(),
            joined.records,
            paths.len()
        );
    }
    Ok(())
}
