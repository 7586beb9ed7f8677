//! The block file of a process: how it is made, written to, named and removed.

use super::block::Block;
use super::held_file::{FileInUse, HeldFile};
use super::maps::{map, needs_more_space_to_change, reserve, size_limit};
use crate::platform::cancellation::CancellationPutOff;
use crate::platform::say;
use blockfile::define::MATCHING_ONLY;
use blockfile::encode::RecordHead;
use blockfile::handover::Published;
use blockfile::handover::{BlockPool, BlockSpace};
use blockfile::layout::{BLOCK_HEADER, BLOCK_SIZE, FileHeader, PINNED_MAGIC, at};
use blockfile::record::{self, Record, RecordBase, Records};
use parking_lot::{Mutex, RwLock};
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Blocks that are mapped at a time when there is none left for a thread.
const BLOCKS_AT_A_TIME: u64 = 4;

/// The block file. It has no name before MPI begins, so that a process that only asks whether it has, as children of a rank
/// may, leaves nothing, however it ends.
pub struct BlockStore {
    path: PathBuf,
    /// The name of the file, as soon as it has one; `None` inside if it could not be given one.
    named: OnceLock<Option<PathBuf>>,
    file: HeldFile,
    header: NonNull<FileHeader>,
    pool: BlockPool<BlockStore>,
    /// Blocks that are mapped when there are none yet: one being written to, and some that can wait to be written out.
    first: u64,
    /// Number of the next block of the file that is not in use.
    next: AtomicU64,
    limit: AtomicU64,
    /// Whether the newest calls are kept and not the oldest.
    newest: bool,
    /// Blocks that have been written over, in all rounds.
    over: AtomicU64,
    /// Blocks of the file that are mapped, and so not to be written over.
    mapped: RwLock<Vec<MappedBlocks>>,
    /// Whether it is not the file that is mapped, but memory.
    in_memory: bool,
    pinned: Mutex<PinnedBlock>,
}

/// Blocks of the file in one piece.
struct MappedBlocks {
    blocks: Range<u64>,
    /// Start of their mapping; `None` if they are mapped no more.
    base: Option<NonNull<u8>>,
}

/// The block of definitions that is being filled.
#[derive(Default)]
struct PinnedBlock {
    block: Option<Block>,
    used: usize,
}

// SAFETY: the header is written through atomics after creation; everything else is Sync by itself.
unsafe impl Sync for BlockStore {}
// SAFETY: as above.
unsafe impl Send for BlockStore {}

