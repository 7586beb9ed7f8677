//! `mpitrace convert`: CLOG2 to SLOG2.
use crate::failure::Failure;
#[derive(clap::Args)]
pub struct Arguments {}
pub fn run(_: &Arguments) -> Result<(), Failure> {
    Err(Failure::Call("not yet".into()))
}
