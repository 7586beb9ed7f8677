//! How this command was started: its program and its arguments, which another program may give in its place.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

/// A program that runs the command within itself, such as a script of Python.
#[derive(Debug)]
struct StartedAs {
    program: PathBuf,
    arguments: Vec<OsString>,
}

static STARTED_AS: OnceLock<StartedAs> = OnceLock::new();

/// This process is a program of another kind: `program`, run with `arguments`, starts the command. Only the first such word counts.
pub fn set(program: PathBuf, arguments: Vec<OsString>) {
    let _ = STARTED_AS.set(StartedAs { program, arguments });
}

/// The program that starts this command when it is run.
///
/// # Errors
/// When the system does not tell which file this process runs.
pub fn path() -> io::Result<PathBuf> {
    match STARTED_AS.get() {
        Some(started) => Ok(started.program.clone()),
        None => std::env::current_exe(),
    }
}

/// The arguments behind the name of the program.
pub fn arguments() -> Vec<OsString> {
    match STARTED_AS.get() {
        Some(started) => started.arguments.clone(),
        None => std::env::args_os().skip(1).collect(),
    }
}
