//! Errors of a conversion, told by the side that stopped it: the file that is read, or the one that is written.

use std::error::Error;
use std::fmt;

/// Error of a conversion of one file into another: `I` is an error of the input, `O` one of the output.
#[derive(Debug)]
pub enum ConversionError<I, O> {
    /// The input is damaged; what came before the damage has been written.
    Input(I),
    /// The output could not be written, or cannot hold what is in the input.
    Output(O),
}

impl<I: fmt::Display, O: fmt::Display> fmt::Display for ConversionError<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConversionError::Input(error) => error.fmt(f),
            ConversionError::Output(error) => error.fmt(f),
        }
    }
}

impl<I: Error + 'static, O: Error + 'static> Error for ConversionError<I, O> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ConversionError::Input(error) => Some(error),
            ConversionError::Output(error) => Some(error),
        }
    }
}
