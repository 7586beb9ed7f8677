//! `mpitrace man`: man pages, from the definition of the command line.

use crate::failure::Failure;
use std::io;
use std::path::{Path, PathBuf};

/// Write the man pages
///
/// There is one page for mpitrace and one per subcommand, with the text of --help.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace man ~/.local/share/man/man1      then: man mpitrace-convert")]
pub struct Arguments {
    /// Folder of the man pages
    folder: PathBuf,
}

/// Runs the subcommand for this command line.
pub fn run(arguments: &Arguments, command_line: clap::Command) -> Result<(), Failure> {
    let folder = &arguments.folder;
    let failed = |error: io::Error| Failure::output(folder.display(), &error);
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(command_line, Path::new(folder)).map_err(failed)
}
