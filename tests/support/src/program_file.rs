//! Programs that a test puts into a folder and starts.
//!
//! Another process writes them. If this one did, a thread that starts a process at that moment would pass on the open file, and the program could not be
//! started as long as that process has it: "Text file busy".

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Copies a program. Everybody may start the copy.
///
/// # Panics
/// If it cannot be copied.
pub fn copy(from: &Path, to: &Path) {
    let mut install = Command::new("install");
    let status = install.args(["-m", "755"]).args([from, to]).status();
    assert!(status.is_ok_and(|status| status.success()), "{to:?}");
}

/// Writes a script of the shell, without the line that names it. Everybody may start it.
///
/// # Panics
/// If it cannot be written.
pub fn write_script(path: &Path, text: &str) {
    let mut install = Command::new("install");
    install.args(["-m", "755", "/dev/stdin"]).arg(path);
    let mut child = install.stdin(Stdio::piped()).spawn().expect("install");
    let mut input = child.stdin.take().expect("piped");
    let written = write!(input, "#!/bin/sh\n{text}\n");
    drop(input);
    let status = child.wait().expect("own child");
    assert!(written.is_ok() && status.success(), "{path:?}");
}
