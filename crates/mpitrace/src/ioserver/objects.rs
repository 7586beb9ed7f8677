//! Files of a data server: for each file of the file system one file in its store, named by the number of the file at the front
//! end.

use super::recording::{RequestWork, Result};
use crate::terminal::tell;
use blockfile::define::{Definition, OpenFileDefinition};
use blockfile::operation;
use parking_lot::Mutex;
use rustix::fs::{self, Mode, OFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Files that are held open; of more, those that nobody uses are closed.
const MAX_OPEN_FILES: usize = 512;

/// A server's part of a file.
pub struct Object {
    /// Descriptor of the part.
    pub fd: OwnedFd,
    /// Inode number of the file in the store.
    pub inode: u64,
}

/// The parts of files that a data server has.
pub struct Objects {
    store: PathBuf,
    /// Whether a file that is not taken has been told.
    is_told: AtomicBool,
    open: Mutex<HashMap<u64, Arc<Object>>>,
}

impl Objects {
    /// The objects in the directory `store`.
    pub fn new(store: PathBuf) -> Objects {
        Objects {
            store,
            is_told: AtomicBool::new(false),
            open: Mutex::new(HashMap::new()),
        }
    }

    fn path(&self, number: u64) -> PathBuf {
        self.store.join(format!("{number:016x}"))
    }

    /// The part of file `number`, if there is one.
    pub fn get(&self, work: &RequestWork<'_>, number: u64) -> Result<Option<Arc<Object>>> {
        match self.object(work, number, OFlags::empty()) {
            Ok(object) => Ok(Some(object)),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// The part of file `number`, made if there is none.
    pub fn get_or_make(&self, work: &RequestWork<'_>, number: u64) -> Result<Arc<Object>> {
        self.object(work, number, OFlags::CREATE)
    }

    fn object(&self, work: &RequestWork<'_>, number: u64, flags: OFlags) -> Result<Arc<Object>> {
        let mut open = self.open.lock();
        if let Some(object) = open.get(&number) {
            return Ok(Arc::clone(object));
        }
        let path = self.path(number);
        // Whoever may write to the folder of the store must not lead elsewhere, or make the server wait.
        let flags = flags | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let mode = Mode::RUSR | Mode::WUSR;
        let fd = work.disk(operation::OPEN, 0, None, (-1, -1), || {
            fs::open(&path, flags, mode)
        })?;
        let stat = fs::fstat(&fd)?;
        let is_regular = fs::FileType::from_raw_mode(stat.st_mode) == fs::FileType::RegularFile;
        if !is_regular || stat.st_uid != trace_model::files::user() || stat.st_nlink != 1 {
            if !self.is_told.swap(true, Relaxed) {
                tell!(
                    "mpitrace: data server: {}: not a file that this server made",
                    path.display()
                );
            }
            return Err(Errno::PERM);
        }
        work.recorder()
            .define(&Definition::File(OpenFileDefinition {
                fd: fd.as_raw_fd(),
                flags: flags.bits() as i32,
                device: stat.st_dev,
                inode: stat.st_ino,
                path: path.to_string_lossy().into_owned(),
            }));
        if open.len() >= MAX_OPEN_FILES {
            open.retain(|_, object| Arc::strong_count(object) > 1);
        }
        let inode = stat.st_ino;
        let object = Arc::new(Object { fd, inode });
        open.insert(number, Arc::clone(&object));
        Ok(object)
    }

    /// Nobody has the file open.
    pub fn close(&self, work: &RequestWork<'_>, number: u64) -> Result<()> {
        let object = self.open.lock().remove(&number);
        close(work, object)
    }

    /// Removes the part of file `number`.
    pub fn remove(&self, work: &RequestWork<'_>, number: u64) -> Result<()> {
        // Nobody may open it again before its name is gone: the number may soon be that of another file.
        let mut open = self.open.lock();
        let object = open.remove(&number);
        let path = self.path(number);
        let removed = match fs::lstat(&path) {
            Ok(stat) => work.disk(operation::UNLINK, stat.st_ino, None, (-1, -1), || {
                fs::unlink(&path)
            }),
            Err(Errno::NOENT) => Ok(()),
            Err(e) => Err(e),
        };
        drop(open);
        close(work, object)?;
        removed
    }
}

fn close(work: &RequestWork<'_>, object: Option<Arc<Object>>) -> Result<()> {
    let Some(object) = object else {
        return Ok(());
    };
    let (fd, inode) = (object.fd.as_raw_fd(), object.inode);
    work.disk(operation::CLOSE, inode, Some(&fd), (-1, -1), || {
        drop(object);
        Ok(())
    })
}
