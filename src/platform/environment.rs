//! The environment, as far as it may be believed. A program that runs with more rights than who started it (setuid, setgid, file
//! capabilities) must not be led by that user's variables: there they say nothing, and nothing is recorded or written.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Whether the program has rights that who started it has not; the system tells it in `AT_SECURE`, as it tells the C library
/// for `secure_getenv`.
pub fn is_untrusted() -> bool {
    static UNTRUSTED: OnceLock<bool> = OnceLock::new();
    // SAFETY: asks for a number.
    *UNTRUSTED.get_or_init(|| unsafe { libc::getauxval(libc::AT_SECURE) } != 0)
}

/// The variable `name`, if there is one that may be believed.
pub fn var_os(name: &str) -> Option<OsString> {
    match is_untrusted() {
        true => None,
        false => std::env::var_os(name),
    }
}

/// The variable `name` as text, likewise; `None` also where it is none.
pub fn var(name: &str) -> Option<String> {
    var_os(name)?.into_string().ok()
}

/// The task of an array of batch jobs that this process belongs to, empty without one.
pub fn array_task() -> String {
    settings::array_task(&var).unwrap_or_default()
}

/// Working directory of the program at its first MPI call: relative names count from there, wherever the program goes later.
static HOME: OnceLock<PathBuf> = OnceLock::new();

/// Notes the working directory, once.
pub fn set_home() {
    HOME.get_or_init(|| std::env::current_dir().unwrap_or_default());
}

/// The process's working directory at its first MPI call; empty before that.
pub fn home() -> &'static Path {
    HOME.get().map_or(Path::new(""), PathBuf::as_path)
}
