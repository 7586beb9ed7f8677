//! The files that the kernel knows, by the numbers that it asks with. Each is held by a descriptor that stands for the inode
//! itself, so that renaming and removing names does not matter.

use super::recording::{RequestRecorder, Result};
use blockfile::define::{Definition, OpenFileDefinition};
use fuser::{FileAttr, FileType, INodeNo};
use parking_lot::Mutex;
use rustix::fs::{self, AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

/// Number of the root in the protocol.
pub const ROOT: u64 = 1;
/// Numbers of files whose own number is taken, or that are on another device, begin here.
const FIRST_SUBSTITUTE_INODE: u64 = 1 << 63;

/// A file that the kernel knows.
pub struct KnownFile {
    /// Number of the file in requests, and `st_ino` for programs: that of the inode in the store wherever possible.
    pub number: u64,
    /// Device and inode in the store.
    pub key: (u64, u64),
    /// O_PATH descriptor of the inode.
    pub place: OwnedFd,
    /// Number of open files. Who tells the store that the first was opened or the last one closed holds the lock until
    /// the store knows: what becomes of a file without a name hangs on it.
    pub open: Mutex<usize>,
    /// Size of the file where only this process can change it, once it is known. Who changes it holds the lock.
    pub size: Mutex<Option<u64>>,
    /// Whether its present name has been recorded.
    named: AtomicBool,
}

/// All files that the kernel knows.
pub struct Inodes {
    /// Absolute name of the directory that is shown.
    base: PathBuf,
    /// Absolute name of the mount point.
    mount: PathBuf,
    /// `st_dev` of the mount, once it is there.
    pub mounted_device: OnceLock<u64>,
    device: u64,
    known: Mutex<InodeTable>,
}

struct InodeTable {
    by_number: HashMap<u64, (Arc<KnownFile>, u64)>,
    by_key: HashMap<(u64, u64), u64>,
    odd: u64,
}

impl Inodes {
    /// A table with the root directory only.
    ///
    /// # Errors
    /// When `base` cannot be opened.
    pub fn new(base: &Path, mount: &Path) -> Result<Inodes> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let place = fs::open(base, flags, Mode::empty())?;
        let stat = fs::fstat(&place)?;
        let key = (stat.st_dev, stat.st_ino);
        let root = KnownFile::new(ROOT, key, place);
        Ok(Inodes {
            base: base.to_owned(),
            mount: mount.to_owned(),
            mounted_device: OnceLock::new(),
            device: stat.st_dev,
            known: Mutex::new(InodeTable {
                by_number: HashMap::from([(ROOT, (Arc::new(root), 1))]),
                by_key: HashMap::from([(key, ROOT)]),
                odd: FIRST_SUBSTITUTE_INODE,
            }),
        })
    }

    /// The file with this number.
    pub fn get(&self, number: INodeNo) -> Result<Arc<KnownFile>> {
        let known = self.known.lock();
        let found = known.by_number.get(&number.0);
        found.map(|(node, _)| Arc::clone(node)).ok_or(Errno::STALE)
    }

    /// The file with this key, if the kernel knows it.
    pub fn find(&self, key: (u64, u64)) -> Option<Arc<KnownFile>> {
        let known = self.known.lock();
        let number = known.by_key.get(&key)?;
        Some(Arc::clone(&known.by_number.get(number)?.0))
    }

    /// The file of this name in a directory, which the kernel will know one time more.
    pub fn look_up(&self, parent: &KnownFile, name: &OsStr) -> Result<(Arc<KnownFile>, Stat)> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let place = fs::openat(&parent.place, name, flags, Mode::empty())?;
        let stat = fs::fstat(&place)?;
        let key = (stat.st_dev, stat.st_ino);
        let mut known = self.known.lock();
        if let Some(&number) = known.by_key.get(&key)
            && let Some((node, lookups)) = known.by_number.get_mut(&number)
        {
            *lookups += 1;
            return Ok((Arc::clone(node), stat));
        }
        let taken = stat.st_ino == ROOT
            || stat.st_ino >= FIRST_SUBSTITUTE_INODE
            || known.by_number.contains_key(&stat.st_ino);
        let number = if stat.st_dev != self.device || taken {
            known.odd += 1;
            known.odd
        } else {
            stat.st_ino
        };
        let node = Arc::new(KnownFile::new(number, key, place));
        known.by_key.insert(key, number);
        known.by_number.insert(number, (Arc::clone(&node), 1));
        Ok((node, stat))
    }

    /// The kernel forgets a file it has looked up `times` times.
    pub fn forget(&self, number: u64, times: u64) {
        let mut known = self.known.lock();
        let Some((node, lookups)) = known.by_number.get_mut(&number) else {
            return;
        };
        *lookups = lookups.saturating_sub(times);
        if *lookups == 0 && number != ROOT {
            let key = node.key;
            known.by_number.remove(&number);
            known.by_key.remove(&key);
        }
    }

    /// Records what the file is called now, in the store and in the mount, if that is not known.
    pub fn name(&self, node: &KnownFile, flags: i32, recorder: &RequestRecorder) {
        if node.named.swap(true, Relaxed) {
            return;
        }
        let Ok(path) = node.path() else {
            return;
        };
        let file = |device, inode, path: &Path| {
            Definition::File(OpenFileDefinition {
                fd: -1,
                flags,
                device,
                inode,
                path: path.to_string_lossy().into_owned(),
            })
        };
        recorder.define(&file(node.key.0, node.key.1, &path));
        if let Some(seen) = self.seen(&path) {
            let device = self.mounted_device.get().copied().unwrap_or(0);
            recorder.define(&file(device, node.number, &seen));
        }
    }

    /// The name by which programs see a file of the store.
    pub fn seen(&self, path: &Path) -> Option<PathBuf> {
        Some(self.mount.join(path.strip_prefix(&self.base).ok()?))
    }
}

