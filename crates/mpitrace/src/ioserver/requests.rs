//! Execution of the kernel's requests: names and attributes in the directory, contents in the store.

use super::inodes::{Inodes, KnownFile};
use super::privileges;
use super::recording::{RequestRecorder, RequestWork, Result};
use super::store::{FileStore, OpenFile};
use blockfile::operation;
use fuser::{FileAttr, FileHandle, FileType, INodeNo, Request, TimeOrNow};
use parking_lot::{Mutex, MutexGuard, RwLock};
use rustix::fs::{
    self, AtFlags, FallocateFlags, Gid, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps, Uid,
};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Flags of open(2) that are the kernel's affair: it opens by inode, gives offsets itself, and its buffers are not aligned.
const NOT_OURS: i32 = libc::O_CREAT
    | libc::O_EXCL
    | libc::O_TRUNC
    | libc::O_NOCTTY
    | libc::O_APPEND
    | libc::O_NOFOLLOW
    | libc::O_DIRECT
    | libc::O_NONBLOCK;

/// The file system.
pub struct FileSystem {
    pub inodes: Inodes,
    pub store: Box<dyn FileStore>,
    pub recorder: Arc<RequestRecorder>,
    /// Whether programs bypass the page cache.
    pub is_direct: bool,
    /// Whether writes to one file may be under way at the same time.
    pub is_parallel: bool,
    /// Most bytes of a write request; the kernel may allow less.
    pub max_write: u32,
    handles: OpenHandles,
}

#[derive(Default)]
struct OpenHandles {
    next: AtomicU64,
    files: RwLock<HashMap<u64, Arc<OpenFile>>>,
    directories: RwLock<HashMap<u64, Arc<OpenDirectory>>>,
}

/// An open directory, as it was when it was last read from its beginning.
pub struct OpenDirectory {
    node: Arc<KnownFile>,
    entries: Mutex<Vec<DirectoryEntry>>,
}

/// A name in a directory.
#[derive(Clone)]
pub struct DirectoryEntry {
    pub inode: u64,
    pub kind: FileType,
    pub name: OsString,
}

/// Requested changes of a file's attributes.
#[derive(Default)]
pub struct FileChange {
    pub mode: Option<u32>,
    pub uid: Option<u32>,
    pub gid: Option<u32>,
    pub size: Option<u64>,
    pub atime: Option<TimeOrNow>,
    pub mtime: Option<TimeOrNow>,
    pub handle: Option<FileHandle>,
}

impl FileSystem {
    pub fn new(
        inodes: Inodes,
        store: Box<dyn FileStore>,
        recorder: Arc<RequestRecorder>,
    ) -> FileSystem {
        FileSystem {
            inodes,
            store,
            recorder,
            is_direct: true,
            is_parallel: false,
            max_write: 1 << 20,
            handles: OpenHandles::default(),
        }
    }

