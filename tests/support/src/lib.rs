//! What the tests of every crate share: the [`golden`] files, the [`spec`](spec_folder) beside the code, the [`recorder`],
//! programs to be started ([`program_file`]), how long a test waits ([`limit_here`], [`patience`]), and how it says that it cannot run here ([`skip`]).

pub mod golden;
pub mod program_file;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

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

/// The folder `target/` of the repository, wherever cargo builds the tests themselves; or the folder in `TRACE_TESTS_TARGET`.
pub fn target() -> PathBuf {
    std::env::var_os("TRACE_TESTS_TARGET").map_or_else(|| root().join("target"), PathBuf::from)
}

/// What `ci/build tested` builds for the tests: a folder with `mpitrace`, `lib/libtrace.so` and `python`.
pub fn tested() -> PathBuf {
    target().join("tested")
}

/// The recorder, to be preloaded into programs of this MPI (`mpich` or `openmpi`). `None` where the recorder, the MPI's
/// compiler or its launcher is missing; the test is told to be [skipped](skip) then.
pub fn recorder(mpi: &str) -> Option<PathBuf> {
    let is_there = |program: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    };
    if !is_there(&format!("mpicc.{mpi}")) || !is_there(&format!("mpiexec.{mpi}")) {
        skip(&format!("{mpi} is not installed"));
        return None;
    }
    let library = tested().join("lib/libtrace.so");
    let found = library.canonicalize().ok();
    if found.is_none() {
        skip(&format!(
            "{} is not there: ci/build tested",
            library.display()
        ));
    }
    found
}

/// A time limit on this machine: `limit` as many times as the variable SLOWER says, once where it is not set. `ci/arm64` sets it,
/// since emulation is slow. A limit only ends what hangs, so a long one changes nothing about what passes.
///
/// # Panics
/// If the variable is no number from 1 on.
pub fn limit_here(limit: Duration) -> Duration {
    let Some(times) = std::env::var_os("SLOWER") else {
        return limit;
    };
    let number = times.to_str().and_then(|text| text.parse().ok());
    let number = number.filter(|number| *number >= 1);
    limit * number.unwrap_or_else(|| panic!("SLOWER={}: a number from 1 on", times.display()))
}

/// How long a test waits for what should take no time worth mention.
///
/// # Panics
/// As [`limit_here`].
pub fn patience() -> Duration {
    limit_here(Duration::from_secs(120))
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
