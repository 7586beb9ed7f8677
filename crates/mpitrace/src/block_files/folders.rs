//! Folders in which recorders started from here put their block files: the folder of temporary files, or that of the output
//! files (in
//! batch jobs whose temporary folder goes with the job).

use std::path::{Path, PathBuf};

/// The recorder's default for `tmpdir`.
const TEMPORARY: &str = "/tmp";

/// The folders, as far as variables tell that `variable` looks up; names with patterns are left out.
pub fn of_block_files(variable: &dyn Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let ordered = set("TRACE_TMPDIR").or_else(|| set("MPE_TMPDIR"));
    let customary = || {
        let mut names = ["TMPDIR", "TMP", "TEMP"].iter();
        names.find_map(|name| set(name).filter(|folder| Path::new(folder).is_dir()))
    };
    let temporary = ordered.or_else(customary);
    let temporary = temporary.unwrap_or_else(|| TEMPORARY.to_owned());
    let output = set("TRACE_DIR").unwrap_or_else(|| ".".to_owned());
    // The folder of an `output` with folders in it.
    let output = Path::new(&output).join(set("TRACE_OUTPUT").unwrap_or_else(|| "x".to_owned()));
    let output = output.ancestors().skip(1).find(|folder| {
        // The last relative folder is an empty name.
        folder.as_os_str().is_empty() || folder.is_dir()
    });
    let output = match output {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in [PathBuf::from(temporary), output] {
        let has_patterns = folder.as_os_str().as_encoded_bytes().contains(&b'%');
        let is_known = |other: &PathBuf| other.canonicalize().ok() == folder.canonicalize().ok();
        if !has_patterns && !folders.iter().any(is_known) {
            folders.push(folder);
        }
    }
    folders
}

/// The folders, by the variables of this process.
pub fn usual() -> Vec<PathBuf> {
    of_block_files(&|name| std::env::var(name).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_those_of_the_recorder() {
        let of = |pairs: &[(&str, &str)]| {
            let find = |name: &str| {
                let pair = pairs.iter().find(|(known, _)| *known == name);
                pair.map(|(_, value)| (*value).to_owned())
            };
            of_block_files(&find)
        };
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(of(&[]), paths(&["/tmp", "."]));
        assert_eq!(of(&[("TMPDIR", "/no such")]), paths(&["/tmp", "."]));
        let ordered = [("TRACE_TMPDIR", "/usr"), ("TMPDIR", "/tmp")];
        assert_eq!(of(&ordered), paths(&["/usr", "."]));
        let output = [("TRACE_DIR", "/usr/no such/%j"), ("TRACE_OUTPUT", "a/b")];
        assert_eq!(of(&output), paths(&["/tmp", "/usr"]));
        assert_eq!(of(&[("TRACE_OUTPUT", "/usr/x")]), paths(&["/tmp", "/usr"]));
        assert_eq!(of(&[("TRACE_TMPDIR", "/tmp/%j")]), paths(&["."]));
    }
}
