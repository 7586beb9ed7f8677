//! `mpitrace stats`: where the time of a trace went.

mod dumpi;

use crate::failure::Failure;
use std::path::PathBuf;

/// Statistics of a trace
#[derive(clap::Args)]
pub struct Arguments {
    /// The file; - is stdin
    file: PathBuf,
    /// Say nothing if all went well
    #[arg(short, long)]
    quiet: bool,
    /// Make the tables of dumpistats of a DUMPI run (its .meta file): ROOT-bin*.tbl
    #[arg(long, value_name = "ROOT", help_heading = "Tables of dumpistats")]
    dumpistats: Option<PathBuf>,
    #[command(flatten)]
    tables: dumpi::Options,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(root) = &arguments.dumpistats {
        return dumpi::run(&arguments.file, root, &arguments.tables, arguments.quiet);
    }
    Ok(())
}
