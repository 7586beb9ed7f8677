//! `mpitrace updates`: SLOG2 files of version 2.0.5 to 2.0.6, as slog2updater.

use crate::failure::Failure;
use crate::terminal::tell;
use crate::trace_files::format::Format;
use crate::trace_files::input::{OpenedInput, shown};
use crate::trace_files::overwrite::Overwrite;
use crate::trace_files::shape::TreeArguments;
use crate::trace_files::target::Target;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use trace_formats::slog2::{Slog2Error, Slog2Layout, Slog2Reader, TreeOptions, update};

/// Convert an SLOG2 file of version 2.0.5 to 2.0.6
///
/// The tree is rebuilt from the drawables in order of increasing end time, with the counts and summaries that version
/// 2.0.5 lacks. Unlike slog2updater, the command keeps drawables that end where the log begins, and its summaries are
/// correct.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace updates old.slog2                  writes old.slog2.slog2, as slog2updater
  mpitrace updates old.slog2 new.slog2
  mpitrace updates --leaf auto old.slog2 new.slog2")]
pub struct Arguments {
    /// The file of version 2.0.5; - is stdin
    input: PathBuf,
    /// The file to write; - is stdout [default: the name that slog2updater gives]
    output: Option<PathBuf>,
    #[command(flatten)]
    tree: TreeArguments,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print nothing if all goes well
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let name = shown(&arguments.input);
    let output = match &arguments.output {
        Some(output) => output.clone(),
        None if arguments.input == OsStr::new("-") => {
            return Err(Failure::Call("stdin needs an output".into()));
        }
        None => default_name(&arguments.input),
    };
    let inputs = [&arguments.input];
    arguments.overwrite.allow(&output, &inputs)?;
    let input = OpenedInput::open(&arguments.input)?;
    let reader =
        Slog2Reader::new(&input).map_err(|error: Slog2Error| Failure::in_file(error, name))?;
    if reader.layout() == Slog2Layout::V206 {
        let message = "of version 2.0.6 already";
        return Err(Failure::Data(format!("{}: {message}", name.display())));
    }
    let target = Target::new(&output, Some(Format::Slog2), &arguments.tree)?;
    let count = write_updated(&reader, name, &target)?;
    if !arguments.quiet {
        tell!("mpitrace: {}: {count} drawables", output.display());
    }
    Ok(())
}

/// Writes the file of version 2.0.6, and gives its number of drawables.
pub fn write_updated(
    reader: &Slog2Reader<'_>,
    name: &Path,
    target: &Target,
) -> Result<u64, Failure> {
    let lines = reader
        .line_id_maps()
        .iter()
        .map(|map| map.rows().len())
        .max();
    let lines = lines.unwrap_or(0) as u64;
    let options = target
        .tree
        .options(lines, TreeOptions::from(reader.header()));
    target.fill(|out| {
        let (out, _, count) = update(reader, options, out)
            .map_err(|error| Failure::in_file_or_output(error, name, target.path.display()))?;
        Ok((out, count))
    })
}

/// The name that the original gives its output: with .slog2 behind it, in place of an ending that is a log's, and with
/// each run of blanks and special characters made one underscore.
fn default_name(input: &Path) -> PathBuf {
    const SPECIAL: &str = "[]{}()~!@#$%^&*;`? \t\n\r\x0c:\\";
    let name = input.file_name().unwrap_or_default().to_string_lossy();
    let endings = [".clog2", ".clog", ".rlog", ".txt"];
    let stem = endings.iter().find_map(|ending| name.strip_suffix(ending));
    let new = stem.map_or_else(
        || {
            let parts = name.split(|c| SPECIAL.contains(c));
            let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
            let plain = parts.join("_");
            let dash = if plain.starts_with('-') { "TRACE_" } else { "" };
            let dot = if plain.ends_with('.') { "" } else { "." };
            format!("{dash}{plain}{dot}slog2")
        },
        |stem| format!("{stem}.slog2"),
    );
    input.with_file_name(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_original() {
        for (input, output) in [
            ("old.slog2", "old.slog2.slog2"),
            ("a dir/my (old)  log", "a dir/my_old_log.slog2"),
            ("log.clog2", "log.slog2"),
            ("old.", "old.slog2"),
            ("-x", "TRACE_-x.slog2"),
        ] {
            assert_eq!(default_name(Path::new(input)), Path::new(output));
        }
    }
}
