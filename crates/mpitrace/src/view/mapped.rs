//! The bytes of a trace that stays open, or of its index, and what happens if somebody shortens or replaces its file meanwhile.
//!
//! Pages that are gone read as zeros ([`crate::system::torn_pages`]): whoever has computed something from a trace looks at [`Mapped::trouble`] before he
//! tells it.

use crate::failure::Failure;
use crate::system::torn_pages::{MAX_GUARDS, PageGuard};
use crate::trace_files::input::OpenedInput;
use std::fs::{File, Metadata};
use std::io;
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The bytes of a trace.
pub struct Mapped {
    /// The mapping: its guard, which goes before it, the file, and its state when it was opened.
    file: Option<(PageGuard, File, Identity)>,
    bytes: OpenedInput,
    path: PathBuf,
}

/// A file whose content was taken over into a trace: what it was like before it was read.
pub struct WatchedFile {
    path: PathBuf,
    before: Identity,
}

impl WatchedFile {
    /// Watches the file of this name; `None` for what is no ordinary file.
    pub fn of(path: &Path) -> Option<WatchedFile> {
        let metadata = std::fs::metadata(path).ok()?;
        metadata.is_file().then(|| WatchedFile {
            path: path.to_path_buf(),
            before: Identity::of(&metadata),
        })
    }

    /// Why what was read of it is no longer what it holds. One that was removed held what was read.
    pub fn trouble(&self) -> Option<String> {
        let now = Identity::of(&std::fs::metadata(&self.path).ok()?);
        let path = self.path.display();
        if !now.is_same_file(&self.before) {
            return Some(format!(
                "{path} was replaced by another file while it was open"
            ));
        }
        (now != self.before).then(|| format!("{path} was changed while it was open"))
    }
}

/// Properties that change if a file is written to or replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    length: u64,
    changed: (i64, i64),
}

impl Identity {
    fn of(metadata: &Metadata) -> Self {
        Identity {
            device: metadata.dev(),
            inode: metadata.ino(),
            length: metadata.len(),
            changed: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }

    /// Whether both are of one file, whatever is in it.
    fn is_same_file(&self, other: &Identity) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

impl Mapped {
    /// Opens and maps a file; one that is no ordinary file is read.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::file(path, error);
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() || metadata.len() == 0 {
            return Ok(Mapped::read(path, OpenedInput::open_raw(path)?));
        }
        Mapped::of(file, path)
    }

    /// Maps a regular file that is open under this name.
    pub fn of(file: File, path: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::file(path, error);
        let metadata = file.metadata().map_err(failed)?;
        let bytes = crate::trace_files::input::map(&file).map_err(failed)?;
        let Some(guard) = PageGuard::of(&bytes) else {
            let what = format!("at most {MAX_GUARDS} files are shown at once");
            return Err(Failure::Call(what));
        };
        Ok(Mapped {
            bytes,
            file: Some((guard, file, Identity::of(&metadata))),
            path: path.to_path_buf(),
        })
    }

    /// Bytes that nobody else can change.
    pub fn read(path: &Path, bytes: OpenedInput) -> Self {
        Mapped {
            bytes,
            file: None,
            path: path.to_path_buf(),
        }
    }

    /// Whether they are those of the file itself, so that its changes are seen.
    pub fn is_of_file(&self) -> bool {
        self.file.is_some()
    }

    /// Whether a part of the file was found gone; costs one load.
    pub fn is_torn(&self) -> bool {
        self.file
            .as_ref()
            .is_some_and(|(guard, ..)| guard.is_torn())
    }

    /// Why what was read must not be trusted any more.
    pub fn trouble(&self) -> Option<String> {
        let (_, file, before) = self.file.as_ref()?;
        let path = self.path.display();
        if self.is_torn() {
            return Some(format!("{path} was shortened while it was open"));
        }
        let now = match file.metadata() {
            Ok(metadata) => Identity::of(&metadata),
            Err(error) => return Some(format!("{path}: {error}")),
        };
        if now != *before {
            return Some(format!("{path} was changed while it was open"));
        }
        // One that was removed can still be read; of one that was replaced the old content is not what is meant.
        let there = std::fs::metadata(&self.path).ok();
        let is_other = there.is_some_and(|there| !Identity::of(&there).is_same_file(before));
        is_other.then(|| format!("{path} was replaced by another file while it was open"))
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn trouble(mapped: &Mapped) -> String {
        mapped.trouble().unwrap_or_default()
    }

    #[test]
    fn a_file_that_is_shortened_reads_as_zeros_and_is_marked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, vec![7; 1 << 20]).unwrap();
        let mapped = Mapped::open(&path).unwrap();
        assert_eq!(trouble(&mapped), "");
        assert_eq!(mapped[1_000_000], 7);
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(5000).unwrap();
        let sum: u64 = mapped.iter().map(|&byte| u64::from(byte)).sum();
        assert_eq!(sum, 7 * 5000);
        assert!(mapped.is_torn());
        assert!(
            trouble(&mapped).contains("was shortened"),
            "{}",
            trouble(&mapped)
        );
        // The rest is as long as before.
        assert_eq!(mapped.len(), 1 << 20);
    }

    #[test]
    fn files_that_are_replaced_or_written_to_are_told_and_removed_ones_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        let mapped = Mapped::open(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(trouble(&mapped), "");
        fs::write(&path, "new").unwrap();
        assert!(
            trouble(&mapped).contains("was replaced"),
            "{}",
            trouble(&mapped)
        );
        assert_eq!(&mapped[..], b"old");

        let mapped = Mapped::open(&path).unwrap();
        let watched = WatchedFile::of(&path).unwrap();
        assert_eq!(watched.trouble(), None);
        let file = File::options().append(true).open(&path).unwrap();
        io::Write::write_all(&mut &file, b"er").unwrap();
        assert!(
            trouble(&mapped).contains("was changed"),
            "{}",
            trouble(&mapped)
        );
        assert!(watched.trouble().unwrap().contains("was changed"));
        fs::remove_file(&path).unwrap();
        assert_eq!(watched.trouble(), None);
        let other = folder.path().join("b");
        fs::write(&other, "newer").unwrap();
        fs::rename(&other, &path).unwrap();
        assert!(watched.trouble().unwrap().contains("was replaced"));
        assert!(WatchedFile::of(folder.path()).is_none());
    }
}
