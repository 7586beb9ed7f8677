//! A folder that gets its name only when it is complete.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use trace_model::temporary_name;

/// Temporary names that are tried.
const ATTEMPTS: u32 = 1000;
/// Name of an archive in its folder: the anchor file is `traces.otf2`.
pub(super) const ARCHIVE_NAME: &str = "traces";

/// Whether this is the folder of an OTF2 archive: it has a file `traces.otf2`.
pub fn is_archive(path: &Path) -> bool {
    path.join(ARCHIVE_NAME).with_extension("otf2").is_file()
}

/// Whether bytes begin as the anchor file of an archive does: a record with the byte order and the format's name.
pub fn recognises(bytes: &[u8]) -> bool {
    matches!(bytes, [3, _, b'O', b'T', b'F', b'2', ..])
}

/// A folder under a temporary name beside its final one. [`PendingFolder::persist`] gives it its name; if that is never called, it is
/// removed with everything in it.
#[derive(Debug)]
pub(super) struct PendingFolder {
    /// `None` when it has its name.
    temporary: Option<PathBuf>,
    path: PathBuf,
    /// Files that are given up before the folder is removed, which needs some: the process may have as many open as it may.
    spare: Vec<File>,
}

/// Files that are kept to be given up.
const SPARE_FILES: usize = 4;

impl PendingFolder {
    /// Creates the temporary folder, in the directory of `path`.
    ///
    /// # Errors
    /// When it cannot be created, or when something that is no archive has the name.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        may_replace(path)?;
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        for attempt in 0..ATTEMPTS {
            let temporary = temporary_path(path, name, attempt);
            match fs::DirBuilder::new().mode(0o777).create(&temporary) {
                Ok(()) => {
                    return Ok(PendingFolder {
                        temporary: Some(temporary),
                        path: path.to_path_buf(),
                        spare: (0..SPARE_FILES)
                            .filter_map(|_| File::open("/dev/null").ok())
                            .collect(),
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// The path of the folder now.
    pub(super) fn current_path(&self) -> &Path {
        self.temporary.as_deref().unwrap_or(&self.path)
    }

    /// Gives the folder its name. An archive that has the name is removed; it is there until the new one is in its place.
    ///
    /// # Errors
    /// When the folder cannot be renamed. An older archive then still has the name.
    pub(super) fn persist(mut self) -> io::Result<()> {
        let Some(temporary) = self.temporary.clone() else {
            return Ok(());
        };
        may_replace(&self.path)?;
        let older = fs::symlink_metadata(&self.path).is_ok();
        if !older {
            fs::rename(&temporary, &self.path)?;
            self.temporary = None;
            return Ok(());
        }
        // A folder with files in it cannot be renamed over.
        let name = self.path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let aside = (0..ATTEMPTS)
            .map(|attempt| temporary_path(&self.path, name, attempt))
            .find(|path| fs::symlink_metadata(path).is_err())
            .ok_or(io::ErrorKind::AlreadyExists)?;
        fs::rename(&self.path, &aside)?;
        if let Err(error) = fs::rename(&temporary, &self.path) {
            fs::rename(&aside, &self.path)?;
            return Err(error);
        }
        self.temporary = None;
        fs::remove_dir_all(&aside)
    }
}

impl Drop for PendingFolder {
    fn drop(&mut self) {
        self.spare.clear();
        if let Some(temporary) = &self.temporary {
            // Nobody can be told.
            let _ = fs::remove_dir_all(temporary);
        }
    }
}

/// Refuses a name that something else than an archive has.
fn may_replace(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(_) => Ok(()),
        Ok(found) if found.is_dir() && is_archive(path) => Ok(()),
        Ok(_) => Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "something that is no OTF2 archive has this name",
        )),
    }
}

fn temporary_path(path: &Path, name: &std::ffi::OsStr, attempt: u32) -> PathBuf {
    path.with_file_name(temporary_name(name, attempt))
}
