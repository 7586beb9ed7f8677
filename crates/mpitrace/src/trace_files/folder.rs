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
