//! The requests of the kernel as the crate fuser gives them, and their answers. Each is recorded from its arrival to its
//! answer.

use super::recording::Result;
use super::requests::{FileChange, FileSystem, symlink};
use blockfile::operation;
use fuser::{
    AccessFlags, BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, InitFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr,
    ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs,
    ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::{self, Mode};
use std::cell::RefCell;
use std::ffi::OsStr;
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Time for which the kernel keeps names and attributes. Only this server changes them, except as [`believed`] says.
const ATTRIBUTE_TIMEOUT: Duration = Duration::from_secs(1);
/// Requests that the kernel sends ahead of their need (readahead) at a time.
const BACKGROUND: u16 = 64;
/// Inodes are not used again while the kernel knows them.
const GENERATION: Generation = Generation(0);

thread_local! {
    /// Data read for an answer.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Gives an answer: what was found by the function that sends it, else the error.
macro_rules! answer {
    ($reply:ident, $result:expr, $value:pat => $ok:expr) => {
        match $result {
            Ok($value) => $ok,
            Err(e) => $reply.error(Errno::from_i32(e.raw_os_error())),
        }
    };
}

impl FileSystem {
    fn open_flags(&self) -> FopenFlags {
        match (self.is_direct, self.is_parallel) {
            (true, false) => FopenFlags::FOPEN_DIRECT_IO,
            (true, true) => FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES,
            (false, _) => FopenFlags::empty(),
        }
    }
}

/// Time for which the kernel may keep attributes. Setuid and setgid bits may go with the next write, of which it does not know.
fn believed(attributes: &FileAttr) -> Duration {
    let has_bits = u32::from(attributes.perm) & (libc::S_ISUID | libc::S_ISGID) != 0;
    match has_bits && attributes.kind == FileType::RegularFile {
        true => Duration::ZERO,
        false => ATTRIBUTE_TIMEOUT,
    }
}

/// Nothing was moved.
fn none<T>(_: &T) -> i64 {
    0
}

/// The server as the crate calls it.
pub struct FuseRequests(pub Arc<FileSystem>);

impl Deref for FuseRequests {
    type Target = FileSystem;

    fn deref(&self) -> &FileSystem {
        &self.0
    }
}

impl Filesystem for FuseRequests {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let _nearest = config.set_max_write(self.max_write);
        let _nearest = config.set_max_background(BACKGROUND);
        // Programs may map files also where the page cache is bypassed, if the kernel can do that.
        let mut wanted = InitFlags::FUSE_PARALLEL_DIROPS;
        if self.is_direct {
            wanted |= InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP;
        }
        for flag in wanted.iter() {
            let _unknown = config.add_capabilities(flag);
        }
        Ok(())
    }

    fn lookup(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let work = self.begin(operation::REQUEST_LOOKUP, request, parent);
        let result = self.look_up(parent, name);
        work.end(&result, none);
        answer!(reply, result, attr => reply.entry(&believed(&attr), &attr, GENERATION));
    }

    fn forget(&self, _: &Request, inode: INodeNo, times: u64) {
        self.inodes.forget(inode.0, times);
    }

    fn getattr(&self, request: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let work = self.begin(operation::REQUEST_GETATTR, request, inode);
        let result = self.get(inode);
        work.end(&result, none);
        answer!(reply, result, attr => reply.attr(&believed(&attr), &attr));
    }

    fn setattr(
        &self,
        request: &Request,
        inode: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        handle: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut work = self.begin(operation::REQUEST_SETATTR, request, inode);
        if let Some(size) = size {
            work = work.range(0, size);
        }
        let change = FileChange {
            mode,
            uid,
            gid,
            size,
            atime,
            mtime,
            handle,
        };
        let result = self.set(&work, inode, &change);
        work.end(&result, none);
        answer!(reply, result, attr => reply.attr(&believed(&attr), &attr));
    }

    fn readlink(&self, request: &Request, inode: INodeNo, reply: ReplyData) {
        let work = self.begin(operation::REQUEST_OTHER, request, inode);
        let result = self.read_link(inode);
        work.end(&result, none);
        answer!(reply, result, target => reply.data(&target));
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        device: u32,
        reply: ReplyEntry,
    ) {
        let work = self.begin(operation::REQUEST_OTHER, request, parent);
        let result = self.make_node(&work, request, parent, name, mode, device);
        work.end(&result, none);
        answer!(reply, result, attr => reply.entry(&believed(&attr), &attr, GENERATION));
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        let work = self.begin(operation::REQUEST_OTHER, request, parent);
        let mode = Mode::from_raw_mode(mode & 0o7777);
        let result = self.make(request, parent, name, |parent| {
            fs::mkdirat(&parent.place, name, mode)
        });
        work.end(&result, none);
        answer!(reply, result, attr => reply.entry(&believed(&attr), &attr, GENERATION));
    }

    fn symlink(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        let work = self.begin(operation::REQUEST_OTHER, request, parent);
        let result = self.make(request, parent, name, |parent| {
            symlink(parent, name, target)
        });
        work.end(&result, none);
        answer!(reply, result, attr => reply.entry(&believed(&attr), &attr, GENERATION));
    }

    fn link(
        &self,
        request: &Request,
        inode: INodeNo,
        parent: INodeNo,
        name: &OsStr,
        reply: ReplyEntry,
    ) {
        let work = self.begin(operation::REQUEST_OTHER, request, inode);
        let result = FileSystem::link(self, inode, parent, name);
        work.end(&result, none);
        answer!(reply, result, attr => reply.entry(&believed(&attr), &attr, GENERATION));
    }

    fn unlink(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let work = self.begin(operation::REQUEST_UNLINK, request, parent);
        let result = self.remove(&work, parent, name);
        work.end(&result, none);
        answer!(reply, result, () => reply.ok());
    }

    fn rmdir(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let work = self.begin(operation::REQUEST_OTHER, request, parent);
        let result = self.remove_directory(parent, name);
        work.end(&result, none);
        answer!(reply, result, () => reply.ok());
    }

    fn rename(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let work = self.begin(operation::REQUEST_RENAME, request, parent);
        let flags = fs::RenameFlags::from_bits_retain(flags.bits());
        let result = FileSystem::rename(self, &work, (parent, name), (new_parent, new_name), flags);
        work.end(&result, none);
        answer!(reply, result, () => reply.ok());
    }

    fn open(&self, request: &Request, inode: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let work = self.begin(operation::REQUEST_OPEN, request, inode);
        let result = FileSystem::open(self, &work, inode, flags.0);
        work.end(&result, none);
        answer!(reply, result, handle => reply.opened(handle, self.open_flags()));
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let mut work = self.begin(operation::REQUEST_CREATE, request, parent);
        let result = FileSystem::create(self, &work, request, (parent, name), mode, flags);
        if let Ok((attr, _)) = &result {
            work.request.inode = attr.ino.0;
        }
        work.end(&result, none);
        answer!(reply, result, (attr, handle) =>
            reply.created(&believed(&attr), &attr, GENERATION, handle, self.open_flags()));
    }

    fn read(
        &self,
        request: &Request,
        inode: INodeNo,
        handle: FileHandle,
        at: u64,
        size: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let work = self.begin(operation::REQUEST_READ, request, inode);
        let work = work.range(at, u64::from(size));
        BUFFER.with_borrow_mut(|buffer| {
            let size = size as usize;
            if buffer.len() < size {
                buffer.resize(size, 0);
            }
            let file = self.file(handle);
            let result = file.and_then(|f| self.store.read(&work, &f, &mut buffer[..size], at));
            work.end(&result, |&moved| moved as i64);
            answer!(reply, result, moved => reply.data(&buffer[..moved]));
        });
    }

    fn write(
        &self,
        request: &Request,
        inode: INodeNo,
        handle: FileHandle,
        at: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let work = self.begin(operation::REQUEST_WRITE, request, inode);
        let work = work.range(at, data.len() as u64);
        let file = self.file(handle);
        let result = file.and_then(|file| self.store.write(&work, &file, data, at));
        work.end(&result, |&moved| moved as i64);
        answer!(reply, result, moved => reply.written(moved as u32));
    }

    fn flush(
        &self,
        request: &Request,
        inode: INodeNo,
        handle: FileHandle,
        _owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        let work = self.begin(operation::REQUEST_FLUSH, request, inode);
        let result = self.file(handle).map(drop);
        work.end(&result, none);
        answer!(reply, result, () => reply.ok());
    }

    fn release(
        &self,
        request: &Request,
        inode: INodeNo,
        handle: FileHandle,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        let work = self.begin(operation::REQUEST_RELEASE, request, inode);
        let result = FileSystem::release(self, &work, handle);
        work.end(&result, none);
        answer!(reply, result, () => reply.ok());
    }

    fn fsync(
        &self,
        request: &Request,
        inode: INodeNo,
        handle: FileHandle,
        data_only: bool,
        reply: ReplyEmpty,
    ) {
        let work = self.begin(operation::REQUEST_FSYNC, request, inode);
        let file = self.file(handle);
        let result = file.and_then(|file| self.store.sync(&work, &file, data_only));
        work.end(&result, none);
        answer!(reply, result, () => reply.ok());
    }

    fn fallocate(
        &self,
        request: &Request,
        inode: INodeNo,
        handle: FileHandle,
        at: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let work = self.begin(operation::REQUEST_FALLOCATE, request, inode);
        let work = work.range(at, length);
        let result = self.allocate(&work, handle, mode, at, length);
        work.end(&result, none);
        answer!(reply, result, () => reply.ok());
    }

    fn opendir(&self, request: &Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let work = self.begin(operation::REQUEST_OTHER, request, inode);
        let result = self.open_directory(inode);
        work.end(&result, none);
        answer!(reply, result, handle => reply.opened(handle, FopenFlags::empty()));
    }

    fn readdir(
        &self,
        request: &Request,
        inode: INodeNo,
        handle: FileHandle,
        first: u64,
        mut reply: ReplyDirectory,
    ) {
        let work = self.begin(operation::REQUEST_READDIR, request, inode);
        let result = self.read_directory(handle, first);
        work.end(&result, none);
        answer!(reply, result, entries => {
            for (next, entry) in (first + 1..).zip(&entries) {
                if reply.add(INodeNo(entry.inode), next, entry.kind, &entry.name) {
                    break;
                }
            }
            reply.ok();
        });
    }

    fn releasedir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.release_directory(handle);
        reply.ok();
    }

    fn fsyncdir(
        &self,
        request: &Request,
        inode: INodeNo,
        _: FileHandle,
        _: bool,
        reply: ReplyEmpty,
    ) {
        let work = self.begin(operation::REQUEST_FSYNC, request, inode);
        let result = self.sync_directory(inode);
        work.end(&result, none);
        answer!(reply, result, () => reply.ok());
    }

    fn statfs(&self, request: &Request, inode: INodeNo, reply: ReplyStatfs) {
        let work = self.begin(operation::REQUEST_OTHER, request, inode);
        let result = self.inodes.get(inode).and_then(|n| fs::fstatvfs(&n.place));
        work.end(&result, none);
        answer!(reply, result, s => reply.statfs(
            s.f_blocks,
            s.f_bfree,
            s.f_bavail,
            s.f_files,
            s.f_ffree,
            s.f_bsize as u32,
            s.f_namemax as u32,
            s.f_frsize as u32,
        ));
    }

    fn access(&self, request: &Request, inode: INodeNo, _: AccessFlags, reply: ReplyEmpty) {
        // Asked only where the kernel does not check by the attributes, as it does here.
        let work = self.begin(operation::REQUEST_OTHER, request, inode);
        let result: Result<()> = self.inodes.get(inode).map(drop);
        work.end(&result, none);
        answer!(reply, result, () => reply.ok());
    }
}
