//! `mpitrace`, run on the SLOG2 file once that has its name: for what is made of a trace and is not part of the recorder, which stays small.
//!
//! The command runs as a process of its own and is ended at the deadline: whatever happens to it, the program goes on. Of the program's
//! environment it gets only where libraries are. It is started by the C library's `posix_spawn`, because `std::process` asks for a newer version
//! of that library than the recorder may need.

use crate::exchange::patience::Patience;
use crate::mpi::library;
use crate::platform::{clock, environment};
use std::ffi::{CString, OsStr, OsString, c_char, c_int};
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
/// Variable with the folders in which the loader looks for libraries first.
const LIBRARY_FOLDERS: &str = "LD_LIBRARY_PATH";
/// First and longest time between two looks at the command.
const BETWEEN_LOOKS: [Duration; 2] = [Duration::from_millis(2), Duration::from_millis(50)];
/// Bytes of the command's complaint that are read.
const MAX_COMPLAINT_BYTES: u64 = 1 << 12;

/// A run of the command on a trace.
pub struct CommandRun<'a> {
    /// The subcommand, which complaints name.
    pub subcommand: &'a str,
    /// What follows it.
    pub words: &'a [&'a OsStr],
    /// Where the file with its complaint is, which never gets its name.
    pub folder: &'a Path,
    /// Where its output goes; `None` is nowhere.
    pub out: Option<&'a File>,
    /// What it may take at most.
    pub deadline: Option<Duration>,
}

impl CommandRun<'_> {
    /// Runs the command, and waits until it has ended.
    ///
    /// # Errors
    /// Why it did not succeed, in words.
    pub fn run(&self) -> Result<(), String> {
        let command = command()?;
        let failed = |error: io::Error| format!("{}: {error}", command.display());
        // A name that no trace has, in a folder that can be written.
        let name = format!("{COMMAND}-{}.err", std::process::id());
        let path = self.folder.join(name);
        let complaint = PendingFile::create_regular(&path);
        let unwritten = |error: io::Error| format!("{}: {error}", path.display());
        let mut complaint = ComplaintFile(complaint.map_err(unwritten)?);
        let err = complaint.0.file();
        let child = self.start(&command, self.out.unwrap_or(err), err);
        let child = child.map_err(failed)?;
        match wait(child, self.deadline) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let words = complaint.words();
                let line = words.lines().next().unwrap_or("it failed without a word");
                Err(format!("{} {}: {line}", command.display(), self.subcommand))
            }
            Err(error) => {
                end(child);
                Err(failed(error))
            }
        }
    }

    /// Starts the command as the first of a process group, with these files for what it prints.
    ///
    /// # Errors
    /// The system does not start it.
    fn start(&self, command: &Path, out: &File, err: &File) -> io::Result<libc::pid_t> {
        let command = CString::new(command.as_os_str().as_bytes())?;
        let words = [OsStr::new(COMMAND), OsStr::new(self.subcommand)];
        let words = words.iter().chain(self.words);
        let words = words.map(|word| CString::new(word.as_bytes()));
        let words = words.collect::<Result<Vec<_>, _>>()?;
        let libraries = environment::var_os(LIBRARY_FOLDERS).map(|folders| {
            let mut variable = OsString::from(LIBRARY_FOLDERS);
            variable.push("=");
            variable.push(folders);
            CString::new(variable.as_bytes())
        });
        let variables: Vec<CString> = libraries.into_iter().collect::<Result<_, _>>()?;
        spawn(&command, &words, &variables, out, err)
    }
}

/// Starts a program as the first of a process group, with these variables, and with these files for what it prints.
///
/// # Errors
/// The system does not start it.
fn spawn(
    program: &CString,
    words: &[CString],
    variables: &[CString],
    out: &File,
    err: &File,
) -> io::Result<libc::pid_t> {
    let list = |texts: &[CString]| -> Vec<*mut c_char> {
        let pointers = texts.iter().map(|text| text.as_ptr().cast_mut());
        pointers.chain([null_mut()]).collect()
    };
    let (arguments, environment) = (list(words), list(variables));
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
            done(libc::posix_spawn(
                child,
                program.as_ptr(),
                to,
                with,
                arguments.as_ptr(),
                environment.as_ptr(),
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

/// Waits for the command. Gives whether it succeeded; of one that the program has waited for itself that is not known, and taken to be so.
///
/// # Errors
/// The command does not end before the deadline, or the system does not tell.
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
            let late = "not done before the deadline";
            return Err(io::Error::new(ErrorKind::TimedOut, late));
        }
        clock::nap(between);
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
///
/// # Errors
/// There is none, in words.
pub fn command() -> Result<PathBuf, String> {
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
