//! What the tests that run MPI programs share: which MPIs are here, compiling a program, running it under its launcher with
//! and without the recorder, and reading what came out.
//!
//! The truth a trace is compared with never comes from the recorder: [`tally`] counts the calls in the compiled program's
//! own source, by macros.
//!
//! `ci/build` must have run; the tests use `target/lib/<mpi>/libtrace.so` and `target/release/mpitrace`.

pub mod blocks;
pub mod chain;
pub mod compile;
pub mod contents;
pub mod mpi;
pub mod process;
pub mod tally;
pub mod trace;

pub use compile::Program;
pub use mpi::Mpi;
pub use process::{Finished, Folder};
pub use trace::{Run, traced};

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

/// Prints why a test, or a part of one, was not run; `ci/test` counts these lines.
pub fn skip(reason: &str) {
    println!("SKIPPED: {reason}");
}
