//! The block file of this process, on a local disk. A few of its blocks are mapped and go round among the threads
//! ([`records::handover`]); what a full one holds is written behind the others before the block is used again. So all that
//! was recorded is in the file at any moment, for whoever reads it after the process was killed.
//!
//! Space is reserved on the disk before it is mapped, because a store into a mapped page without a disk block behind it
//! would kill the program with SIGBUS.

use records::handover::{Pool, Space};
use records::layout::{BLOCK_HEADER, BLOCK_SIZE, BlockHeader, FileHeader};
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// A mapped block. Who holds it may write to it; nobody else does.
#[derive(Clone, Copy)]
pub struct Block {
    header: NonNull<BlockHeader>,
}

// SAFETY: a Block is an address in a mapping that any thread may use; the queues hand it to one thread at a time.
unsafe impl Send for Block {}

impl Block {
    /// A block that is no part of a file.
    pub fn private(header: NonNull<BlockHeader>) -> Block {
        Block { header }
    }

    /// Its header.
    #[inline(always)]
    pub fn header(self) -> *mut BlockHeader {
        self.header.as_ptr()
    }

    /// Start of the room for records.
    pub fn start(self) -> *mut u8 {
        // SAFETY: a block has BLOCK_SIZE bytes, of which the header is the first part.
        unsafe { self.header().cast::<u8>().add(BLOCK_HEADER) }
    }

    /// End of the room for records.
    pub fn end(self) -> *mut u8 {
        // SAFETY: a block has BLOCK_SIZE bytes.
        unsafe { self.header().cast::<u8>().add(BLOCK_SIZE) }
    }
}

/// Blocks that are mapped at a time when there is none left for a thread.
const MORE: u64 = 4;

/// The block file.
pub struct Store {
    path: PathBuf,
    file: File,
    header: NonNull<FileHeader>,
    pool: Pool<Store>,
    /// Blocks that are mapped when there are none yet: one being written to, and some that can wait to be written out.
    first: u64,
    /// Number of the next block of the file that is not in use.
    next: AtomicU64,
    limit: AtomicU64,
}

// SAFETY: the header is written through atomics after creation; everything else is Sync by itself.
unsafe impl Sync for Store {}
// SAFETY: as above.
unsafe impl Send for Store {}

impl Store {
    /// Creates the file at `path` with its header (`fill` sets it) and its first `blocks` blocks.
    ///
    /// # Errors
    /// What the system says, if the file cannot be made or not mapped.
    pub fn create(
        path: &Path,
        blocks: u64,
        fill: impl FnOnce(&mut FileHeader),
    ) -> io::Result<Store> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(libc::O_CLOEXEC | libc::O_NOFOLLOW)
            .open(path)?;
        let made = (|| {
            reserve(&file, 0, BLOCK_SIZE)?;
            let page = map(&file, 0, BLOCK_SIZE)?;
            let mut header = page.cast::<FileHeader>();
            // SAFETY: a fresh mapping of zeros, which is a valid FileHeader, seen by nobody else yet.
            fill(unsafe { header.as_mut() });
            Ok(header)
        })();
        let header = match made {
            Ok(header) => header,
            Err(e) => {
                // The file is of no use; that it may stay behind empty is the lesser evil.
                drop(std::fs::remove_file(path));
                return Err(e);
            }
        };
        let store = Store {
            path: path.to_owned(),
            file,
            header,
            pool: Pool::default(),
            first: blocks.max(2),
            next: AtomicU64::new(0),
            limit: AtomicU64::new(u64::MAX),
        };
        store.pool.grow(&store)?;
        Ok(store)
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its header.
    pub fn header(&self) -> &FileHeader {
        // SAFETY: mapped for the life of the store; only atomics change after creation.
        unsafe { self.header.as_ref() }
    }

    /// Sets the most bytes that the file may take.
    pub fn set_limit(&self, bytes: u64) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// A block to write to; `None` when the disk is full or the limit is reached.
    pub fn take(&self) -> Option<Block> {
        self.pool.take(self)
    }

    /// Takes back a block that is full.
    pub fn put_full(&self, block: Block) {
        self.pool.put_full(block);
    }

    /// Removes the file's name; the mapping stays usable.
    pub fn remove(&self) {
        if let Ok(path) = CString::new(self.path.as_os_str().as_encoded_bytes()) {
            // SAFETY: a NUL-terminated path.
            unsafe { libc::unlink(path.as_ptr()) };
        }
    }
}

impl Store {
    /// The place of the next `n` blocks of the file, if they may be there.
    fn place(&self, n: u64) -> io::Result<u64> {
        let offset = |block| BLOCK_SIZE as u64 * (1 + block);
        let too_large = || io::Error::from_raw_os_error(libc::EFBIG);
        let limit = self.limit.load(Ordering::Relaxed).min(size_limit());
        if offset(self.next.load(Ordering::Relaxed) + n) > limit {
            return Err(too_large());
        }
        let first = self.next.fetch_add(n, Ordering::Relaxed);
        self.header().blocks.fetch_max(first + n, Ordering::Relaxed);
        if offset(first + n) > limit {
            return Err(too_large());
        }
        Ok(offset(first))
    }
}

impl Space for Store {
    type Block = Block;

    fn make(&self) -> io::Result<Vec<Block>> {
        let blocks = if self.next.load(Ordering::Relaxed) == 0 {
            self.first
        } else {
            MORE
        };
        let offset = self.place(blocks)?;
        let bytes = blocks as usize * BLOCK_SIZE;
        reserve(&self.file, offset, bytes)?;
        let base = map(&self.file, offset, bytes)?;
        let block = |i| Block {
            // SAFETY: inside the mapping just made.
            header: unsafe { base.add(i * BLOCK_SIZE) }.cast::<BlockHeader>(),
        };
        Ok((0..blocks as usize).map(block).collect())
    }

    fn keep(&self, full: &Block) -> io::Result<()> {
        let offset = self.place(1)?;
        // SAFETY: a block has BLOCK_SIZE bytes, and nobody writes to it now.
        let bytes = unsafe { std::slice::from_raw_parts(full.header().cast::<u8>(), BLOCK_SIZE) };
        self.file.write_all_at(bytes, offset).inspect_err(|_| {
            // What got through must not be taken for a block: it would stand in the file twice, once cut off.
            drop(self.file.write_all_at(&[0; 4], offset));
        })
    }
}

/// Most bytes that a file of this process may have. Going beyond would raise SIGXFSZ in the program.
fn size_limit() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a valid place for the result.
    match unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } {
        0 => limit.rlim_cur,
        _ => u64::MAX,
    }
}

/// Makes sure that the file has disk space for these bytes.
fn reserve(file: &File, offset: u64, bytes: usize) -> io::Result<()> {
    if offset + bytes as u64 > size_limit() {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    // SAFETY: plain system call on our own descriptor.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), offset as i64, bytes as i64) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Maps a part of the file for reading and writing, its pages faulted in: the writer is not to be held up by that.
fn map(file: &File, offset: u64, bytes: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
    let address = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            offset as i64,
        )
    };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping just made. Kernels before 5.14 do not know this; pages then fault when they are first written to.
    unsafe { libc::madvise(address, bytes, libc::MADV_POPULATE_WRITE) };
    NonNull::new(address.cast()).ok_or_else(|| io::Error::other("mapped at address 0"))
}
