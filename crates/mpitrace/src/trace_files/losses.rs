//! End of a conversion: the failure that stopped it, or the losses.

use crate::failure::Failure;
use crate::terminal::tell;
use crate::terminal::units::seconds;
use analysis::performance::WaitsOfCalls;
use std::error::Error;
use std::fmt;
use std::io;
use std::path::Path;
use trace_model::{Losses, Stop};

/// Name among losses of the constants of MPI that a CLOG2 file has.
pub const MPI_CONSTANT: &str = "constant of MPI";

/// The errors of the system among an error and its causes.
fn system_errors(stop: &Stop) -> impl Iterator<Item = &io::Error> {
    let first: &(dyn Error + 'static) = stop.as_ref();
    std::iter::successors(Some(first), |&error| error.source())
        .filter_map(|error| error.downcast_ref::<io::Error>())
}

/// What is missing among the waits of the trace or output `name`, if not all were kept.
pub fn forgotten_waits(name: &str, found: &WaitsOfCalls) -> Option<String> {
    (found.shortest > 0.0).then(|| {
        format!(
            "{name}: only the {} longest waits; those shorter than {} count as none",
            found.waits.len(),
            seconds(found.shortest)
        )
    })
}

/// The error that stopped a conversion as the failure of a command.
pub fn failure(stop: Stop) -> Failure {
    let is_closed = system_errors(&stop).any(|error| error.kind() == io::ErrorKind::BrokenPipe);
    match is_closed {
        true => Failure::ClosedPipe,
        false => Failure::Data(stop.to_string()),
    }
}

/// The error that stopped the writing of a file. A failure of the system is one of that file, which it names.
pub fn failure_writing(stop: Stop, output: &Path) -> Failure {
    let is_of_system = system_errors(&stop).next().is_some();
    failure(match is_of_system {
        true => named(stop, output),
        false => stop,
    })
}

/// The error with the name of the file it is about, unless that is told already.
pub fn named(stop: Stop, path: &Path) -> Stop {
    let name = path.display().to_string();
    if stop.to_string().starts_with(&name) {
        return stop;
    }
    Box::new(FileError { name, stop })
}

/// An error and the name of the file it is about.
#[derive(Debug)]
struct FileError {
    name: String,
    stop: Stop,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.stop)
    }
}

impl Error for FileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.stop.as_ref())
    }
}

/// Says on stderr what a conversion could not carry over.
pub fn report_losses(losses: &Losses, name: &Path) {
    for (what, count) in losses.iter() {
        tell!("mpitrace: warning: {}: {count} x {what}", name.display());
    }
}

/// Says on stderr what a picture could not show. MPI's constants do not count: every CLOG2 file has three of them, and no
/// picture shows them.
pub fn report_losses_of_picture(mut losses: Losses, name: &Path) {
    losses.forget(MPI_CONSTANT);
    report_losses(&losses, name);
}
