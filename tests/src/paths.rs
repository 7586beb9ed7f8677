//! Paths of the repository, of what was built, and of the command.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ is in the repository")
        .into()
}

/// The folder `target/` of the repository, wherever cargo builds the tests themselves.
pub fn target() -> PathBuf {
    test_support::target()
}

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