    /// Begins work on a request.
    pub fn begin(&self, kind: u16, request: &Request, inode: INodeNo) -> RequestWork<'_> {
        privileges::act_for(request.uid(), request.gid());
        let unique = request.unique().0;
        self.recorder.request(kind, unique, inode.0, request.pid())
    }

    fn attributes(&self, node: &KnownFile, stat: &Stat) -> FileAttr {
        let mut attributes = node.attributes(stat);
        if !self.store.is_local() && attributes.kind == FileType::RegularFile {
            attributes.blocks = attributes.size.div_ceil(512);
        }
        attributes
    }

    pub fn look_up(&self, parent: INodeNo, name: &OsStr) -> Result<FileAttr> {
        let (node, stat) = self.inodes.look_up(&*self.inodes.get(parent)?, name)?;
        Ok(self.attributes(&node, &stat))
    }

    pub fn get(&self, inode: INodeNo) -> Result<FileAttr> {
        let node = self.inodes.get(inode)?;
        Ok(self.attributes(&node, &node.stat()?))
    }

    pub fn set(
        &self,
        work: &RequestWork<'_>,
        inode: INodeNo,
        change: &FileChange,
    ) -> Result<FileAttr> {
        let node = self.inodes.get(inode)?;
        let link = node.link();
        if let Some(mode) = change.mode {
            let mode = Mode::from_raw_mode(mode & 0o7777);
            privileges::with_bits(|| fs::chmod(&link, mode))?;
        }
        if change.uid.is_some() || change.gid.is_some() {
            let (uid, gid) = (change.uid.map(Uid::from_raw), change.gid.map(Gid::from_raw));
            fs::chownat(&node.place, "", uid, gid, AtFlags::EMPTY_PATH)?;
        }
        if let Some(size) = change.size {
            self.inodes.name(&node, 0, &self.recorder);
            let file = change.handle.and_then(|handle| self.file(handle).ok());
            self.store.resize(work, &node, file.as_deref(), size)?;
        }
        if change.atime.is_some() || change.mtime.is_some() {
            let times = Timestamps {
                last_access: time(change.atime),
                last_modification: time(change.mtime),
            };
            fs::utimensat(fs::CWD, &link, &times, AtFlags::empty())?;
        }
        Ok(self.attributes(&node, &node.stat()?))
    }

    pub fn read_link(&self, inode: INodeNo) -> Result<Vec<u8>> {
        let node = self.inodes.get(inode)?;
        Ok(fs::readlinkat(&node.place, "", Vec::new())?.into_bytes())
    }

    /// Makes a name by `make`, gives it to who asked for it, and looks it up.
    pub fn make(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        make: impl FnOnce(&KnownFile) -> Result<()>,
    ) -> Result<FileAttr> {
        let parent = self.inodes.get(parent)?;
        make(&parent)?;
        give(&parent, name, request)?;
        let (node, stat) = self.inodes.look_up(&parent, name)?;
        Ok(self.attributes(&node, &stat))
    }

    pub fn make_node(
        &self,
        work: &RequestWork<'_>,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        device: u32,
    ) -> Result<FileAttr> {
        let attributes = self.make(request, parent, name, |parent| {
            let kind = fs::FileType::from_raw_mode(mode);
            let mode = Mode::from_raw_mode(mode & 0o7777);
            fs::mknodat(&parent.place, name, kind, mode, u64::from(device))
        })?;
        if attributes.kind == FileType::RegularFile {
            let node = self.inodes.get(attributes.ino)?;
            self.notify_store(work, &node, true)?;
            self.store.closed(work, &node)?;
        }
        Ok(attributes)
    }

    pub fn link(&self, inode: INodeNo, parent: INodeNo, name: &OsStr) -> Result<FileAttr> {
        let (node, parent) = (self.inodes.get(inode)?, self.inodes.get(parent)?);
        let follow = AtFlags::SYMLINK_FOLLOW;
        fs::linkat(fs::CWD, node.link(), &parent.place, name, follow)?;
        let (node, stat) = self.inodes.look_up(&parent, name)?;
        Ok(self.attributes(&node, &stat))
    }

    pub fn remove(&self, work: &RequestWork<'_>, parent: INodeNo, name: &OsStr) -> Result<()> {
        let parent = self.inodes.get(parent)?;
        let held = hold(&parent, name)?;
        let stat = fs::fstat(&held)?;
        work.disk(operation::UNLINKAT, stat.st_ino, None, (-1, -1), || {
            fs::unlinkat(&parent.place, name, AtFlags::empty())
        })?;
        self.has_lost_name(work, &stat);
        Ok(())
    }

    pub fn remove_directory(&self, parent: INodeNo, name: &OsStr) -> Result<()> {
        let parent = self.inodes.get(parent)?;
        fs::unlinkat(&parent.place, name, AtFlags::REMOVEDIR)
    }

    pub fn rename(
        &self,
        work: &RequestWork<'_>,
        (from, name): (INodeNo, &OsStr),
        (to, new_name): (INodeNo, &OsStr),
        flags: RenameFlags,
    ) -> Result<()> {
        let (from, to) = (self.inodes.get(from)?, self.inodes.get(to)?);
        let stat =
            |parent: &KnownFile, name| fs::statat(&parent.place, name, AtFlags::SYMLINK_NOFOLLOW);
        let moved = stat(&from, name)?;
        let held = hold(&to, new_name).ok();
        let replaced = held.as_ref().and_then(|held| fs::fstat(held).ok());
        work.disk(operation::RENAME, moved.st_ino, None, (-1, -1), || {
            fs::renameat_with(&from.place, name, &to.place, new_name, flags)
        })?;
        for stat in [Some(&moved), replaced.as_ref()].into_iter().flatten() {
            if let Some(node) = self.inodes.find((stat.st_dev, stat.st_ino)) {
                node.renamed();
            }
        }
        // Two names of the same file stay both.
        if let Some(old) = replaced.filter(|old| flags.is_empty() && old.st_ino != moved.st_ino) {
            self.has_lost_name(work, &old);
        }
        Ok(())
    }

    /// A file had these attributes and has lost a name since. What cannot be removed stays behind unseen.
    fn has_lost_name(&self, work: &RequestWork<'_>, stat: &Stat) {
        if fs::FileType::from_raw_mode(stat.st_mode) != fs::FileType::RegularFile
            || stat.st_nlink > 1
        {
            return;
        }
        // If it is open, it is removed when it is closed.
        let node = self.inodes.find((stat.st_dev, stat.st_ino));
        let open = node.as_ref().map(|node| count(work, node));
        if open.as_deref().is_none_or(|&open| open == 0) {
            let _ = self.store.removed(work, stat.st_ino);
        }
    }

    pub fn open(&self, work: &RequestWork<'_>, inode: INodeNo, flags: i32) -> Result<FileHandle> {
        let node = self.inodes.get(inode)?;
        let ours = OFlags::from_bits_retain((flags & !NOT_OURS) as u32);
        let range = (-1, -1);
        let fd = work.disk(operation::OPEN, node.key.1, None, range, || node.open(ours))?;
        self.opened(work, node, fd, flags, false)
    }

    pub fn create(
        &self,
        work: &RequestWork<'_>,
        request: &Request,
        (parent, name): (INodeNo, &OsStr),
        mode: u32,
        flags: i32,
    ) -> Result<(FileAttr, FileHandle)> {
        let parent = self.inodes.get(parent)?;
        let make = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let ours = OFlags::from_bits_retain((flags & !NOT_OURS) as u32) | make;
        let mode = Mode::from_raw_mode(mode & 0o7777);
        let inode = parent.key.1;
        let made = work.disk(operation::OPENAT, inode, None, (-1, -1), || {
            fs::openat(&parent.place, name, ours, mode)
        });
        let fd = match made {
            // Somebody was quicker, which only O_EXCL forbids.
            Err(Errno::EXIST) if flags & libc::O_EXCL == 0 => {
                let (node, _) = self.inodes.look_up(&parent, name)?;
                if flags & libc::O_TRUNC != 0 {
                    self.store.resize(work, &node, None, 0)?;
                }
                let handle = self.open(work, INodeNo(node.number), flags)?;
                return Ok((self.attributes(&node, &node.stat()?), handle));
            }
            made => made?,
        };
        give(&parent, name, request)?;
        let (node, stat) = self.inodes.look_up(&parent, name)?;
        let handle = self
            .opened(work, Arc::clone(&node), fd, flags, true)
            .inspect_err(|_| {
                // The kernel will not know of it.
                let _ = fs::unlinkat(&parent.place, name, AtFlags::empty());
                self.inodes.forget(node.number, 1);
            })?;
        Ok((self.attributes(&node, &stat), handle))
    }

    fn opened(
        &self,
        work: &RequestWork<'_>,
        node: Arc<KnownFile>,
        fd: OwnedFd,
        flags: i32,
        is_new: bool,
    ) -> Result<FileHandle> {
        self.inodes.name(&node, flags, &self.recorder);
        let mut open = count(work, &node);
        if *open == 0 {
            self.notify_store(work, &node, is_new)?;
        }
        *open += 1;
        drop(open);
        let number = self.handles.next.fetch_add(1, Ordering::Relaxed);
        let file = Arc::new(OpenFile { node, fd });
        self.handles.files.write().insert(number, file);
        Ok(FileHandle(number))
    }

    fn notify_store(&self, work: &RequestWork<'_>, node: &KnownFile, is_new: bool) -> Result<()> {
        if self.store.is_local() {
            return Ok(());
        }
        let path = node.path().unwrap_or_default();
        let seen = self.inodes.seen(&path).unwrap_or(path);
        let device = self.inodes.mounted_device.get().copied();
        let seen = (device.unwrap_or(0), &*seen);
        self.store.opened(work, node, seen, is_new)
    }

    pub fn file(&self, handle: FileHandle) -> Result<Arc<OpenFile>> {
        let files = self.handles.files.read();
        files.get(&handle.0).map(Arc::clone).ok_or(Errno::BADF)
    }

    pub fn release(&self, work: &RequestWork<'_>, handle: FileHandle) -> Result<()> {
        let removed = self.handles.files.write().remove(&handle.0);
        let file = removed.ok_or(Errno::BADF)?;
        let node = Arc::clone(&file.node);
        let fd = file.fd.as_raw_fd();
        // A thread that has just answered the last request may still hold the file for a moment.
        work.disk(operation::CLOSE, node.key.1, Some(&fd), (-1, -1), || {
            drop(file);
            Ok(())
        })?;
        let mut open = count(work, &node);
        *open -= 1;
        if *open > 0 {
            return Ok(());
        }
        // The program is not waiting: before this is over it may have opened the file again and removed its name.
        let closed = self.store.closed(work, &node);
        if node.stat().is_ok_and(|stat| stat.st_nlink == 0) {
            self.store.removed(work, node.key.1)?;
        }
        closed
    }

    pub fn allocate(
        &self,
        work: &RequestWork<'_>,
        handle: FileHandle,
        mode: i32,
        at: u64,
        length: u64,
    ) -> Result<()> {
        let mode = FallocateFlags::from_bits_retain(mode as u32);
        self.store
            .allocate(work, &*self.file(handle)?, mode, at, length)
    }

    pub fn open_directory(&self, inode: INodeNo) -> Result<FileHandle> {
        let directory = Arc::new(OpenDirectory {
            node: self.inodes.get(inode)?,
            entries: Mutex::new(Vec::new()),
        });
        let number = self.handles.next.fetch_add(1, Ordering::Relaxed);
        self.handles.directories.write().insert(number, directory);
        Ok(FileHandle(number))
    }

    pub fn release_directory(&self, handle: FileHandle) {
        self.handles.directories.write().remove(&handle.0);
    }

    /// The names of a directory from `first` on.
    pub fn read_directory(&self, handle: FileHandle, first: u64) -> Result<Vec<DirectoryEntry>> {
        let directory = {
            let directories = self.handles.directories.read();
            directories
                .get(&handle.0)
                .map(Arc::clone)
                .ok_or(Errno::BADF)?
        };
        let mut entries = directory.entries.lock();
        if first == 0 {
            *entries = entries_of(&directory.node)?;
        }
        let first = usize::try_from(first).unwrap_or(usize::MAX);
        Ok(entries.get(first..).unwrap_or_default().to_vec())
    }

    pub fn sync_directory(&self, inode: INodeNo) -> Result<()> {
        fs::fsync(self.inodes.get(inode)?.open(OFlags::DIRECTORY)?)
    }
}

