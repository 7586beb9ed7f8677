//! Common parts of the tests that run MPI programs: which MPIs are here, compiling a program, running it under its launcher
//! with and without the recorder, and reading what came out.
//!
//! The truth a trace is compared with never comes from the recorder: [`tally`] counts the calls in the compiled program's
//! own source, by macros.
//!
//! `ci/build tested` must have run: the tests use the recorder and the command that are in `target/tested`.

pub mod blocks;
pub mod chain;
pub mod clocks;
pub mod compile;
pub mod contents;
pub mod failures;
pub mod hosts;
pub mod matrix;
pub mod mpi;
pub mod owned_bytes;
pub mod paths;
pub mod process;
pub mod slurm;
pub mod strace;
pub mod tally;
pub mod trace;
pub mod turns;

pub use compile::Program;
pub use mpi::Mpi;
pub use paths::{install, mpitrace, python, recorder, recorder_of_release, root, target};
pub use process::{FinishedCommand, TestFolder};
pub use test_support::skip;
pub use trace::{TracedRun, traced};
pub use turns::{MpiTurns, beside_each_other};

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The functions that a library exports.
#[track_caller]
pub fn exported(library: &Path) -> BTreeSet<String> {
    let mut nm = Command::new("nm");
    nm.args(["-D", "--defined-only"]).arg(library);
    let symbols = process::run(&mut nm, Duration::from_secs(60)).succeeded();
    (symbols.stdout.lines())
        .filter_map(|line| {
            let mut words = line.split_whitespace().skip(1);
            let kind = words.next()?;
            let name = words.next()?;
            "TW".contains(kind)
                .then(|| name.split('@').next().unwrap_or(name).to_owned())
        })
        .collect()
}

/// Whether a symbol is a spelling of a procedure of Fortran: `mpi_attr_get_`, `PMPI_ATTR_GET`, `pmpir_win_get_attr_f08_`.
pub fn is_of_fortran(symbol: &str) -> bool {
    let upper = symbol.starts_with("MPI_") || symbol.starts_with("PMPI_");
    symbol.starts_with("mpi_")
        || symbol.starts_with("pmpi")
        || (upper && !symbol.contains(|c: char| c.is_ascii_lowercase()))
}
