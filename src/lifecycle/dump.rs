//! Report on stderr, on a signal, of what the threads of a process are doing (setting `dump-signal`): for programs that
//! hang. The handler makes system calls that a handler may make, and takes no lock: a list that is in use just now is not
//! looked at.

use crate::blocks::own;
use crate::mpi::functions::{NAMES, NUMBERS};
use crate::platform::{clock, say};
use crate::thread::all;
use crate::thread::callids::callid;
use settings::DumpSignal;
use std::ffi::c_int;
use std::fmt::{self, Write};
use std::sync::atomic::Ordering::Relaxed;

/// Installs the handler, unless the program has one of its own or ignores the signal.
pub fn install(signal: DumpSignal) {
    let signal = match signal {
        DumpSignal::Off => return,
        DumpSignal::Usr1 => libc::SIGUSR1,
        DumpSignal::Usr2 => libc::SIGUSR2,
    };
    // SAFETY: valid places for what is there now and what is to be; the handler does only what a handler may.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(signal, std::ptr::null(), &mut now) != 0
            || now.sa_sigaction != libc::SIG_DFL
        {
            return;
        }
        let mut ours: libc::sigaction = std::mem::zeroed();
        ours.sa_sigaction = handler as extern "C" fn(c_int) as usize;
        ours.sa_flags = libc::SA_RESTART;
        libc::sigemptyset(&mut ours.sa_mask);
        libc::sigaddset(&mut ours.sa_mask, libc::SIGPIPE);
        libc::sigaction(signal, &ours, std::ptr::null_mut());
    }
}

/// A line that is put together without memory of the program's.
struct StderrLine {
    bytes: [u8; 256],
    used: usize,
}

impl Write for StderrLine {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.bytes[self.used..];
        let n = text.len().min(room.len());
        room[..n].copy_from_slice(&text.as_bytes()[..n]);
        self.used += n;
        Ok(())
    }
}

impl StderrLine {
    fn new() -> StderrLine {
        StderrLine {
            bytes: [0; 256],
            used: 0,
        }
    }

    fn say(&mut self) {
        // A text that was too long ends all the same.
        if !say::is_heard() {
            return;
        }
        self.used = self.used.min(self.bytes.len() - 1);
        self.bytes[self.used] = b'\n';
        // SAFETY: our own bytes, and a set made by the system. SIGPIPE is blocked while the handler runs: what the write may
        // raise where nobody reads stderr is taken before the program gets it.
        unsafe {
            let bytes = self.bytes.as_ptr().cast();
            if libc::write(libc::STDERR_FILENO, bytes, self.used + 1) < 0
                && *libc::__errno_location() == libc::EPIPE
            {
                let mut pipe: libc::sigset_t = std::mem::zeroed();
                libc::sigemptyset(&mut pipe);
                libc::sigaddset(&mut pipe, libc::SIGPIPE);
                let at_once: libc::timespec = std::mem::zeroed();
                libc::sigtimedwait(&pipe, std::ptr::null_mut(), &at_once);
            }
        }
    }
}

extern "C" fn handler(_: c_int) {
    // SAFETY: the thread's own errno, which the interrupted code must find as it was.
    unsafe {
        let errno = *libc::__errno_location();
        say();
        *libc::__errno_location() = errno;
    }
}

/// A line for each thread.
fn say() {
    let Some(header) = own::store().map(|store| store.header()) else {
        return;
    };
    // A child has its parent's handler and nothing to say.
    // SAFETY: asks for a number.
    if header.pid != unsafe { libc::getpid() } as u32 {
        return;
    }
    let rank = header.rank.load(Relaxed) as i32;
    let begin = |line: &mut StderrLine| match rank {
        0.. => write!(line, "trace: rank {rank}"),
        _ => write!(line, "trace: process {}", header.pid),
    };
    let first = clock::first_reading();
    let now = clock::reading();
    let rate = now.monotonic.wrapping_sub(first.monotonic) as f64
        / now.ticks.wrapping_sub(first.ticks).max(1) as f64;
    for thread in all() {
        // SAFETY: states live until the process ends; of this one only what is atomic or never changes is read.
        let thread = unsafe { thread.as_ref() };
        let mut line = StderrLine::new();
        // Writing to a Line cannot fail.
        let _ = begin(&mut line);
        // SAFETY: blocks are never unmapped, and these fields are atomic. Which block it is may change while it is read: then
        // what is said is that of a moment before.
        let open = unsafe {
            let header = &*thread.block.header();
            (
                header.open_function.load(Relaxed),
                header.open_start.load(Relaxed),
                header.open_call.load(Relaxed),
            )
        };
        let _ = write!(line, ", thread {} (tid {}): ", thread.number, thread.tid);
        let function = open.0.checked_sub(1);
        let name = function.and_then(|f| NUMBERS.iter().position(|&n| u32::from(n) == f));
        let name = name.and_then(|i| NAMES[i].to_str().ok());
        let _ = match (function, name) {
            (None, _) => write!(line, "outside MPI"),
            (Some(_), Some(name)) => {
                write!(line, "in {}", name.strip_prefix('P').unwrap_or(name))
            }
            (Some(function), None) => write!(line, "in function {function}"),
        };
        if function.is_some() {
            let seconds = now.ticks.saturating_sub(open.1) as f64 * rate / 1e9;
            let call = callid(open.2);
            let _ = write!(line, " for {seconds:.3} s (CallID {call:#x})");
        }
        line.say();
    }
}