fn entries_of(node: &KnownFile) -> Result<Vec<DirectoryEntry>> {
    let own = |name: &str| DirectoryEntry {
        inode: node.number,
        kind: FileType::Directory,
        name: name.into(),
    };
    let mut entries = vec![own("."), own("..")];
    let fd = node.open(OFlags::DIRECTORY)?;
    for entry in fs::Dir::new(fd)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            entries.push(DirectoryEntry {
                inode: entry.ino(),
                kind: super::inodes::file_type(entry.file_type().as_raw_mode()),
                name: OsStr::from_bytes(name).to_owned(),
            });
        }
    }
    Ok(entries)
}

/// Number of open handles of a file, locked until the guard is dropped.
fn count<'n>(work: &RequestWork<'_>, node: &'n KnownFile) -> MutexGuard<'n, usize> {
    work.wait(|| node.open.try_lock(), || node.open.lock())
}

/// The inode of a name. As long as it is held, its number is not used again.
fn hold(parent: &KnownFile, name: &OsStr) -> Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    fs::openat(&parent.place, name, flags, Mode::empty())
}

/// Gives a new name to the user who asked for it, where this process is somebody else.
fn give(parent: &KnownFile, name: &OsStr, request: &Request) -> Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let parent_stat = parent.stat()?;
    // In a directory with this bit, files have its group already.
    let keeps_group = parent_stat.st_mode & libc::S_ISGID != 0;
    let group = (!keeps_group).then(|| Gid::from_raw(request.gid()));
    let user = Some(Uid::from_raw(request.uid()));
    if request.uid() == 0 && request.gid() == 0 {
        return Ok(());
    }
    fs::chownat(&parent.place, name, user, group, AtFlags::SYMLINK_NOFOLLOW)
}

fn time(time: Option<TimeOrNow>) -> Timespec {
    let special = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
    match time {
        None => special(fs::UTIME_OMIT),
        Some(TimeOrNow::Now) => special(fs::UTIME_NOW),
        Some(TimeOrNow::SpecificTime(at)) => timespec(at),
    }
}

fn timespec(at: SystemTime) -> Timespec {
    match at.duration_since(UNIX_EPOCH) {
        Ok(since) => Timespec {
            tv_sec: since.as_secs() as i64,
            tv_nsec: i64::from(since.subsec_nanos()),
        },
        Err(before) => {
            let before = before.duration();
            let part = i64::from(before.subsec_nanos());
            let whole = -(before.as_secs() as i64);
            match part {
                0 => Timespec {
                    tv_sec: whole,
                    tv_nsec: 0,
                },
                part => Timespec {
                    tv_sec: whole - 1,
                    tv_nsec: 1_000_000_000 - part,
                },
            }
        }
    }
}

/// Makes a symbolic link.
pub fn symlink(parent: &KnownFile, name: &OsStr, target: &Path) -> Result<()> {
    fs::symlinkat(target, &parent.place, name)
}
