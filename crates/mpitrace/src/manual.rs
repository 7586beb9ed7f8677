//! `mpitrace man` and `mpitrace completions`: man pages and shell completions, from the definitions of the command line.

use crate::failure::Failure;
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Write the man pages
///
/// One page for mpitrace and one for each subcommand, made from what --help shows.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace man ~/.local/share/man/man1      then: man mpitrace-convert")]
pub struct ManArguments {
    /// The folder they go to
    folder: PathBuf,
}

/// Print the completions for a shell
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace completions bash >~/.local/share/bash-completion/completions/mpitrace
  mpitrace completions zsh >~/.zfunc/_mpitrace")]
pub struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

/// Runs `mpitrace man`.
pub fn man(arguments: &ManArguments) -> Result<(), Failure> {
    let folder = &arguments.folder;
    let failed = |error: io::Error| Failure::output(folder.display(), &error);
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(crate::Arguments::command(), Path::new(folder)).map_err(failed)
}

/// Runs `mpitrace completions`.
pub fn completions(arguments: &CompletionsArguments) -> Result<(), Failure> {
    let mut text = Vec::new();
    let mut command = crate::Arguments::command();
    clap_complete::generate(arguments.shell, &mut command, "mpitrace", &mut text);
    let written = io::stdout().lock().write_all(&text);
    written.map_err(|error| Failure::output("stdout", &error))
}
