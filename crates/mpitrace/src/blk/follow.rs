//! The files whose places on the devices are wanted: those that were named, and all in and below directories that were named,
//! also those that come to be while we follow.
//!
//! Places are taken when a file is closed after writing, when it is removed, from time to time while it has data without a
//! place, and at the end. So that a removed file still has them, each file is held open until that is seen; data of it that
//! were not written out by then are thrown away as they would have been without us.

use super::device::{self, Device};
use super::extents::{self, FileExtent, FileExtents};
use super::notify::{DirectoryChange, Notify};
use blockfile::define::{self, Definition};
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, Metadata, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Most files that are followed.
const MAX_FILES: usize = 20_000;
/// Most files that are held open.
const MAX_HELD_FILES: usize = 2_000;
/// Deepest directory below one that was named.
const MAX_FOLDER_DEPTH: usize = 32;
/// Time between two looks at data that have no place yet.
const UNPLACED_DATA_INTERVAL: Duration = Duration::from_secs(1);

/// A file.
struct Followed {
    path: PathBuf,
    device: usize,
    file: Option<File>,
    /// The extents that were written down last.
    recorded: Vec<FileExtent>,
    /// When it had been changed last when that was done.
    changed: (i64, i64),
    pending: bool,
}

/// Says what is new about the places of a file on the device with that position.
pub type PutDefinition<'p> = &'p mut dyn FnMut(usize, &Definition);

/// The files and directories that are followed.
pub struct Follow {
    devices: Vec<Device>,
    /// Named directories, and parents of named files with the names that count there.
    notify: Option<Notify>,
    folders: HashMap<i32, FollowedFolder>,
    files: BTreeMap<(u64, u64), Followed>,
    held: usize,
    looked: Instant,
    notes: BTreeMap<String, u64>,
}

#[derive(Clone)]
struct FollowedFolder {
    path: PathBuf,
    /// Only this name counts; of a named file that lies there.
    only: Vec<PathBuf>,
    /// All that is in it counts, to this depth below what was named.
    all: Option<usize>,
}

impl Follow {
    /// Follows `paths`, which lie on `devices`. A path that is not there yet must at least have a directory.
    pub fn new(paths: &[PathBuf], devices: Vec<Device>) -> Follow {
        let mut follow = Follow {
            devices,
            notify: None,
            folders: HashMap::new(),
            files: BTreeMap::new(),
            held: 0,
            looked: Instant::now(),
            notes: BTreeMap::new(),
        };
        match Notify::new() {
            Ok(notify) => follow.notify = Some(notify),
            Err(error) => follow.note(format!(
                "changes of directories cannot be watched ({error}): places are taken at the end only"
            )),
        }
        for path in paths {
            if path.is_dir() {
                follow.folder(path, 0);
            } else {
                follow.watch(folder_of(path), None, Some(path.clone()));
                follow.file(path, false);
            }
        }
        follow
    }

    /// The descriptor that becomes readable when something changes.
    pub fn descriptor(&self) -> Option<&Notify> {
        self.notify.as_ref()
    }

