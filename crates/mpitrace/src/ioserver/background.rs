//! Scripts must be able to wait until the file system is there: what is told then, and the way to the background.

use crate::failure::Failure;
use crate::system::own_program;
use crate::terminal::print_text;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Ends what is told.
const READY: &str = "IOSERVER=ready";

/// Starts this very command in the background and waits until it is ready.
pub fn start() -> Result<(), Failure> {
    let failed = |e: std::io::Error| Failure::Data(format!("the background: {e}"));
    let arguments = own_program::arguments().into_iter();
    let arguments = arguments.filter(|a| a != "--background");
    let mut child = Command::new(own_program::path().map_err(failed)?)
        .args(arguments)
        .arg("--detach")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            match line.map_err(failed)? {
                line if line == READY => return Ok(()),
                // Whether somebody listens does not matter to the file system.
                line => drop(print_text(&format!("{line}\n"))),
            }
        }
    }
    // It has said why.
    let status = child.wait().map_err(failed)?;
    std::process::exit(status.code().unwrap_or(1).max(1));
}

/// Leaves stdout and stderr to whoever reads them to the end.
pub fn detach() {
    let null = std::fs::File::options().write(true).open("/dev/null");
    if let Ok(null) = null {
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

/// Tells that the file system is there, on stdout and in the file `ready`. With `detach`, stdout and stderr are left to
/// whoever reads them.
pub fn announce(what: &str, ready: Option<&Path>, detach: bool) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    // Whether somebody listens does not matter to the file system.
    drop(out.write_all(what.as_bytes()));
    if detach {
        drop(writeln!(out, "{READY}"));
    }
    drop(out.flush());
    if detach {
        self::detach();
    }
    let Some(path) = ready else {
        return Ok(());
    };
    let write = || {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
        let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
        file.write_all(what.as_bytes())?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|e: std::io::Error| Failure::file(path, e))
}
