//! Paths of the repository, of what was built, and of the command.

use std::path::{Path, PathBuf};

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ is in the repository")
        .into()
}

/// `target/` as `ci/build` uses it, whatever CARGO_TARGET_DIR says where the tests themselves are built.
pub fn target() -> PathBuf {
    std::env::var_os("TRACE_TESTS_TARGET").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The command-line tool.
pub fn mpitrace() -> PathBuf {
    target().join("release/mpitrace")
}

/// The recorder, which fits every MPI.
pub fn recorder() -> PathBuf {
    let path = target().join("lib/libtrace.so");
    assert!(path.exists(), "{} is missing: run ci/build", path.display());
    path
}
