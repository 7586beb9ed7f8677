//! Block files that a run has left when its launcher has ended, of which `mpitrace recover` makes the trace.

use crate::block_files::folders;
use crate::block_files::found;
use crate::block_files::snapshot::is_writing;
use blockfile::layout::FileHeader;
use settings::Settings;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::mem::offset_of;
use std::path::{Path, PathBuf};

/// Most files that are named one by one.
const MAX_NAMED_FILES: usize = 4;

/// Block files that were there before the run.
pub struct EarlierBlockFiles {
    folders: Vec<PathBuf>,
    files: BTreeSet<PathBuf>,
}

impl EarlierBlockFiles {
    /// Looks into the folders that a run with these variables would use.
    pub fn now(variables: &[(OsString, OsString)]) -> EarlierBlockFiles {
        let settings = Settings::of_child(variables, &|_| true).settings;
        let folders = folders::of_settings(&settings);
        let files = block_files(&folders).collect();
        EarlierBlockFiles { folders, files }
    }

    /// Command to type if the run has left block files that no process writes to; `None` if it has not.
    pub fn advice(&self) -> Option<String> {
        let is_new = |path: &PathBuf| !self.files.contains(path) && is_over(path);
        let left: Vec<PathBuf> = block_files(&self.folders).filter(is_new).collect();
        let folders: BTreeSet<&Path> = left.iter().filter_map(|path| path.parent()).collect();
        if left.is_empty() {
            return None;
        }
        let (what, names): (&str, Vec<&Path>) = match left.len() {
            1 => ("a block file", left.iter().map(PathBuf::as_path).collect()),
            2..=MAX_NAMED_FILES => ("block files", left.iter().map(PathBuf::as_path).collect()),
            _ => ("block files", folders.into_iter().collect()),
        };
        let names: Vec<String> = names.iter().map(|path| quoted(path.as_os_str())).collect();
        Some(format!(
            "the run has left {what} on this host: its trace is made by\n    mpitrace recover {}",
            names.join(" ")
        ))
    }
}

/// A name as one word for a shell.
fn quoted(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    match name.chars().all(is_plain) {
        true => name.into_owned(),
        false => format!("'{}'", name.replace('\'', "'\\''")),
    }
}

fn block_files(folders: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    let entries = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok());
    let paths = entries.flatten().flatten().map(|entry| entry.path());
    let found: Vec<PathBuf> = paths.filter(|path| found::is_block_file(path)).collect();
    found.into_iter().map(|path| {
        path.strip_prefix("./")
            .map_or(path.clone(), Path::to_path_buf)
    })
}

/// Whether it is a block file of this user's or root's, of a process that does not run here any more.
fn is_over(path: &Path) -> bool {
    let mut header = [0; size_of::<FileHeader>()];
    let read = found::open(path, false).and_then(|mut file| file.read_exact(&mut header));
    let at = offset_of!(FileHeader, pid);
    let pid = header[at..at + 4].try_into().map(u32::from_ne_bytes);
    read.is_ok() && pid.is_ok_and(|pid| !is_writing(pid, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_of_a_shell() {
        assert_eq!(quoted("/tmp/a.b".as_ref()), "/tmp/a.b");
        assert_eq!(quoted("a b'c".as_ref()), "'a b'\\''c'");
    }
}
