//! Services of the system: the program itself, signals that end a command, random bytes, pages of files that are gone, absolute paths.

pub mod interruption;
pub mod own_program;
pub mod random;
pub mod signals;
pub mod torn_pages;

use crate::failure::Failure;
use std::path::{Path, PathBuf};

/// `path`, seen from the root.
///
/// # Errors
/// When the path is empty or the current folder is gone.
pub fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| Failure::file(path, error))
}

/// Threads that there are cores for.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
