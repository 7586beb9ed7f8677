//! The part of the Python package `mpitrace` that is compiled: `mpitrace._native`.
//!
//! A [`NativeTrace`](trace::NativeTrace) gives rows by Arrow's C interface, reports and pictures. The package's Python files put an
//! interface for people on it and document it. The command `mpitrace` of a wheel is in the module, too. Python's lock is released while files are read.

mod command;
mod error;
mod report;
mod rows;
mod trace;

use pyo3::prelude::*;

/// The module.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("TraceError", module.py().get_type::<error::TraceError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<trace::NativeTrace>()?;
    module.add_class::<report::NativeReport>()?;
    module.add_class::<report::NativeComparison>()?;
    module.add_function(wrap_pyfunction!(report::compare, module)?)?;
    module.add_function(wrap_pyfunction!(command::run_command, module)?)?;
    Ok(())
}
