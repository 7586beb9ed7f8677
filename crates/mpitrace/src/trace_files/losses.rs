//! End of a conversion: the failure that stopped it, or the losses.

use crate::failure::Failure;
use crate::terminal::tell;
use std::io;
use std::path::Path;
use trace_model::{Losses, Stop};

/// The error that stopped a conversion as the failure of a command.
pub fn failure(stop: Stop) -> Failure {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(stop.as_ref());
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<io::Error>()
            && io.kind() == io::ErrorKind::BrokenPipe
        {
            return Failure::ClosedPipe;
        }
        cause = error.source();
    }
    Failure::Data(stop.to_string())
}

/// The error that stopped the writing of a file. A failure of the system is one of that file, which it names.
pub fn failure_writing(stop: Stop, output: &Path) -> Failure {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(stop.as_ref());
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<io::Error>() {
            let name = output.display().to_string();
            let is_named = stop.to_string().starts_with(&name);
            return match is_named || io.kind() == io::ErrorKind::BrokenPipe {
                true => failure(stop),
                false => Failure::Data(format!("{name}: {stop}")),
            };
        }
        cause = error.source();
    }
    failure(stop)
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
    losses.forget("constant of MPI");
    report_losses(&losses, name);
}
