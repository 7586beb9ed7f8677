//! How a subcommand can fail, which decides the exit code.

use std::fmt::Display;
use std::io;
use std::path::Path;

/// Why a subcommand ended early.
#[derive(Debug)]
pub enum Failure {
    /// A file is bad, or reading or writing it failed: exit code 1.
    Data(String),
    /// The call is wrong: exit code 2.
    Call(String),
    /// Nobody reads our output any more, as in `mpitrace print x | head`: no message, exit code 0.
    ClosedPipe,
}

impl Failure {
    /// A file could not be used: exit code 1, with the name of the file and what the system or a reader says.
    pub fn file(path: &Path, error: impl Display) -> Self {
        Failure::Data(format!("{}: {error}", path.display()))
    }

    /// Writing failed: [`Failure::ClosedPipe`] if nobody reads the output any more, else exit code 1.
    pub fn output(name: impl Display, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Data(format!("{name}: {error}")),
        }
    }
}
