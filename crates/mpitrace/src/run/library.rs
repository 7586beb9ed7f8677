//! Finds the libtrace.so to preload: one fits every MPI.

use crate::failure::Failure;
use crate::run::family::has_name;
use crate::system::own_program;
use std::path::{Path, PathBuf};

const NAME: &str = "libtrace.so";

/// A symbol that every recorder has, and no other library: it says which MPIs the recorder is for.
const SYMBOL: &str = "trace_abi";

/// Path of the library, always absolute.
///
/// `given` (`--lib`, `TRACE_LIB`) is the library or a folder that has it. Without it, `lib` and `../lib` from where this program is are
/// looked at, and its own folder.
pub fn find(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let folders = match given {
        Some(path) if path.is_file() => return checked(path),
        Some(path) if path.is_dir() => vec![path.to_path_buf()],
        Some(path) => {
            let message = format!("{}: no such library", path.display());
            return Err(Failure::Call(message));
        }
        None => own_folders(),
    };
    let places: Vec<PathBuf> = folders.iter().map(|folder| folder.join(NAME)).collect();
    if let Some(found) = places.iter().find(|path| path.is_file()) {
        return checked(found);
    }
    let tried = places.iter().map(|path| format!("\n  {}", path.display()));
    Err(Failure::Call(format!(
        "no {NAME}; name it with --lib or TRACE_LIB. Looked for:{}",
        tried.collect::<String>()
    )))
}

fn own_folders() -> Vec<PathBuf> {
    let Ok(own) = own_program::path() else {
        return Vec::new();
    };
    let own = own.canonicalize().unwrap_or(own);
    let Some(folder) = own.parent() else {
        return Vec::new();
    };
    // A build for the tests has a `lib` of its own, below that of a release.
    let mut folders = vec![folder.join("lib")];
    folders.extend(folder.parent().map(|above| above.join("lib")));
    folders.push(folder.to_path_buf());
    folders
}

/// The path of a recorder, which the loader can preload. The loader splits LD_PRELOAD at blanks and colons.
fn checked(path: &Path) -> Result<PathBuf, Failure> {
    let path = std::path::absolute(path)
        .map_err(|error| Failure::Call(format!("{}: {error}", path.display())))?;
    if path
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .any(|byte| b" \t\n:;".contains(byte))
    {
        let message = "the dynamic loader cannot preload a path with a blank, colon or semicolon";
        return Err(Failure::Call(format!("{}: {message}", path.display())));
    }
    if has_name(&path, SYMBOL) != Some(true) {
        let message = format!("not the recorder of libtrace, which has a symbol {SYMBOL}");
        return Err(Failure::Call(format!("{}: {message}", path.display())));
    }
    Ok(path)
}
