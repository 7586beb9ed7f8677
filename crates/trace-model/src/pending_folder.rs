//! A folder that gets its name only when it is complete.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::{temporary, temporary_name};

/// Temporary names that are tried.
const ATTEMPTS: u32 = 1000;

/// What a folder is made to be.
#[derive(Clone, Copy, Debug)]
pub struct FolderKind {
    /// Whether a folder is one of these. Only such a folder is replaced.
    pub is_one: fn(&Path) -> bool,
    /// Name of such a folder with an article: `an OTF2 archive`.
    pub name: &'static str,
}

/// A folder under a temporary name beside its final one. [`PendingFolder::persist`] gives it its name; if that is never called, it is
/// removed with everything in it.
#[derive(Debug)]
pub struct PendingFolder {
    /// `None` when it has its name.
    temporary: Option<PathBuf>,
    path: PathBuf,
    kind: FolderKind,
    /// Files that are given up before the folder is removed, which needs some: the process may have as many open as it may.
    spare: Vec<File>,
}

/// Files that are kept to be given up.
const SPARE_FILES: usize = 4;

impl PendingFolder {
    /// Creates the temporary folder, in the directory of `path`.
    ///
    /// # Errors
    /// When it cannot be created, or when something that is not of this kind has the name.
    pub fn create(path: &Path, kind: FolderKind) -> io::Result<Self> {
        kind.may_replace(path)?;
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        temporary::begin();
        for attempt in 0..ATTEMPTS {
            let name = temporary_path(path, name, attempt);
            match fs::DirBuilder::new().mode(0o777).create(&name) {
                Ok(()) => {
                    temporary::made(&name);
                    return Ok(PendingFolder {
                        temporary: Some(name),
                        path: path.to_path_buf(),
                        kind,
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
    pub fn current_path(&self) -> &Path {
        self.temporary.as_deref().unwrap_or(&self.path)
    }

    /// Gives the folder its name. An older one of its kind that has the name is removed; it is there until the new one is in its place.
    ///
    /// # Errors
    /// When the folder cannot be renamed. The older one then still has the name.
    pub fn persist(mut self) -> io::Result<()> {
        let Some(own) = self.temporary.clone() else {
            return Ok(());
        };
        self.kind.may_replace(&self.path)?;
        let older = fs::symlink_metadata(&self.path).is_ok();
        if !older {
            fs::rename(&own, &self.path)?;
            temporary::gone(&own);
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
        if let Err(error) = fs::rename(&own, &self.path) {
            fs::rename(&aside, &self.path)?;
            return Err(error);
        }
        temporary::gone(&own);
        self.temporary = None;
        fs::remove_dir_all(&aside)
    }
}

impl Drop for PendingFolder {
    fn drop(&mut self) {
        self.spare.clear();
        if let Some(name) = &self.temporary {
            // Nobody can be told.
            let _ = fs::remove_dir_all(name);
            temporary::gone(name);
        }
    }
}

impl FolderKind {
    /// Refuses a name that something else has.
    fn may_replace(self, path: &Path) -> io::Result<()> {
        match fs::symlink_metadata(path) {
            Err(_) => Ok(()),
            Ok(found) if found.is_dir() && (self.is_one)(path) => Ok(()),
            Ok(_) => Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                format!("something that is not {} has this name", self.name),
            )),
        }
    }
}

fn temporary_path(path: &Path, name: &std::ffi::OsStr, attempt: u32) -> PathBuf {
    path.with_file_name(temporary_name(name, attempt))
}
