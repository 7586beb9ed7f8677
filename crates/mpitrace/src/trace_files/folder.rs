//! Traces that are folders.

use std::path::{Path, PathBuf};

/// What kind of trace a folder is, with an article; `None` if it is none.
pub fn kind(path: &Path) -> Option<&'static str> {
    if trace_formats::otf2::is_archive(path) {
        return Some("an OTF2 archive");
    }
    #[cfg(feature = "tables")]
    if tables::is_dataset(path) {
        return Some("a dataset of tables");
    }
    None
}

/// The file that stands for a trace: the anchor file of a folder that is an OTF2 archive, else the path itself.
pub fn file_of(path: &Path) -> PathBuf {
    match trace_formats::otf2::is_archive(path) {
        true => trace_formats::otf2::anchor(path),
        false => path.to_path_buf(),
    }
}

/// Name of a trace on a page: that of its file, or of the folder of an archive, whose anchor file is called as in any other archive.
pub fn name_of(path: &Path) -> String {
    let parent = path
        .parent()
        .filter(|parent| trace_formats::otf2::anchor(parent) == path);
    let named = parent.filter(|parent| parent.file_name().is_some());
    let named = named.unwrap_or(path);
    let name = named.file_name().unwrap_or(named.as_os_str());
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_called_by_its_folder() {
        let name = |path: &str| name_of(Path::new(path));
        assert_eq!(name("a/run.slog2"), "run.slog2");
        assert_eq!(name("a/scorep/traces.otf2"), "scorep");
        assert_eq!(name("traces.otf2"), "traces.otf2");
        assert_eq!(name("-"), "-");
    }
}
