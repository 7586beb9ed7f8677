//! The report beside the trace (setting `report`): `mpitrace report` is run on the SLOG2 file once it has its name.
//!
//! The analysis is not part of the recorder, which stays small. The command runs as a process of its own, which gets none of the program's
//! environment, and is ended at the deadline: whatever happens to it, the program goes on. It is started by the C library's `posix_spawn`, because
//! `std::process` asks for a newer version of that library than the recorder may need.

use crate::exchange::patience::Patience;
use crate::mpi::library;
use crate::platform::environment;
use std::ffi::{CString, c_char, c_int};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::time::Duration;
use trace_model::PendingFile;

const COMMAND: &str = "mpitrace";
/// First and longest time between two looks at the command.
const BETWEEN_LOOKS: [Duration; 2] = [Duration::from_millis(2), Duration::from_millis(50)];
/// Bytes of the command's complaint that are read.
const MAX_COMPLAINT_BYTES: u64 = 1 << 12;

/// Writes the report on a SLOG2 file beside it, as `NAME.report.txt`. Gives the path.
///
/// # Errors
/// Why there is none, in words.
pub fn write(slog2: &Path, deadline: Option<Duration>) -> Result<PathBuf, String> {
    let command = command()?;
    let slog2 = environment::home().join(slog2);
    let path = slog2.with_extension("report.txt");
    let unwritten = |error: io::Error| format!("{}: {error}", path.display());
    let failed = |error: io::Error| format!("{}: {error}", command.display());
    let report = PendingFile::create_regular(&path).map_err(unwritten)?;
    // Its complaint has no name, and is gone with this process.
    let complaint = PendingFile::create_regular(slog2.with_extension("report.err"));
    let mut complaint = ComplaintFile(complaint.map_err(unwritten)?);
    let started = start(&command, &slog2, report.file(), complaint.0.file());
    let child = started.map_err(failed)?;
    match wait(child, deadline) {
        Ok(true) => {}
        Ok(false) => {
            let words = complaint.words();
            let line = words.lines().next().unwrap_or("it failed without a word");
            return Err(format!("{} report: {line}", command.display()));
        }
        Err(error) => {
            end(child);
            return Err(failed(error));
        }
    }
    let written = report.file().metadata().map_err(unwritten)?.len();
    if written == 0 {
        return Err(format!("{} report: it printed nothing", command.display()));
    }
    report.persist().map_err(unwritten)?;
    Ok(path)
}

/// What the command says when it fails. The file never gets its name.
struct ComplaintFile(PendingFile);

impl ComplaintFile {
    /// The text, as far as it can be read.
    fn words(&mut self) -> String {
        let mut bytes = Vec::new();
        let mut file: &File = self.0.file();
        let read = file
            .rewind()
            .and_then(|()| file.take(MAX_COMPLAINT_BYTES).read_to_end(&mut bytes));
        match read {
            Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => error.to_string(),
        }
    }
}

/// Starts the command on a SLOG2 file as the first of a process group, with an empty environment and these files for what it prints.
///
/// # Errors
/// The system does not start it.
fn start(command: &Path, slog2: &Path, out: &File, err: &File) -> io::Result<libc::pid_t> {
    let text = |path: &Path| CString::new(path.as_os_str().as_bytes());
    let (command, slog2) = (text(command)?, text(slog2)?);
    let words = [command.as_c_str(), c"report", c"--quiet", c"--", &slog2];
    let mut arguments: Vec<*mut c_char> =
        words.iter().map(|word| word.as_ptr().cast_mut()).collect();
    arguments.push(null_mut());
    let environment: [*mut c_char; 1] = [null_mut()];
    let done = |code: c_int| match code {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    };
    let mut actions = MaybeUninit::<libc::posix_spawn_file_actions_t>::uninit();
    let mut attributes = MaybeUninit::<libc::posix_spawnattr_t>::uninit();
    let mut child = 0;
    // SAFETY: both objects are made before they are used, and ended; all texts live until the call has returned, and the lists end with null.
    unsafe {
        let (to, with) = (actions.as_mut_ptr(), attributes.as_mut_ptr());
        done(libc::posix_spawn_file_actions_init(to))?;
        let spawn = |child: &mut libc::pid_t| {
            let (nothing, flags) = (c"/dev/null".as_ptr(), libc::O_RDONLY);
            done(libc::posix_spawn_file_actions_addopen(
                to, 0, nothing, flags, 0,
            ))?;
            done(libc::posix_spawn_file_actions_adddup2(
                to,
                out.as_raw_fd(),
                1,
            ))?;
            done(libc::posix_spawn_file_actions_adddup2(
                to,
                err.as_raw_fd(),
                2,
            ))?;
            let group = libc::POSIX_SPAWN_SETPGROUP as libc::c_short;
            done(libc::posix_spawnattr_setflags(with, group))?;
            let (path, arguments) = (command.as_ptr(), arguments.as_ptr());
            let environment = environment.as_ptr();
            done(libc::posix_spawn(
                child,
                path,
                to,
                with,
                arguments,
                environment,
            ))
        };
        let mut result = done(libc::posix_spawnattr_init(with));
        if result.is_ok() {
            result = spawn(&mut child);
            libc::posix_spawnattr_destroy(with);
        }
        libc::posix_spawn_file_actions_destroy(to);
        result?;
    }
    Ok(child)
}

/// Waits for the command. Gives whether it succeeded; of one that the program has waited for itself that is not known, and taken to be so.
///
/// # Errors
/// It does not end before the deadline, or the system does not tell.
fn wait(child: libc::pid_t, deadline: Option<Duration>) -> io::Result<bool> {
    let mut patience = Patience::new(deadline);
    let [mut between, longest] = BETWEEN_LOOKS;
    loop {
        let mut status = 0;
        // SAFETY: a child of ours, and a place for its status.
        match unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } {
            0 => {}
            -1 => {
                let error = io::Error::last_os_error();
                match error.raw_os_error() {
                    Some(libc::ECHILD) => return Ok(true),
                    Some(libc::EINTR) => {}
                    _ => return Err(error),
                }
            }
            _ => return Ok(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0),
        }
        if patience.is_over() {
            let why = "no report before the deadline";
            return Err(io::Error::new(ErrorKind::TimedOut, why));
        }
        std::thread::sleep(between);
        between = (2 * between).min(longest);
    }
}

/// Ends the command and all that it has started: what is left of them would keep the launcher waiting. They may be gone already.
fn end(child: libc::pid_t) {
    // SAFETY: the command was made the first of a group, and was not waited for: the number is still its own.
    unsafe {
        libc::kill(-child, libc::SIGKILL);
        libc::waitpid(child, null_mut(), 0);
    }
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