impl BlockStore {
    /// Creates the file at `path` with its header (`fill` sets it) and its first `blocks` blocks. With `newest`, new records
    /// take the place of old ones when there is no more room.
    ///
    /// # Errors
    /// The error of the system, if the file cannot be made or not mapped.
    pub fn create(
        path: &Path,
        blocks: u64,
        newest: bool,
        fill: impl FnOnce(&mut FileHeader),
    ) -> io::Result<BlockStore> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(0o600);
        let folder = path.parent().unwrap_or(Path::new("."));
        let nameless = options
            .custom_flags(libc::O_CLOEXEC | libc::O_TMPFILE)
            .open(folder);
        let named = OnceLock::new();
        let file = match nameless {
            Ok(file) => file,
            // Not all file systems have files without a name.
            Err(_) => {
                let file = options
                    .create_new(true)
                    .custom_flags(libc::O_CLOEXEC | libc::O_NOFOLLOW)
                    .open(path)?;
                named.get_or_init(|| Some(path.to_owned()));
                file
            }
        };
        let file = HeldFile::new(file)?;
        let in_memory = needs_more_space_to_change(&*file.get(None)?);
        let made = (|| {
            let file = &*file.get(None)?;
            reserve(file, 0, BLOCK_SIZE)?;
            let page = map((!in_memory).then_some(file), 0, BLOCK_SIZE)?;
            let mut header = page.cast::<FileHeader>();
            // SAFETY: a fresh mapping of zeros, which is a valid FileHeader, seen by nobody else yet.
            fill(unsafe { header.as_mut() });
            Ok(header)
        })();
        let header = match made {
            Ok(header) => header,
            Err(e) => {
                // The file is of no use; that it may stay behind empty is the lesser evil.
                if named.get().is_some() {
                    drop(std::fs::remove_file(path));
                }
                return Err(e);
            }
        };
        let store = BlockStore {
            path: path.to_owned(),
            named,
            file,
            header,
            pool: BlockPool::default(),
            first: blocks.max(2),
            next: AtomicU64::new(0),
            limit: AtomicU64::new(u64::MAX),
            newest,
            over: AtomicU64::new(0),
            // Room enough that a thread which needs a block seldom needs memory for the list of them.
            mapped: RwLock::new(Vec::with_capacity(1024)),
            in_memory,
            pinned: Mutex::default(),
        };
        store.pool.grow(&store)?;
        Ok(store)
    }

    /// Writes into the file what is in memory only, as far as there is room: before others read it, and when the process ends.
    pub fn write_out(&self) {
        if self.in_memory {
            self.write_pieces(&self.mapped.read());
        }
    }

    /// As [`BlockStore::write_out`], without waiting: nothing is written while another thread gets or gives back blocks.
    pub fn try_write_out(&self) {
        if self.in_memory
            && let Some(mapped) = self.mapped.try_read()
        {
            self.write_pieces(&mapped);
        }
    }

    fn write_pieces(&self, mapped: &[MappedBlocks]) {
        for piece in mapped {
            if let Some(base) = piece.base {
                let bytes = (piece.blocks.end - piece.blocks.start) as usize * BLOCK_SIZE;
                self.write_raw(base, bytes, offset(piece.blocks.start));
            }
        }
        self.write_header();
    }

    /// Writes the header into the file, if it is in memory only.
    pub fn write_header(&self) {
        if self.in_memory {
            self.write_raw(self.header.cast(), size_of::<FileHeader>(), 0);
        }
    }

    /// Writes memory that threads may be changing.
    fn write_raw(&self, from: NonNull<u8>, bytes: usize, to: u64) {
        let Ok(file) = self.file() else {
            return;
        };
        let mut done = 0;
        while done < bytes {
            // SAFETY: inside a mapping of the store's. The system reads it, which threads may change meanwhile: what is complete by
            // the count at the beginning of a block stays as it is.
            let n = unsafe {
                let from = from.as_ptr().add(done).cast();
                libc::pwrite(
                    file.as_raw_fd(),
                    from,
                    bytes - done,
                    (to + done as u64) as i64,
                )
            };
            match usize::try_from(n) {
                Ok(n @ 1..) => done += n,
                _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                _ => return,
            }
        }
    }

    /// The whole file, for reading.
    ///
    /// # Errors
    /// The error of the system.
    ///
    /// # Safety
    /// Records that threads have not committed must not be read.
    pub unsafe fn read(&self) -> io::Result<StoreContents> {
        let file = &*self.file()?;
        if !self.in_memory {
            // SAFETY: the file is this process's own.
            return Ok(StoreContents::File(unsafe { memmap2::Mmap::map(file) }?));
        }
        // The memory is the truth: the file may have had no room for it.
        // SAFETY: as above; changes stay in memory.
        let mut copy = unsafe { memmap2::MmapOptions::new().map_copy(file) }?;
        let mut put = |from: NonNull<u8>, bytes: usize, to: u64| {
            let room = usize::try_from(to)
                .ok()
                .and_then(|to| copy.get_mut(to..to + bytes));
            if let Some(room) = room {
                // SAFETY: a mapping of the store's; others may be changing what is not committed.
                unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), room.as_mut_ptr(), bytes) };
            }
        };
        for piece in &*self.mapped.read() {
            if let Some(base) = piece.base {
                let bytes = (piece.blocks.end - piece.blocks.start) as usize * BLOCK_SIZE;
                put(base, bytes, offset(piece.blocks.start));
            }
        }
        put(self.header.cast(), size_of::<FileHeader>(), 0);
        Ok(StoreContents::Copy(copy))
    }

    /// The block file, to be used at once.
    fn file(&self) -> io::Result<FileInUse<'_>> {
        self.file.get(self.named.get().and_then(Option::as_deref))
    }

    /// Whether the file has a name. Without one it is lost when its descriptor is closed.
    pub fn has_name(&self) -> bool {
        matches!(self.named.get(), Some(Some(_)))
    }

    /// Path of the file, which may not exist yet.
    pub fn path(&self) -> &Path {
        match self.named.get() {
            Some(Some(path)) => path,
            _ => &self.path,
        }
    }

    /// Gives the file its name, the first time.
    pub fn name(&self) {
        self.named.get_or_init(|| {
            // A process that has executed another program keeps its number, and its file may be there.
            let tries = (0..100).map(|n| match n {
                0 => self.path.clone(),
                n => self.path.with_extension(format!("{n}.blocks")),
            });
            let mut why = io::Error::from_raw_os_error(libc::EEXIST);
            for path in tries {
                match self.file().and_then(|file| link(&file, &path)) {
                    Ok(()) => {
                        self.write_header();
                        return Some(path);
                    }
                    Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(e) => {
                        why = e;
                        break;
                    }
                }
            }
            say::on_first_rank(&format!(
                "trace: {}: {why}; nothing is left of the calls of a process that does not come to MPI_Finalize",
                self.path.display()
            ));
            None
        });
    }

    /// Header of the block file.
    pub fn header(&self) -> &FileHeader {
        // SAFETY: mapped for the life of the store; only atomics change after creation.
        unsafe { self.header.as_ref() }
    }

    /// Sets the most bytes that the file may take.
    pub fn set_limit(&self, bytes: u64) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// Keeps a definition of `thread`, which stands in block `sequence` of that thread, also when that block is written over.
    /// Without `newest` nothing ever is.
    pub fn pin(&self, thread: u32, sequence: u64, word: u16, payload: &[u8]) {
        if !self.newest {
            return;
        }
        let _whole = CancellationPutOff::new();
        let size = (record::HEAD + payload.len()).next_multiple_of(4);
        let mut pinned = self.pinned.lock();
        let room = BLOCK_SIZE - BLOCK_HEADER;
        if pinned.block.is_none() || pinned.used + size > room {
            if size > room {
                return;
            }
            if let Some(full) = pinned.block.take() {
                let base = full.address();
                let mut mapped = self.mapped.write();
                if let Some(piece) = mapped.iter_mut().find(|piece| piece.base == Some(base)) {
                    piece.base = None;
                    if self.in_memory {
                        self.write_raw(base, BLOCK_SIZE, offset(piece.blocks.start));
                    }
                }
                drop(mapped);
                // SAFETY: the mapping made below; nobody else has it.
                unsafe { libc::munmap(full.header().cast(), BLOCK_SIZE) };
            }
            let Ok(base) = self.map_more(1, false) else {
                return;
            };
            let block = Block::at(base.cast());
            // SAFETY: a fresh block of this store's own.
            unsafe {
                (*block.header()).magic.publish(PINNED_MAGIC);
            }
            *pinned = PinnedBlock {
                block: Some(block),
                used: 0,
            };
        }
        let Some(block) = pinned.block else { return };
        let head = RecordHead {
            word,
            start: 0,
            duration: sequence as u32,
            call: thread,
        };
        // SAFETY: there is room, and the lock makes this the only writer.
        unsafe {
            let to = block.start().add(pinned.used);
            head.write(to, size);
            std::ptr::copy_nonoverlapping(payload.as_ptr(), to.add(record::HEAD), payload.len());
            pinned.used += size;
            (*block.header()).committed.publish(pinned.used as u32);
        }
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
        // What cannot be removed stays.
        if let Some(Some(path)) = self.named.get() {
            drop(std::fs::remove_file(path));
        }
    }
}

