//! What the tests of every crate share: the [`golden`] files, the [`spec`](spec_folder) beside the code, and how a test
//! says that it cannot run here ([`skip`]).

pub mod golden;

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("tests/support is in the repository")
        .into()
}

/// The folder `spec/`: descriptions of formats and MPI libraries that the code cites by section.
pub fn spec_folder() -> PathBuf {
    root().join("spec")
}

/// Says that a test, or a part of one, cannot run here, and why: one line `SKIPPED: reason (test)`.
///
/// The line goes straight to standard error. Cargo captures what `println!` and `eprintln!` print in a test that passes, but
/// not this: it is always seen, and `ci/test` counts it.
pub fn skip(reason: &str) {
    let thread = std::thread::current();
    // With one test at a time the harness runs it in the main thread.
    let test = match thread.name() {
        Some(name) if name != "main" => format!(" ({name})"),
        _ => String::new(),
    };
    // One line, even if the reason is a program's message.
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    // If nobody reads standard error, nobody misses the line.
    let _ = std::io::stderr().write_all(format!("SKIPPED: {reason}{test}\n").as_bytes());
}
