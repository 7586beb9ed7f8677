//! `mpitrace completions`: completions for shells, from the definition of the command line.

use crate::failure::Failure;
use clap_complete::Shell;
use std::io::{self, Write};

/// Print the completions for a shell
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace completions bash >~/.local/share/bash-completion/completions/mpitrace
  mpitrace completions zsh >~/.zfunc/_mpitrace")]
pub struct Arguments {
    /// Shell to complete for
    shell: Shell,
}

/// Runs the subcommand for this command line.
pub fn run(arguments: &Arguments, mut command_line: clap::Command) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command_line, "mpitrace", &mut text);
    let written = io::stdout().lock().write_all(&text);
    written.map_err(|error| Failure::output("stdout", &error))
}
