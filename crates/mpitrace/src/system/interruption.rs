//! A command that is interrupted leaves no temporary files and folders: SIGINT, SIGTERM and SIGHUP have them removed before they end the process.

use super::signals::ENDING;
use std::fs;
use std::io::{self, Read};
use std::os::fd::IntoRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::Duration;
use trace_model::TemporaryObserver;

/// Times that a folder is removed in which another thread makes files.
const ATTEMPTS: usize = 10;

/// Time between the making of a file and its notice here.
const NOTICE: Duration = Duration::from_millis(20);

/// Temporary files and folders that are there.
static TEMPORARIES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The end of a pipe to which the number of a signal is written, a byte.
static SIGNALLED: AtomicI32 = AtomicI32::new(-1);

/// From now on such a signal removes temporary files and folders before it ends the process.
pub fn remove_temporaries() {
    trace_model::observe_temporaries(TemporaryObserver { begin, made, gone });
}

fn temporaries() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file is about to be made. Commands that only read get no thread and no handler.
fn begin() {
    static PREPARED: Once = Once::new();
    // Without it the files stay, under names that tell what they are.
    PREPARED.call_once(|| drop(prepare()));
}

fn made(path: &Path) {
    temporaries().push(path.to_path_buf());
}

fn gone(path: &Path) {
    temporaries().retain(|temporary| temporary != path);
}

/// Starts the thread that removes, and installs the handlers that wake it.
fn prepare() -> io::Result<()> {
    let (mut signals, signalled) = io::pipe()?;
    thread::Builder::new()
        .name("interruption".to_owned())
        .spawn(move || {
            let mut signal = [0];
            if signals.read_exact(&mut signal).is_ok() {
                end(signal[0].into());
            }
        })?;
    SIGNALLED.store(signalled.into_raw_fd(), Ordering::Release);
    for signal in ENDING {
        // SAFETY: plain calls with a valid place for the former action; the handler makes one call that is async-signal-safe.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let asked = libc::sigaction(signal, std::ptr::null(), &mut action);
            // nohup, for one, has it ignored.
            if asked == 0 && action.sa_sigaction != libc::SIG_IGN {
                action.sa_sigaction = on_signal as *const () as libc::sighandler_t;
                action.sa_flags = libc::SA_RESTART;
                libc::sigaction(signal, &action, std::ptr::null_mut());
            }
        }
    }
    Ok(())
}

extern "C" fn on_signal(signal: libc::c_int) {
    let byte = signal as u8;
    // SAFETY: one byte that is there, into a pipe that stays open. It cannot fail: the reader ends with the process.
    unsafe {
        libc::write(
            SIGNALLED.load(Ordering::Acquire),
            (&raw const byte).cast(),
            1,
        )
    };
}

/// Removes what is temporary, and ends the process as the signal does by itself.
fn end(signal: libc::c_int) {
    // A file that another thread has just made is told in this time.
    thread::sleep(NOTICE);
    // Kept: whoever makes another waits for the end.
    let all = temporaries();
    for path in all.iter() {
        remove(path);
    }
    // SAFETY: plain calls.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

fn remove(path: &Path) {
    for _ in 0..ATTEMPTS {
        let removed = match fs::symlink_metadata(path) {
            Err(_) => return,
            Ok(found) if found.is_dir() => fs::remove_dir_all(path),
            Ok(_) => fs::remove_file(path),
        };
        if removed.is_ok() {
            return;
        }
    }
}
