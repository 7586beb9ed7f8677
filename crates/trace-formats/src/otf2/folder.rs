//! The folder of an archive.

use std::path::{Path, PathBuf};

use trace_model::{EntryKind, FolderKind};

/// The folder of an archive, for [`trace_model::PendingFolder`].
pub const ARCHIVE: FolderKind = FolderKind {
    is_one: is_archive,
    has_entry,
    name: "an OTF2 archive",
};

/// Name of an archive in its folder: the anchor file is `traces.otf2`.
pub(super) const ARCHIVE_NAME: &str = "traces";

/// The anchor file of an archive in this folder: `traces.otf2`.
pub fn anchor(folder: &Path) -> PathBuf {
    folder.join(ARCHIVE_NAME).with_extension("otf2")
}

/// Whether this is the folder of an OTF2 archive: it has a file `traces.otf2`.
pub fn is_archive(path: &Path) -> bool {
    anchor(path).is_file()
}

/// Whether bytes begin as the anchor file of an archive does: a record with the byte order and the format's name.
pub fn recognises(bytes: &[u8]) -> bool {
    matches!(bytes, [3, _, b'O', b'T', b'F', b'2', ..])
}

/// Whether an entry is one that an [`Otf2Sink`](super::Otf2Sink) writes: the anchor file, the definitions, and the definitions and events of each
/// location.
fn has_entry(path: &Path, kind: EntryKind) -> bool {
    let parts: Vec<_> = path.iter().map(|part| part.to_str()).collect();
    match (&parts[..], kind) {
        ([Some(name)], EntryKind::Folder) => *name == ARCHIVE_NAME,
        ([Some(name)], EntryKind::File) => {
            let ending = name.strip_prefix(ARCHIVE_NAME);
            matches!(ending, Some(".otf2" | ".def"))
        }
        ([Some(_), Some(name)], EntryKind::File) => {
            let name = name.rsplit_once('.');
            name.is_some_and(|(location, ending)| {
                matches!(ending, "evt" | "def") && location.parse::<u64>().is_ok()
            })
        }
        _ => false,
    }
}
