//! The command `mpitrace`, run by Python: a wheel has it once, in the module.

use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// Runs the command and ends the process. `program` is the script that starts it.
#[pyfunction]
pub fn run_command(py: Python<'_>, program: PathBuf, arguments: Vec<OsString>) {
    py.detach(|| mpitrace::main_within(program, arguments))
}
