//! The report beside the trace (setting `report`): `mpitrace report` is run on the SLOG2 file once it has its name.
//!
//! The analysis is not part of the recorder, which stays small. The command runs as a process of its own, which gets none of the program's
//! environment, and is ended at the deadline: whatever happens to it, the program goes on.

use crate::mpi::library;
use crate::platform::environment;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use trace_model::PendingFile;

const COMMAND: &str = "mpitrace";
/// First and longest time between two looks at the command.
const BETWEEN_LOOKS: [Duration; 2] = [Duration::from_millis(2), Duration::from_millis(50)];
/// Bytes of a report at most; that of any run is a screen.
const MAX_BYTES: u64 = 1 << 20;

/// Writes the report on a SLOG2 file beside it, as `NAME.report.txt`. Gives the path.
///
/// # Errors
/// Why there is none, in words.
pub fn write(slog2: &Path, deadline: Option<Duration>) -> Result<PathBuf, String> {
    let command = command()?;
    let home = environment::home();
    let path = home.join(slog2).with_extension("report.txt");
    let failed = |error: io::Error| format!("{}: {error}", command.display());
    let mut child = Command::new(&command)
        .args(["report", "--quiet", "--"])
        .arg(slog2.strip_prefix(home).unwrap_or(slog2))
        .env_clear()
        .current_dir(home)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let ended = wait(&mut child, deadline);
    let text = |pipe: &mut dyn Read| {
        let mut bytes = Vec::new();
        let read = pipe.take(MAX_BYTES).read_to_end(&mut bytes);
        read.map(|_| String::from_utf8_lossy(&bytes).into_owned())
    };
    match ended {
        Ok(true) => {}
        Ok(false) => {
            let words = child.stderr.as_mut().map(|pipe| text(pipe));
            let words = words.and_then(Result::ok).unwrap_or_default();
            let line = words.lines().next().unwrap_or("it failed without a word");
            return Err(format!("{} report: {line}", command.display()));
        }
        Err(error) => {
            end(&mut child);
            return Err(failed(error));
        }
    }
    let report = match &mut child.stdout {
        Some(pipe) => text(pipe).map_err(failed)?,
        None => String::new(),
    };
    let unwritten = |error: io::Error| format!("{}: {error}", path.display());
    let file = PendingFile::create_regular(&path).map_err(unwritten)?;
    file.file()
        .write_all(report.as_bytes())
        .map_err(unwritten)?;
    file.persist().map_err(unwritten)?;
    Ok(path)
}

/// Waits for the command. Gives whether it succeeded.
///
/// # Errors
/// It does not end before the deadline, or the system does not tell.
fn wait(child: &mut Child, deadline: Option<Duration>) -> io::Result<bool> {
    let begun = Instant::now();
    let [mut between, longest] = BETWEEN_LOOKS;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if deadline.is_some_and(|limit| begun.elapsed() > limit) {
            let why = "no report before the deadline";
            return Err(io::Error::new(ErrorKind::TimedOut, why));
        }
        std::thread::sleep(between);
        between = (2 * between).min(longest);
    }
}

/// Ends the command and all that it has started: what is left of them would keep the launcher waiting. They may be gone already.
fn end(child: &mut Child) {
    if let Ok(group) = libc::pid_t::try_from(child.id()) {
        // SAFETY: the command was made the first of a group, and was not waited for: the number is still its own.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
    let _ = child.wait();
}

/// The command: where an installation has it, seen from this library, where the source tree has it, or in PATH.
fn command() -> Result<PathBuf, String> {
    let own = library::own_path().unwrap_or_default();
    let beside =
        own.ancestors().skip(1).take(3).flat_map(|folder| {
            ["bin", "release", ""].map(|inner| folder.join(inner).join(COMMAND))
        });
    let path = environment::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(COMMAND));
    let is_program = |path: &PathBuf| {
        let found = std::fs::metadata(path);
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    let found = beside.chain(in_path).find(is_program);
    found.ok_or_else(|| {
        let own = own.display();
        format!("no command {COMMAND} near {own} and none in PATH")
    })
}
