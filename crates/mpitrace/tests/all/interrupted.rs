//! A command that is interrupted leaves nothing half-written, and ends by the signal.

use crate::exported::succeeds;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use test_support::patience;

/// Names in the folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

/// Waits until the command has begun to write, and stops it. Gives whether that was before it was done.
fn is_stopped_in_writing(folder: &Path, command: &mut Child) -> bool {
    let begun = Instant::now();
    while !names(folder).iter().any(|name| name.ends_with(".tmp")) {
        if command.try_wait().unwrap().is_some() {
            return false;
        }
        assert!(begun.elapsed() < patience());
    }
    let pid = command.id();
    // SAFETY: a child that has not been waited for, and is not by this either.
    unsafe {
        libc::kill(pid as i32, libc::SIGSTOP);
        let mut found = std::mem::zeroed();
        let which = libc::WSTOPPED | libc::WEXITED | libc::WNOWAIT;
        assert_eq!(libc::waitid(libc::P_PID, pid, &mut found, which), 0);
    }
    names(folder).iter().any(|name| name.ends_with(".tmp"))
}

/// Runs a command that writes its last argument for long, and sends it this signal while it writes. Where it was done before it was stopped, as on
/// a busy machine it may be, it is run again.
fn interrupt(folder: &Path, arguments: &[&str], signal: i32) {
    let before = names(folder);
    for _ in 0..10 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
        command.args(arguments).current_dir(folder);
        let mut command = command.stderr(Stdio::null()).spawn().unwrap();
        let in_writing = is_stopped_in_writing(folder, &mut command);
        let signals = [in_writing.then_some(signal), Some(libc::SIGCONT)];
        for signal in signals.into_iter().flatten() {
            // SAFETY: a child that has not been waited for.
            unsafe { libc::kill(command.id() as i32, signal) };
        }
        let status = command.wait().unwrap();
        if !in_writing {
            assert!(status.success(), "{arguments:?}: {status}");
            let whole = folder.join(arguments.last().unwrap());
            match whole.is_dir() {
                true => fs::remove_dir_all(whole).unwrap(),
                false => fs::remove_file(whole).unwrap(),
            }
            continue;
        }
        assert_eq!(status.signal(), Some(signal), "{arguments:?}: {status}");
        assert_eq!(names(folder), before, "{arguments:?}");
        return;
    }
    panic!("{arguments:?} is always done before the signal comes");
}

#[test]
fn nothing_half_written_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let synth = ["synth", "-q", "--ranks", "2", "--drawables", "300000"];
    succeeds(folder, &[&synth[..], &["a.slog2"]].concat());
    interrupt(folder, &["convert", "a.slog2", "o.clog2"], libc::SIGINT);
    interrupt(folder, &["convert", "a.slog2", "o.pftrace"], libc::SIGHUP);
    if cfg!(feature = "tables") {
        interrupt(folder, &["convert", "a.slog2", "o.parquet"], libc::SIGTERM);
    }
}
