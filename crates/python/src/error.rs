//! Failures as exceptions of Python.

use mpitrace::api::Failure;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(
    mpitrace,
    TraceError,
    PyException,
    "A trace that is bad or cannot be read, or a picture that cannot be written. The message names the file, the place in it and what was expected there."
);

/// A failure as an exception: `ValueError` for a call that is wrong, `TraceError` for everything else.
pub fn exception(failure: Failure) -> PyErr {
    match failure {
        Failure::Call(message) => PyValueError::new_err(message),
        other => TraceError::new_err(other.to_string()),
    }
}