    /// Messages about what went wrong, with counts.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.notes.iter().map(|(what, &count)| match count {
            1 => what.clone(),
            n => format!("{what} ({n} times)"),
        })
    }

    /// Number of files that are followed.
    pub fn files(&self) -> usize {
        self.files.len()
    }

    fn note(&mut self, what: String) {
        if self.notes.len() < 100 || self.notes.contains_key(&what) {
            *self.notes.entry(what).or_default() += 1;
        }
    }

    fn watch(&mut self, path: PathBuf, all: Option<usize>, only: Option<PathBuf>) {
        let Some(notify) = &mut self.notify else {
            return;
        };
        match notify.watch(&path) {
            Ok(watch) => {
                let folder = self.folders.entry(watch).or_insert_with(|| FollowedFolder {
                    path,
                    only: Vec::new(),
                    all: None,
                });
                folder.all = folder.all.or(all);
                folder.only.extend(only);
            }
            Err(error) => self.note(format!(
                "directories cannot be watched ({error}): places of files there are taken at the end only"
            )),
        }
    }

    /// Follows all that is in a directory.
    fn folder(&mut self, path: &Path, depth: usize) {
        if depth > MAX_FOLDER_DEPTH {
            self.note(format!(
                "directories more than {MAX_FOLDER_DEPTH} below are left out"
            ));
            return;
        }
        self.watch(path.to_path_buf(), Some(depth), None);
        let Ok(entries) = fs::read_dir(path) else {
            self.note("a directory cannot be read".to_owned());
            return;
        };
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.folder(&entry.path(), depth + 1),
                Ok(kind) if kind.is_file() => self.file(&entry.path(), false),
                _ => {}
            }
        }
    }

    /// Follows a file, if it is there.
    fn file(&mut self, path: &Path, seen: bool) {
        // Only plain files are opened: opening others may wait or have effects.
        let Ok(meta) = fs::symlink_metadata(path) else {
            if seen {
                self.note("a file was gone before its places were taken".to_owned());
            }
            return;
        };
        let meta = match meta.is_symlink() {
            true => fs::metadata(path),
            false => Ok(meta),
        };
        let Ok(meta) = meta else {
            return;
        };
        let key = (meta.dev(), meta.ino());
        if !meta.is_file() {
            return;
        }
        if let Some(known) = self.files.get_mut(&key) {
            known.path = path.to_path_buf();
            return;
        }
        let Some(device) = self.device(&meta) else {
            self.note(format!(
                "files of another device than {} are left out",
                self.names()
            ));
            return;
        };
        if self.files.len() >= MAX_FILES {
            self.note(format!(
                "more than {MAX_FILES} files: the others are left out"
            ));
            return;
        }
        let file = match self.held < MAX_HELD_FILES {
            true => open(path).ok(),
            false => None,
        };
        if file.is_some() {
            self.held += 1;
        } else {
            self.note("a file is not held open: if it is removed its places are lost".to_owned());
        }
        let followed = Followed {
            path: path.to_path_buf(),
            device,
            file,
            recorded: Vec::new(),
            changed: (0, 0),
            pending: true,
        };
        self.files.insert(key, followed);
    }

    fn device(&self, meta: &Metadata) -> Option<usize> {
        self.devices
            .iter()
            .position(|device| device.st_dev == meta.dev())
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.devices.iter().map(|d| d.name.as_str()).collect();
        names.join(", ")
    }

    /// Sees what has changed and takes the places of files that were closed or removed.
    pub fn changes(&mut self, put: PutDefinition<'_>) {
        let Some(notify) = &mut self.notify else {
            return;
        };
        for change in notify.changes() {
            match change {
                DirectoryChange::Lost => {
                    self.note("changes of directories came too fast and were lost".to_owned());
                    let folders: Vec<FollowedFolder> = self.folders.values().cloned().collect();
                    for folder in folders {
                        if let Some(depth) = folder.all {
                            self.folder(&folder.path, depth);
                        }
                        for path in &folder.only {
                            self.file(path, false);
                        }
                    }
                    self.look(true, put);
                }
                DirectoryChange::Gone { watch } => {
                    self.folders.remove(&watch);
                }
                DirectoryChange::Name {
                    watch,
                    name,
                    folder,
                    appeared,
                    closed,
                    removed,
                } => {
                    let Some(at) = self.folders.get(&watch) else {
                        continue;
                    };
                    let path = at.path.join(name);
                    let all = at.all;
                    if all.is_none() && !at.only.contains(&path) {
                        continue;
                    }
                    match (folder, all) {
                        (true, Some(depth)) if appeared => self.folder(&path, depth + 1),
                        (true, _) => {}
                        (false, _) => {
                            if appeared || closed {
                                self.file(&path, true);
                            }
                            if closed || removed {
                                self.take(&path, put);
                            }
                        }
                    }
                }
            }
        }
    }

    /// Takes the places of the files that have this name, or had it.
    fn take(&mut self, path: &Path, put: PutDefinition<'_>) {
        let keys: Vec<(u64, u64)> = self
            .files
            .iter()
            .filter(|(_, followed)| followed.path == path)
            .map(|(&key, _)| key)
            .collect();
        for key in keys {
            self.report_extents(key, false, put);
        }
    }

    /// Takes places anew of what was changed or had data without a place; not more often than each second unless `now`.
    pub fn look(&mut self, now: bool, put: PutDefinition<'_>) {
        if !now && self.looked.elapsed() < UNPLACED_DATA_INTERVAL {
            return;
        }
        self.looked = Instant::now();
        let keys: Vec<(u64, u64)> = self.files.keys().copied().collect();
        for key in keys {
            let Some(followed) = self.files.get(&key) else {
                continue;
            };
            let changed = followed
                .file
                .as_ref()
                .and_then(|file| file.metadata().ok())
                .is_some_and(|meta| (meta.ctime(), meta.ctime_nsec()) != followed.changed);
            if followed.pending || changed {
                self.report_extents(key, false, put);
            }
        }
    }

    /// Adds a file that a rank had open.
    pub fn add(&mut self, path: &Path, device: u64, inode: u64) {
        if self.files.contains_key(&(device, inode)) {
            return;
        }
        if !self.devices.iter().any(|d| d.st_dev == device) {
            return;
        }
        match fs::metadata(path) {
            Ok(meta) if (meta.dev(), meta.ino()) == (device, inode) => self.file(path, true),
            _ => self.note("a file that ranks opened is not there any more".to_owned()),
        }
    }

    /// Writes all files out and takes all places.
    pub fn end(&mut self, put: PutDefinition<'_>) {
        self.changes(put);
        let keys: Vec<(u64, u64)> = self.files.keys().copied().collect();
        for key in keys {
            self.report_extents(key, true, put);
        }
    }

    /// Takes the places of a file and says what is new; a file that has no name any more is let go.
    fn report_extents(&mut self, key: (u64, u64), sync: bool, put: PutDefinition<'_>) {
        let Some(followed) = self.files.get_mut(&key) else {
            return;
        };
        let opened;
        let file = match &followed.file {
            Some(file) => file,
            None => match open(&followed.path) {
                Ok(file)
                    if file
                        .metadata()
                        .is_ok_and(|meta| (meta.dev(), meta.ino()) == key) =>
                {
                    opened = file;
                    &opened
                }
                _ => {
                    self.files.remove(&key);
                    self.note("a file was gone before its places were taken".to_owned());
                    return;
                }
            },
        };
        let Some(device) = self.devices.get(followed.device) else {
            return;
        };
        let meta = file.metadata();
        let removed = meta.as_ref().is_ok_and(|meta| meta.nlink() == 0);
        // A file that nobody can read any more is not written out for us.
        let mut found = extents::of(file, device, sync && !removed);
        // A file that is written to meanwhile has data without a place again.
        for _ in 0..3 {
            if !sync || removed || found.as_ref().is_ok_and(|found| found.pending == 0) {
                break;
            }
            found = extents::of(file, device, true);
        }
        let mut notes = Vec::new();
        match found {
            Ok(FileExtents {
                known,
                pending,
                unusable,
            }) => {
                followed.pending = pending > 0;
                if let Ok(meta) = &meta {
                    followed.changed = (meta.ctime(), meta.ctime_nsec());
                }
                // Its room may be another file's from now on, so it is told until when it was this one's.
                if known != followed.recorded || removed {
                    // A file that was truncated meanwhile keeps the place that it had.
                    if !known.is_empty() {
                        let (device, inode) = key;
                        let definition = Definition::Extents(define::Extents {
                            device,
                            inode,
                            path: followed.path.to_string_lossy().into_owned(),
                            extents: known.clone(),
                        });
                        put(followed.device, &definition);
                    }
                    followed.recorded = known;
                }
                if sync && unusable > 0 {
                    notes.push(format!(
                        "{}: {unusable} bytes lie where transfers cannot be joined with them (in the inode, encrypted, packed)",
                        followed.path.display()
                    ));
                }
                if sync && pending > 0 {
                    notes.push(format!(
                        "{}: {pending} bytes have no place on the device yet",
                        followed.path.display()
                    ));
                }
            }
            Err(error) => {
                followed.pending = false;
                notes.push(format!("{}: FIEMAP: {error}", followed.path.display()));
            }
        }
        if removed && self.files.remove(&key).is_some_and(|f| f.file.is_some()) {
            self.held -= 1;
        }
        for note in notes {
            self.note(note);
        }
    }
}

/// The directory in which a path lies.
pub fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOATIME | libc::O_CLOEXEC)
        .open(path)
}

/// The devices of paths, each once; of a path that is not there yet the device of its directory.
///
/// # Errors
/// Why one of them cannot be followed.
pub fn devices(paths: &[PathBuf]) -> Result<Vec<Device>, device::NotFollowable> {
    let mut devices: Vec<Device> = Vec::new();
    for path in paths {
        let there = path.exists();
        let device = match there {
            true => device::of(path)?,
            false => device::of(&folder_of(path))?,
        };
        if !devices.contains(&device) {
            devices.push(device);
        }
    }
    Ok(devices)
}
