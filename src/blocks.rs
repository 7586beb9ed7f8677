//! The block file of this process: a shared mapping on a local disk that grows chunk by chunk. Threads take empty blocks of
//! it and give full ones back without a lock, through [`records::handover`].
//!
//! Space is reserved on the disk before it is mapped, because a store into a mapped page without a disk block behind it
//! would kill the program with SIGBUS. A chunk whose blocks are all full is unmapped again: its data are in the file.

use records::handover::{Member, Pool, Space};
use records::layout::{BLOCK_HEADER, BLOCK_SIZE, BlockHeader, FileHeader};
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// A mapped block. Who holds it may write to it; nobody else does.
#[derive(Clone, Copy)]
pub struct Block {
    header: NonNull<BlockHeader>,
    chunk: usize,
}

// SAFETY: a Block is an address in a mapping that any thread may use; the queues hand it to one thread at a time.
unsafe impl Send for Block {}

impl Block {
    /// A block that is no part of a file.
    pub fn private(header: NonNull<BlockHeader>) -> Block {
        Block {
            header,
            chunk: usize::MAX,
        }
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

/// Blocks in the first chunk; later ones are larger.
const FIRST_CHUNK: usize = 4;
const CHUNK: usize = 16;

/// A mapped part of the file.
pub struct Chunk {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: base is an address in a mapping of the whole process.
unsafe impl Send for Chunk {}

/// The block file.
pub struct Store {
    path: PathBuf,
    file: File,
    header: NonNull<FileHeader>,
    pool: Pool<Store>,
    limit: AtomicU64,
}

// SAFETY: the header is written through atomics after creation; everything else is Sync by itself.
unsafe impl Sync for Store {}
// SAFETY: as above.
unsafe impl Send for Store {}

impl Store {
    /// Creates the file at `path` with its header (`fill` sets it) and the first chunk of blocks.
    ///
    /// # Errors
    /// What the system says, if the file cannot be made or not mapped.
    pub fn create(path: &Path, fill: impl FnOnce(&mut FileHeader)) -> io::Result<Store> {
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

    /// An empty block; `None` when the disk is full or the limit is reached.
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

impl Member for Block {
    fn chunk(&self) -> usize {
        self.chunk
    }
}

impl Space for Store {
    type Block = Block;
    type Chunk = Chunk;

    fn make(&self, number: usize) -> io::Result<(Chunk, Vec<Block>)> {
        let (before, blocks) = match number {
            0 => (0, FIRST_CHUNK),
            n => (FIRST_CHUNK + (n - 1) * CHUNK, CHUNK),
        };
        let offset = BLOCK_SIZE * (1 + before);
        let bytes = blocks * BLOCK_SIZE;
        if (offset + bytes) as u64 > self.limit.load(Ordering::Relaxed) {
            return Err(io::Error::from_raw_os_error(libc::EFBIG));
        }
        reserve(&self.file, offset, bytes)?;
        let base = map(&self.file, offset, bytes)?;
        self.header()
            .blocks
            .store((before + blocks) as u64, Ordering::Relaxed);
        let block = |i| Block {
            // SAFETY: inside the mapping just made.
            header: unsafe { base.add(i * BLOCK_SIZE) }.cast::<BlockHeader>(),
            chunk: number,
        };
        Ok((Chunk { base, bytes }, (0..blocks).map(block).collect()))
    }

    /// Unmaps it: its data are in the file.
    fn give_up(&self, chunk: &mut Chunk) {
        // SAFETY: nobody holds a block of this chunk any more.
        unsafe { libc::munmap(chunk.base.as_ptr().cast(), chunk.bytes) };
    }
}

/// Makes sure that the file has disk space for these bytes.
fn reserve(file: &File, offset: usize, bytes: usize) -> io::Result<()> {
    let end = (offset + bytes) as u64;
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a valid place for the result.
    if unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } == 0 && limit.rlim_cur < end {
        // Going on would raise SIGXFSZ in the program.
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    // SAFETY: plain system call on our own descriptor.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), offset as i64, bytes as i64) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Maps a part of the file for reading and writing, its pages faulted in: the writer is not to be held up by that.
fn map(file: &File, offset: usize, bytes: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
    let address = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_POPULATE,
            file.as_raw_fd(),
            offset as i64,
        )
    };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(address.cast()).ok_or_else(|| io::Error::other("mapped at address 0"))
}
