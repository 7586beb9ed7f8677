//! What can go wrong when a dataset is written.

use std::fmt;
use std::io;
use trace_model::Fault;

/// An error of a dataset that is being written.
pub type TablesError = Fault<TablesErrorKind>;

/// Kind of a [`TablesError`].
#[derive(Debug)]
#[non_exhaustive]
pub enum TablesErrorKind {
    /// A file or folder could not be written.
    Io(io::Error),
    /// The Parquet library refused what it was given.
    Parquet(parquet::errors::ParquetError),
    /// The Arrow library refused what it was given.
    Arrow(arrow_schema::ArrowError),
}

impl fmt::Display for TablesErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TablesErrorKind::Io(error) => error.fmt(f),
            TablesErrorKind::Parquet(error) => error.fmt(f),
            TablesErrorKind::Arrow(error) => error.fmt(f),
        }
    }
}

trace_model::fault_kind!(TablesErrorKind, whole_file: TablesErrorKind::Parquet(_) | TablesErrorKind::Arrow(_));

impl From<parquet::errors::ParquetError> for TablesErrorKind {
    /// The error of the system where that is beneath it.
    fn from(error: parquet::errors::ParquetError) -> Self {
        match error {
            parquet::errors::ParquetError::External(beneath) => {
                match beneath.downcast::<io::Error>() {
                    Ok(error) => TablesErrorKind::Io(*error),
                    Err(other) => {
                        TablesErrorKind::Parquet(parquet::errors::ParquetError::External(other))
                    }
                }
            }
            error => TablesErrorKind::Parquet(error),
        }
    }
}

impl From<arrow_schema::ArrowError> for TablesErrorKind {
    /// The error of the system where that is beneath it.
    fn from(error: arrow_schema::ArrowError) -> Self {
        match error {
            arrow_schema::ArrowError::IoError(_, error) => TablesErrorKind::Io(error),
            error => TablesErrorKind::Arrow(error),
        }
    }
}