impl KnownFile {
    fn new(number: u64, key: (u64, u64), place: OwnedFd) -> KnownFile {
        KnownFile {
            number,
            key,
            place,
            open: Mutex::new(0),
            size: Mutex::new(None),
            named: AtomicBool::new(false),
        }
    }

    /// A name that leads to the inode wherever it is, for calls that take no O_PATH descriptor.
    pub fn link(&self) -> String {
        format!("/proc/self/fd/{}", self.place.as_raw_fd())
    }

    /// Present name of the file in the store.
    pub fn path(&self) -> std::io::Result<PathBuf> {
        std::fs::read_link(self.link())
    }

    /// Notes that the file has another name now.
    pub fn renamed(&self) {
        self.named.store(false, Relaxed);
    }

    /// Attributes of the file in the store.
    pub fn stat(&self) -> Result<Stat> {
        fs::statat(&self.place, "", AtFlags::EMPTY_PATH)
    }

    /// Opens it.
    pub fn open(&self, flags: OFlags) -> Result<OwnedFd> {
        fs::open(self.link(), flags | OFlags::CLOEXEC, Mode::empty())
    }

    /// Attributes as the kernel wants them.
    pub fn attributes(&self, stat: &Stat) -> FileAttr {
        let time = |seconds: i64, nanoseconds: u64| {
            let part = Duration::from_nanos(nanoseconds);
            let whole = Duration::from_secs(seconds.unsigned_abs());
            let epoch = SystemTime::UNIX_EPOCH;
            let at = if seconds < 0 {
                epoch.checked_sub(whole)
            } else {
                epoch.checked_add(whole)
            };
            at.and_then(|at| at.checked_add(part)).unwrap_or(epoch)
        };
        let changed = time(stat.st_ctime, stat.st_ctime_nsec);
        FileAttr {
            ino: INodeNo(self.number),
            size: stat.st_size as u64,
            blocks: stat.st_blocks as u64,
            atime: time(stat.st_atime, stat.st_atime_nsec),
            mtime: time(stat.st_mtime, stat.st_mtime_nsec),
            ctime: changed,
            crtime: changed,
            kind: file_type(stat.st_mode),
            perm: (stat.st_mode & 0o7777) as u16,
            nlink: u32::try_from(stat.st_nlink).unwrap_or(u32::MAX),
            uid: stat.st_uid,
            gid: stat.st_gid,
            rdev: stat.st_rdev as u32,
            blksize: stat.st_blksize as u32,
            flags: 0,
        }
    }
}

impl AsFd for KnownFile {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.place.as_fd()
    }
}

/// The kernel's word for a type of file.
pub fn file_type(mode: u32) -> FileType {
    match fs::FileType::from_raw_mode(mode) {
        fs::FileType::Directory => FileType::Directory,
        fs::FileType::Symlink => FileType::Symlink,
        fs::FileType::Fifo => FileType::NamedPipe,
        fs::FileType::Socket => FileType::Socket,
        fs::FileType::CharacterDevice => FileType::CharDevice,
        fs::FileType::BlockDevice => FileType::BlockDevice,
        _ => FileType::RegularFile,
    }
}
