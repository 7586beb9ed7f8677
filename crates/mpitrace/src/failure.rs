//! Failures of a subcommand, which decide the exit code.

use std::fmt::{self, Display};
use std::io;
use std::path::Path;
use trace_model::{Fault, FaultKind};

/// Why a subcommand ended early.
#[derive(Debug)]
pub enum Failure {
    /// A file is bad, or reading or writing it failed: exit code 1.
    Data(String),
    /// The call is wrong: exit code 2.
    Call(String),
    /// A limit that the user has set is passed: exit code 3.
    Limit(String),
    /// Nobody reads our output any more, as in `mpitrace print x | head`: no message, exit code 0.
    ClosedPipe,
}

impl Failure {
    /// A file could not be used: exit code 1, with the name of the file and what the system or a reader says.
    pub fn file(path: impl AsRef<Path>, error: impl Display) -> Self {
        Failure::Data(format!("{}: {error}", path.as_ref().display()))
    }

    /// A file is not as its format demands: exit code 1, with the name of the file, the place and what was expected there.
    pub fn in_file<K: FaultKind>(error: Fault<K>, file: impl AsRef<Path>) -> Self {
        Failure::Data(error.in_file(file).to_string())
    }

    /// An error of a step that reads `file` from memory and writes `output`. A failure of the system is one of the output,
    /// the only thing that is not in memory; any other error is one in the file.
    pub fn in_file_or_output<K: FaultKind>(
        error: Fault<K>,
        file: impl AsRef<Path>,
        output: impl Display,
    ) -> Self {
        match error.kind.beneath().and_then(|cause| cause.downcast_ref()) {
            Some(cause) => Failure::output(output, cause),
            None => Failure::in_file(error, file),
        }
    }

    /// Writing failed: [`Failure::ClosedPipe`] if nobody reads the output any more, else exit code 1.
    pub fn output(name: impl Display, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Data(format!("{name}: {error}")),
        }
    }

    /// Writing CSV to stdout failed.
    pub fn csv(error: csv::Error) -> Self {
        match error.into_kind() {
            csv::ErrorKind::Io(error) => Failure::output("stdout", &error),
            kind => Failure::Data(format!("stdout: {kind:?}")),
        }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Data(message) | Failure::Call(message) | Failure::Limit(message) => {
                f.write_str(message)
            }
            Failure::ClosedPipe => f.write_str("nobody reads the output"),
        }
    }
}
