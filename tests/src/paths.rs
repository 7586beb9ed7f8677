//! Paths of the repository, of what was built, and of the command.

use std::path::PathBuf;
use std::process::Command;
pub use test_support::{root, target};

/// The command-line tool.
pub fn mpitrace() -> PathBuf {
    test_support::tested().join("mpitrace")
}

/// The recorder, which fits every MPI, with the checks of the tests' build.
pub fn recorder() -> PathBuf {
    built(
        test_support::tested().join("lib/libtrace.so"),
        "ci/build tested",
    )
}

/// The recorder as users build it: what is measured.
pub fn recorder_of_release() -> PathBuf {
    built(target().join("lib/libtrace.so"), "ci/build")
}

/// A file that this command builds.
fn built(path: PathBuf, command: &str) -> PathBuf {
    let missing = format!("{} is missing: run {command}", path.display());
    assert!(path.exists(), "{missing}");
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
