//! Block files that are found in a folder. Such folders, /tmp above all, are open to other users, who may have put pipes, links or
//! files of their own there; so of what nobody has named, only regular files of the user's own or root's are taken.

use crate::failure::Failure;
use crate::terminal::tell;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use trace_model::files;

/// Ending of the names of block files.
pub const ENDING: &str = "blocks";

/// Whether the name is that of a block file.
pub fn is_block_file(path: &Path) -> bool {
    path.extension() == Some(OsStr::new(ENDING))
}

/// The block files in a folder, in the order of their names. What is left out is said on stderr; with `any_owner`, regular files of
/// all users are taken.
pub fn block_files(folder: &Path, any_owner: bool) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error: io::Error| Failure::file(folder, error);
    let mut found = Vec::new();
    let mut left_out = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if !is_block_file(&path) {
            continue;
        }
        match open(&path, any_owner) {
            Ok(_) => found.push(path),
            // Of a program that has just ended.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // Refused above, or by the system to who is not its owner.
            Err(error) if is_refusal(&error) => left_out.push((path, error)),
            // Reading it will tell what is wrong.
            Err(_) => found.push(path),
        }
    }
    found.sort();
    left_out.sort_by(|a, b| a.0.cmp(&b.0));
    if let Some((path, error)) = left_out.first() {
        let more = match left_out.len() {
            1 => String::new(),
            n => format!(" (and {} more)", n - 1),
        };
        tell!("mpitrace: {}: {error}: left out{more}", path.display());
    }
    Ok(found)
}

/// There are no block files in a folder. Names a trace that is there, which may be meant.
pub fn none(folder: &Path) -> Failure {
    let mut message = format!("{}: no block files in this folder", folder.display());
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_trace = |path: &PathBuf| path.extension().is_some_and(|it| it == "slog2");
    if let Some(trace) = entries.map(|entry| entry.path()).filter(is_trace).min() {
        message.push_str(&format!(
            "; of a run that has ended, name the trace: {}",
            trace.display()
        ));
    }
    Failure::Data(message)
}

fn is_refusal(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::InvalidInput | io::ErrorKind::PermissionDenied
    )
}

/// Opens a file of a folder: a regular one, of the user's own or root's unless `any_owner`.
pub fn open(path: &Path, any_owner: bool) -> io::Result<fs::File> {
    match any_owner {
        true => files::open_regular(path),
        false => files::open_found(path),
    }
}
