//! Whether a run has left a trace: of a program that does not call MPI there is none.

use crate::block_files::found;
use settings::{OutputSet, Settings};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Endings of the files and folders that recorders leave, besides block files.
const ENDINGS: [&str; 4] = ["slog2", "clog2", "meta", "otf2"];

/// A file as it was when somebody looked: name, size, and when it was changed.
type SeenFile = (PathBuf, u64, Option<SystemTime>);

/// Traces and block files that were there before the run.
pub struct EarlierTraces {
    folders: Vec<PathBuf>,
    files: BTreeSet<SeenFile>,
}

impl EarlierTraces {
    /// Looks into the folders that a run with these variables would use; `None` if it writes no traces, or nobody knows before where.
    pub fn now(variables: &[(OsString, OsString)]) -> Option<EarlierTraces> {
        let table = wrappers::table().ok()?;
        let known = |name: &str| table.get(name).is_some();
        let settings = Settings::of_child(variables, &known).settings;
        let folders = folders(&settings)?;
        let files = traces(&folders);
        Some(EarlierTraces { folders, files })
    }

    /// What is to be said of a run that has left nothing on this host; `None` if there is something new.
    pub fn advice(&self) -> Option<String> {
        let is_new = traces(&self.folders)
            .difference(&self.files)
            .next()
            .is_some();
        let folder = self.folders.first().filter(|_| !is_new)?;
        Some(format!(
            "there is no new trace in {} on this host: no rank called MPI, or the ranks worked in another folder",
            folder.display()
        ))
    }
}

/// Folders of the SLOG2 and CLOG2 files, of the DUMPI files, and of the block files.
fn folders(settings: &Settings) -> Option<Vec<PathBuf>> {
    if settings.outputs == OutputSet::NONE {
        return None;
    }
    // After a `/` at the end the default follows.
    let of = |name: &str| {
        let file = Path::new(&settings.directory).join(format!("{name}x"));
        file.parent().map(Path::to_path_buf)
    };
    let all = [
        of(&settings.output)?,
        of(&settings.fileroot)?,
        PathBuf::from(&settings.tmpdir),
    ];
    let has_patterns = |folder: &PathBuf| folder.as_os_str().as_encoded_bytes().contains(&b'%');
    (!all.iter().any(has_patterns)).then(|| all.into())
}

/// Traces and block files in these folders.
fn traces(folders: &[PathBuf]) -> BTreeSet<SeenFile> {
    let entries = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok());
    let paths = entries.flatten().flatten().map(|entry| entry.path());
    let is_one = |path: &PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| ENDINGS.contains(&ending)) || found::is_block_file(path)
    };
    let seen = |path: PathBuf| {
        let metadata = path.symlink_metadata().ok();
        let size = metadata.as_ref().map_or(0, std::fs::Metadata::len);
        let changed = metadata.and_then(|metadata| metadata.modified().ok());
        (path, size, changed)
    };
    paths.filter(is_one).map(seen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_those_of_the_settings() {
        let of = |text: &str| folders(&Settings::from_text(text).0);
        let paths = |names: [&str; 3]| Some(names.map(PathBuf::from).to_vec());
        assert_eq!(of(""), paths([".", ".", "/tmp"]));
        let set = "directory out\noutput a/\nfileroot /d/b\ntmpdir /t\n";
        assert_eq!(of(set), paths(["out/a", "/d", "/t"]));
        assert_eq!(of("directory %j"), None);
        assert_eq!(of("outputs none"), None);
    }
}
