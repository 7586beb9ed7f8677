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
    /// Whether a folder of this kind has an entry of this path in it, as it is written here. A folder with any other entry is not replaced.
    pub has_entry: fn(&Path, EntryKind) -> bool,
    /// Name of such a folder with an article: `an OTF2 archive`.
    pub name: &'static str,
}

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A folder.
    Folder,
    /// A file. Links, pipes and devices are none.
    File,
}

/// A folder under a temporary name beside a path. It is removed with everything that is in it then.
#[derive(Debug)]
pub struct TemporaryFolder {
    /// `None` when it has another name.
    path: Option<PathBuf>,
    /// Files that are given up before the folder is removed, which needs some: the process may have as many open as it may.
    spare: Vec<File>,
}

/// Files that are kept to be given up.
const SPARE_FILES: usize = 4;

impl TemporaryFolder {
    /// Creates the folder in the directory of `path`, with a name that begins as that of `path`.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn beside(path: &Path) -> io::Result<Self> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        temporary::begin();
        for attempt in 0..ATTEMPTS {
            let name = temporary_path(path, name, attempt);
            match fs::DirBuilder::new().mode(0o777).create(&name) {
                Ok(()) => {
                    temporary::made(&name);
                    let spare = (0..SPARE_FILES).filter_map(|_| File::open("/dev/null").ok());
                    return Ok(TemporaryFolder {
                        path: Some(name),
                        spare: spare.collect(),
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(""))
    }

    /// Gives the folder another name, by which it stays.
    fn rename(mut self, name: &Path) -> io::Result<()> {
        if let Some(own) = &self.path {
            fs::rename(own, name)?;
            temporary::gone(own);
            self.path = None;
        }
        Ok(())
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        self.spare.clear();
        if let Some(name) = &self.path {
            // Nobody can be told.
            let _ = fs::remove_dir_all(name);
            temporary::gone(name);
        }
    }
}

/// A folder under a temporary name beside its final one. [`PendingFolder::persist`] gives it its name; if that is never called, it is
/// removed with everything in it.
#[derive(Debug)]
pub struct PendingFolder {
    folder: TemporaryFolder,
    path: PathBuf,
    kind: FolderKind,
}

impl PendingFolder {
    /// Creates the temporary folder, in the directory of `path`.
    ///
    /// # Errors
    /// When it cannot be created, or when something has the name that may not be replaced.
    pub fn create(path: &Path, kind: FolderKind) -> io::Result<Self> {
        kind.may_replace(path)?;
        Ok(PendingFolder {
            folder: TemporaryFolder::beside(path)?,
            path: path.to_path_buf(),
            kind,
        })
    }

    /// The path of the folder now.
    pub fn current_path(&self) -> &Path {
        self.folder.path()
    }

    /// Gives the folder its name. An older one of its kind that has the name is removed; it is there until the new one is in its place.
    ///
    /// # Errors
    /// When the folder cannot be renamed. The older one then still has the name.
    pub fn persist(self) -> io::Result<()> {
        self.kind.may_replace(&self.path)?;
        if fs::symlink_metadata(&self.path).is_err() {
            return self.folder.rename(&self.path);
        }
        // A folder with files in it cannot be renamed over.
        let name = self.path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let aside = (0..ATTEMPTS)
            .map(|attempt| temporary_path(&self.path, name, attempt))
            .find(|path| fs::symlink_metadata(path).is_err())
            .ok_or(io::ErrorKind::AlreadyExists)?;
        fs::rename(&self.path, &aside)?;
        if let Err(error) = self.folder.rename(&self.path) {
            fs::rename(&aside, &self.path)?;
            return Err(error);
        }
        fs::remove_dir_all(&aside)
    }
}

impl FolderKind {
    /// Refuses a name that something else has, and a folder with anything in it that nobody writes into such a folder.
    ///
    /// # Errors
    /// What is in the way, or that a folder cannot be read.
    pub fn may_replace(self, path: &Path) -> io::Result<()> {
        let in_the_way = |what| Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
        match fs::symlink_metadata(path) {
            Err(_) => Ok(()),
            Ok(found) if found.is_dir() && (self.is_one)(path) => match self.foreign_entry(path)? {
                None => Ok(()),
                Some(entry) => in_the_way(format!(
                    "the folder has {}, which is not part of {}; expected a folder with nothing else in it, or another name",
                    entry.display(),
                    self.name
                )),
            },
            Ok(_) => in_the_way(format!("something that is not {} has this name", self.name)),
        }
    }

    /// The path in `folder` of an entry that is not written into such a folder.
    fn foreign_entry(self, folder: &Path) -> io::Result<Option<PathBuf>> {
        // Folders in it that are still to be read. Only such as the kind has, so that the search ends.
        let mut folders = vec![PathBuf::new()];
        while let Some(inner) = folders.pop() {
            for entry in fs::read_dir(folder.join(&inner))? {
                let entry = entry?;
                let path = inner.join(entry.file_name());
                let found = entry.file_type()?;
                let kind = match (found.is_dir(), found.is_file()) {
                    (true, _) => EntryKind::Folder,
                    (_, true) => EntryKind::File,
                    _ => return Ok(Some(path)),
                };
                if !(self.has_entry)(&path, kind) {
                    return Ok(Some(path));
                }
                if kind == EntryKind::Folder {
                    folders.push(path);
                }
            }
        }
        Ok(None)
    }
}

fn temporary_path(path: &Path, name: &std::ffi::OsStr, attempt: u32) -> PathBuf {
    path.with_file_name(temporary_name(name, attempt))
}
