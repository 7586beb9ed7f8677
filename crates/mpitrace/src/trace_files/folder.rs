//! Traces that are folders, which `mpitrace` writes and does not read.

use std::path::Path;

/// What kind of trace a folder is, with an article; `None` if it is none.
pub fn kind(path: &Path) -> Option<&'static str> {
    if trace_formats::otf2::is_archive(path) {
        return Some("an OTF2 trace");
    }
    #[cfg(feature = "tables")]
    if tables::is_dataset(path) {
        return Some("a dataset of tables");
    }
    None
}
