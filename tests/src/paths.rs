//! Paths of the repository, of what was built, and of the command.

use std::path::PathBuf;
use std::process::Command;
pub use test_support::{root, target};

/// The command-line tool.
pub fn mpitrace() -> PathBuf {
    test_support::tested().join("mpitrace")
}

/// The recorder, which fits every MPI.
pub fn recorder() -> PathBuf {
    let path = test_support::tested().join("lib/libtrace.so");
    assert!(
        path.exists(),
        "{} is missing: run ci/build tested",
        path.display()
    );
    path
}

/// The folder of the Python package.
pub fn python() -> PathBuf {
    test_support::tested().join("python")
}

/// `ci/install` of what the tests use; the prefix is its last argument.
pub fn install() -> Command {
    let mut install = Command::new(root().join("ci/install"));
    install
        .env("MPITRACE", mpitrace())
        .env("RECORDER", test_support::tested().join("lib"));
    install
}