/// Gives a file without a name this one.
fn link(file: &File, path: &Path) -> io::Result<()> {
    let from = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let to = CString::new(path.as_os_str().as_encoded_bytes())?;
    // SAFETY: NUL-terminated paths.
    let done = unsafe {
        libc::linkat(
            libc::AT_FDCWD,
            from.as_ptr(),
            libc::AT_FDCWD,
            to.as_ptr(),
            libc::AT_SYMLINK_FOLLOW,
        )
    };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

impl BlockStore {
    /// The place of the next `n` blocks of the file, if they may be there. Blocks to be mapped may be beyond the limit where
    /// recording is to go on for ever: each thread needs one.
    fn place(&self, n: u64, limited: bool) -> io::Result<u64> {
        let too_large = || io::Error::from_raw_os_error(libc::EFBIG);
        let limit = match limited {
            true => self.limit.load(Ordering::Relaxed).min(size_limit()),
            false => size_limit(),
        };
        if offset(self.next.load(Ordering::Relaxed) + n) > limit {
            return Err(too_large());
        }
        let first = self.next.fetch_add(n, Ordering::Relaxed);
        self.header().blocks.fetch_max(first + n, Ordering::Relaxed);
        if offset(first + n) > limit {
            return Err(too_large());
        }
        Ok(first)
    }

    /// Maps `n` more blocks. Gives the address of the first.
    fn map_more(&self, n: u64, limited: bool) -> io::Result<NonNull<u8>> {
        let first = self.place(n, limited)?;
        let blocks = first..first + n;
        self.mapped
            .write()
            .push(MappedBlocks { blocks, base: None });
        let bytes = n as usize * BLOCK_SIZE;
        let file = &*self.file()?;
        reserve(file, offset(first), bytes)?;
        let base = map((!self.in_memory).then_some(file), offset(first), bytes)?;
        let mut mapped = self.mapped.write();
        if let Some(piece) = mapped.iter_mut().find(|piece| piece.blocks.start == first) {
            piece.base = Some(base);
        }
        Ok(base)
    }

    /// Writes a block over the oldest one that is not mapped.
    fn write_over(&self, full: &[u8]) -> io::Result<()> {
        let limit = self.limit.load(Ordering::Relaxed).min(size_limit());
        let room = (limit / BLOCK_SIZE as u64).saturating_sub(1);
        let blocks = room.min(self.next.load(Ordering::Relaxed));
        let full_disk = || io::Error::from_raw_os_error(libc::ENOSPC);
        let file = &*self.file()?;
        for _ in 0..blocks {
            let number = self.over.fetch_add(1, Ordering::Relaxed) % blocks;
            if self
                .mapped
                .read()
                .iter()
                .any(|m| m.blocks.contains(&number))
            {
                continue;
            }
            let mut calls = [0; 8];
            file.read_exact_at(&mut calls, offset(number) + at::B_CALLS as u64)?;
            // Whoever reads the file meanwhile finds no block here until it is whole.
            file.write_all_at(&[0; 4], offset(number))?;
            self.header()
                .dropped
                .fetch_add(u64::from_ne_bytes(calls), Ordering::Relaxed);
            file.write_all_at(&full[4..], offset(number) + 4)?;
            return file.write_all_at(&full[..4], offset(number));
        }
        Err(full_disk())
    }
}

/// Offset of a block in the file, bytes.
fn offset(block: u64) -> u64 {
    BLOCK_SIZE as u64 * (1 + block)
}

/// Calls in a block that nobody writes to, those for matching only with them: a reader must know that there were some.
fn calls(block: &[u8], committed: &Published) -> u64 {
    let body = &block[BLOCK_HEADER..];
    let body = &body[..(committed.seen() as usize).min(body.len())];
    let records = Records::new(body, RecordBase::default());
    let is_one = |r: &Record<'_>| r.is_call() || r.function == MATCHING_ONLY;
    records.filter(is_one).count() as u64
}

impl BlockSpace for BlockStore {
    type Block = Block;

    fn make(&self, add: &mut dyn FnMut(Block)) -> io::Result<()> {
        let blocks = if self.next.load(Ordering::Relaxed) == 0 {
            self.first
        } else {
            BLOCKS_AT_A_TIME
        };
        let base = self.map_more(blocks, !self.newest)?;
        for i in 0..blocks as usize {
            // SAFETY: inside the mapping just made.
            let header = unsafe { base.add(i * BLOCK_SIZE) };
            add(Block::at(header.cast()));
        }
        Ok(())
    }

    fn keep(&self, full: &Block) -> io::Result<()> {
        // SAFETY: a block has BLOCK_SIZE bytes, and nobody writes to it now.
        let bytes = unsafe { std::slice::from_raw_parts(full.header().cast::<u8>(), BLOCK_SIZE) };
        if self.newest {
            // SAFETY: as above.
            let header = unsafe { &*full.header() };
            let calls = calls(bytes, &header.committed);
            header.calls.store(calls, Ordering::Relaxed);
        }
        let written = self.place(1, true).map(offset).and_then(|offset| {
            let file = &*self.file()?;
            file.write_all_at(bytes, offset).inspect_err(|_| {
                // A part that got through must not be taken for a block: it would stand in the file twice, once cut off.
                drop(file.write_all_at(&[0; 4], offset));
                if self.newest {
                    // The disk is full: this is the size that the file can have.
                    self.limit.fetch_min(offset, Ordering::Relaxed);
                }
            })
        });
        self.write_header();
        match written {
            Err(_) if self.newest => self.write_over(bytes),
            written => written,
        }
    }
}

/// The bytes of a block file.
pub enum StoreContents {
    /// The bytes of the file.
    File(memmap2::Mmap),
    /// A copy, in which stands what is in memory.
    Copy(memmap2::MmapMut),
}

impl StoreContents {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            StoreContents::File(bytes) => bytes,
            StoreContents::Copy(bytes) => bytes,
        }
    }
}
