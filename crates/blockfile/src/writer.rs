//! Writing the block file of a process that is no rank: an I/O server, a data server, what follows block devices. Such a file
//! has rank −1, times in ns of CLOCK_MONOTONIC, and a SERVER definition.
//!
//! Each thread fills mapped blocks of its own, one after the other. Every record is in the file as soon as it is written, also
//! if the process is killed then. When the disk is full, records are counted as lost, and the process works on.
//!
//! The recorder does not use this writer: its hot path fills blocks that go round among threads ([`crate::handover`]).

use crate::block::{put_record, record_size};
use crate::define::{Definition, FRAGMENT, ServerDefinition, TIME_BASE};
use crate::encode::RecordHead;
use crate::layout::{
    BLOCK_HEADER, BLOCK_MAGIC, BLOCK_SIZE, BlockHeader, Clock, FILE_MAGIC, Family, FileHeader,
    VERSION, ended,
};
use crate::machine::{monotonic_reading, now, process};
use crate::operation::{self, OperationRecord};
use crate::record;
use memmap2::{MmapMut, MmapOptions};
use parking_lot::Mutex;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Bits of a CallID that count calls, as the recorder has them.
pub const COUNTER_BITS: u32 = 40;
/// Records that are lost before the writer tries again whether there is room.
const RETRY_AFTER_LOST_RECORDS: u64 = 1024;
/// Bytes of the record that sets a new time base.
const BASE_RECORD_BYTES: usize = record::HEAD + 16;
/// Maximum size of a definition, or of a part of one that is cut.
const MAX_PART_BYTES: usize = 32 * 1024;

/// A block file that this process writes. Dropping it without [`finish`](BlockFileWriter::finish) leaves the file of a process
/// that ended early.
pub struct BlockFileWriter {
    shared: Arc<Shared>,
    /// Thread 0: what is known about the process as a whole.
    own: Mutex<ThreadWriter>,
}

struct Shared {
    file: File,
    header: MmapMut,
    next_block: Mutex<u64>,
    next_thread: AtomicU32,
}

/// The part of a [`BlockFileWriter`] that one thread writes, in blocks of its own.
pub struct ThreadWriter {
    shared: Arc<Shared>,
    number: u32,
    tid: u64,
    sequence: u64,
    time_base: u64,
    /// The block; `None` when there was no room for one.
    block: Option<MmapMut>,
    /// Bytes of it that are in use, its header included.
    used: usize,
    /// Records lost since there was no room.
    lost: u64,
}

impl BlockFileWriter {
    /// Creates the file, which must not exist yet, with the definitions PROCESS, `server`, and a first CLOCK.
    ///
    /// # Errors
    /// The error of the system if the file cannot be created; an error of the function table if it cannot be read.
    pub fn create(path: &Path, server: ServerDefinition) -> io::Result<BlockFileWriter> {
        let table = wrappers::table().map_err(io::Error::other)?.fingerprint();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o644)
            .custom_flags(libc::O_CLOEXEC)
            .open(path)?;
        reserve(&file, 0)?;
        let header = map(&file, 0)?;
        let shared = Shared {
            file,
            header,
            next_block: Mutex::new(0),
            next_thread: AtomicU32::new(0),
        };
        let header = FileHeader {
            magic: FILE_MAGIC,
            version: VERSION,
            // A file of operations has no handles.
            family: AtomicU32::new(Family::Mpich as u32),
            table,
            clock: Clock::Monotonic as u32,
            counter_bits: AtomicU32::new(COUNTER_BITS),
            pid: std::process::id(),
            rank: AtomicU32::new(u32::MAX),
            size: AtomicU32::new(0),
            ended: AtomicU32::new(0),
            blocks: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            run: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            lost_since: AtomicU64::new(0),
        };
        // SAFETY: the mapping is larger, suitably aligned, and seen by nobody else yet.
        unsafe { shared.header().cast_mut().write(header) };
        let shared = Arc::new(shared);
        let mut own = thread(&shared);
        own.define(&Definition::Process(process()));
        own.define(&Definition::Server(server));
        own.define(&Definition::Clock(monotonic_reading()));
        Ok(BlockFileWriter {
            shared,
            own: Mutex::new(own),
        })
    }

    /// A writer for the calling thread, whose ID stands in the file.
    pub fn thread(&self) -> ThreadWriter {
        thread(&self.shared)
    }

    /// Writes a definition for all threads.
    pub fn define(&self, definition: &Definition) {
        self.own.lock().define(definition);
    }

    /// Records that were lost so far.
    pub fn lost(&self) -> u64 {
        self.shared.lost().load(Relaxed)
    }

    /// Completes the file with a last CLOCK and the mark that the process has ended as it should. Records that threads write
    /// after that are kept, too.
    pub fn finish(&self) {
        self.own
            .lock()
            .define(&Definition::Clock(monotonic_reading()));
        // SAFETY: mapped for the life of `shared`; the field is atomic.
        unsafe {
            (*self.shared.header())
                .ended
                .store(ended::FINALIZED, Relaxed)
        };
    }
}

impl Shared {
    fn header(&self) -> *const FileHeader {
        self.header.as_ptr().cast()
    }

    fn lost(&self) -> &AtomicU64 {
        // SAFETY: mapped for the life of `self`; the field is atomic.
        unsafe { &(*self.header()).lost }
    }

    /// Room for one more block.
    fn block(&self) -> io::Result<MmapMut> {
        let mut next = self.next_block.lock();
        let offset = (1 + *next) * BLOCK_SIZE as u64;
        reserve(&self.file, offset)?;
        let block = map(&self.file, offset)?;
        *next += 1;
        // SAFETY: as in `lost`.
        unsafe { (*self.header()).blocks.store(*next, Relaxed) };
        Ok(block)
    }
}

fn thread(shared: &Arc<Shared>) -> ThreadWriter {
    ThreadWriter {
        shared: Arc::clone(shared),
        number: shared.next_thread.fetch_add(1, Relaxed),
        // SAFETY: asks for a number.
        tid: unsafe { libc::syscall(libc::SYS_gettid) } as u64,
        sequence: 0,
        time_base: 0,
        block: None,
        used: BLOCK_SIZE,
        lost: 0,
    }
}

impl ThreadWriter {
    /// Writes an operation that took place from `start` to `stop` (ns of CLOCK_MONOTONIC) and failed with `errno`, or 0.
    /// Operations must come in the order in which they end: what is nested in another one before that.
    pub fn put(
        &mut self,
        function: u16,
        start: u64,
        stop: u64,
        errno: i32,
        operation: &OperationRecord,
    ) {
        debug_assert!(operation::kind(function).is_some());
        let (payload, size) = operation.encode();
        let mut word = function;
        let mut body = [0; record::HEAD_EXTRA + operation::MAX_ENCODED_BYTES];
        let mut at = 0;
        let duration = stop.saturating_sub(start);
        if u32::try_from(duration).is_err() {
            word |= record::LONG;
            body[..8].copy_from_slice(&duration.to_ne_bytes());
            at = 8;
        }
        if errno != 0 {
            word |= record::ERROR;
            body[at..at + 4].copy_from_slice(&errno.to_ne_bytes());
            at += 4;
        }
        body[at..at + size].copy_from_slice(&payload[..size]);
        let duration = u32::try_from(duration).unwrap_or(0);
        if !self.append(word, start, duration, &body[..at + size]) {
            self.lost += 1;
            self.shared.lost().fetch_add(1, Relaxed);
        }
    }

    /// Writes a definition, now.
    pub fn define(&mut self, definition: &Definition) {
        let payload = definition.encode();
        let now = now();
        if payload.len() <= MAX_PART_BYTES {
            self.append(definition.number(), now, 0, &payload);
            return;
        }
        let mut whole = definition.number().to_ne_bytes().to_vec();
        whole.extend_from_slice(&0i32.to_ne_bytes());
        whole.extend_from_slice(&payload);
        for (i, part) in whole.chunks(MAX_PART_BYTES).enumerate() {
            let mut fragment = (whole.len() as u32).to_ne_bytes().to_vec();
            fragment.extend_from_slice(&((i * MAX_PART_BYTES) as u32).to_ne_bytes());
            fragment.extend_from_slice(part);
            self.append(FRAGMENT, now, 0, &fragment);
        }
    }

    /// Appends a record; false when there is no room for it.
    fn append(&mut self, word: u16, start: u64, duration: u32, body: &[u8]) -> bool {
        let size = record_size(body.len());
        if self.used + size + BASE_RECORD_BYTES > BLOCK_SIZE && !self.change_block(start) {
            return false;
        }
        if u32::try_from(start.wrapping_sub(self.time_base)).is_err() {
            let mut bases = [0; 16];
            bases[..8].copy_from_slice(&start.to_ne_bytes());
            self.put_record(TIME_BASE, 0, 0, &bases);
            self.time_base = start;
        }
        let since = start.wrapping_sub(self.time_base) as u32;
        self.put_record(word, since, duration, body);
        true
    }

    /// Writes a record for which there is room and publishes it.
    fn put_record(&mut self, word: u16, start: u32, duration: u32, body: &[u8]) {
        let Some(block) = &mut self.block else {
            return;
        };
        let head = RecordHead {
            word,
            start,
            duration,
            call: 0,
        };
        let Some(used) = put_record(block, self.used, head, body) else {
            return;
        };
        self.used = used;
        let header = block.as_ptr().cast::<BlockHeader>();
        // SAFETY: the block begins with its header, and the field is atomic.
        let committed = unsafe { &(*header).committed };
        committed.publish((self.used - BLOCK_HEADER) as u32);
    }

    /// Goes on in a new block.
    fn change_block(&mut self, now: u64) -> bool {
        if self.block.is_none() && !self.lost.is_multiple_of(RETRY_AFTER_LOST_RECORDS) {
            return false;
        }
        self.block = self.shared.block().ok();
        let Some(block) = &mut self.block else {
            self.used = BLOCK_SIZE;
            return false;
        };
        // SAFETY: the block is this thread's own and large enough; it holds zeros, and readers look at it only once its
        // magic is there.
        unsafe {
            let header = block.as_mut_ptr().cast::<BlockHeader>();
            (*header).thread = self.number;
            (*header).sequence = self.sequence;
            (*header).time_base = now;
            (*header).tid = self.tid;
            (*header).magic.publish(BLOCK_MAGIC);
        }
        self.sequence += 1;
        self.time_base = now;
        self.used = BLOCK_HEADER;
        let lost = std::mem::take(&mut self.lost);
        if lost > 0 {
            self.define(&Definition::Lost {
                count: lost,
                reason: "no room on the disk".to_owned(),
            });
        }
        true
    }
}

/// Makes sure that the disk has room for a block: a store into a mapped page without it would kill the process.
fn reserve(file: &File, offset: u64) -> io::Result<()> {
    let mut limit = libc::rlimit {
        rlim_cur: u64::MAX,
        rlim_max: u64::MAX,
    };
    // SAFETY: a valid place for the result, and plain calls on our own descriptor.
    let error = unsafe {
        libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit);
        if offset + BLOCK_SIZE as u64 > limit.rlim_cur {
            // Going beyond would raise SIGXFSZ.
            libc::EFBIG
        } else {
            libc::posix_fallocate(file.as_raw_fd(), offset as i64, BLOCK_SIZE as i64)
        }
    };
    match error {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

fn map(file: &File, offset: u64) -> io::Result<MmapMut> {
    // SAFETY: room for the bytes has been reserved, and nobody else writes to the file.
    unsafe {
        MmapOptions::new()
            .offset(offset)
            .len(BLOCK_SIZE)
            .map_mut(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::define::{Extents, ServerKind};
    use std::path::PathBuf;
    use std::process::Command;

    fn server() -> ServerDefinition {
        ServerDefinition {
            role: ServerKind::DataServer,
            number: 2,
            name: "store".to_owned(),
        }
    }

    /// A name in the folder for temporary files that is removed at the end.
    struct Name(PathBuf);

    impl Name {
        fn new(name: &str) -> Name {
            let name = format!("blockfile-writer-{name}-{}.blocks", std::process::id());
            let path = std::env::temp_dir().join(name);
            drop(std::fs::remove_file(&path));
            Name(path)
        }
    }

    impl Drop for Name {
        fn drop(&mut self) {
            drop(std::fs::remove_file(&self.0));
        }
    }

    fn write(thread: &mut ThreadWriter, count: u64) {
        for i in 0..count {
            let operation = OperationRecord {
                fd: 3,
                offset: i as i64,
                call: Some(i),
                ..OperationRecord::default()
            };
            // One of them took long, and the times leave 32 bits behind several times.
            let start = 1 + i * 1_000_000;
            let duration = if i == 7 { 1 << 33 } else { 5 };
            thread.put(
                operation::PWRITE,
                start,
                start + duration,
                (i % 3) as i32,
                &operation,
            );
        }
    }

    /// Numbers of the operations of thread `thread` in `bytes`, each checked, and the definitions of all threads.
    fn read(bytes: &[u8], thread: u32) -> (u64, Vec<Definition>) {
        let file = crate::file::BlockFile::new(bytes).unwrap();
        assert_eq!(file.damage(), []);
        assert_eq!(
            (file.info().rank, file.info().clock),
            (-1, Clock::Monotonic)
        );
        let mut count = 0;
        let mut definitions = Vec::new();
        for found in file.threads() {
            let mut records = found.records();
            while let Some(r) = records.next() {
                if r.is_definition() {
                    definitions.push(Definition::decode(r.function, r.payload).unwrap());
                    continue;
                }
                assert_eq!(found.number, thread);
                let o = OperationRecord::decode(r.payload).unwrap();
                assert_eq!(r.function, operation::PWRITE);
                assert_eq!((o.call, o.offset), (Some(count), count as i64));
                assert_eq!(r.start, 1 + count * 1_000_000);
                assert_eq!(r.duration, if count == 7 { 1 << 33 } else { 5 });
                assert_eq!(r.code, (count % 3) as i32);
                count += 1;
            }
        }
        (count, definitions)
    }

    #[test]
    fn records_come_back() {
        let name = Name::new("back");
        let writer = BlockFileWriter::create(&name.0, server()).unwrap();
        let mut thread = writer.thread();
        // The first part goes to thread 1, and another one writes at the same time what is larger than a block.
        let extents = Definition::Extents(Extents {
            extents: (0..9000).map(|i| (i, i, i)).collect(),
            ..Extents::default()
        });
        std::thread::scope(|scope| {
            let mut other = writer.thread();
            scope.spawn(move || write(&mut thread, 20_000));
            other.define(&extents);
        });
        writer.finish();
        let bytes = std::fs::read(&name.0).unwrap();
        let (count, definitions) = read(&bytes, 1);
        assert_eq!(count, 20_000);
        assert!(definitions.contains(&extents));
        assert!(definitions.contains(&Definition::Server(server())));
        let clocks = |d: &&Definition| matches!(d, Definition::Clock(_));
        assert_eq!(definitions.iter().filter(clocks).count(), 2);
        let info = crate::file::BlockFile::new(&bytes).unwrap().info();
        assert_eq!((info.ended, info.lost), (1, 0));
        assert!(
            BlockFileWriter::create(&name.0, server()).is_err(),
            "the file exists"
        );
    }

    const CHILD: &str = "BLOCKFILE_TEST_WRITER";

    /// The process that [`killed`] starts and kills.
    #[test]
    #[ignore = "part of another test"]
    fn child() {
        let path = std::env::var_os(CHILD).unwrap();
        let writer = BlockFileWriter::create(Path::new(&path), server()).unwrap();
        write(&mut writer.thread(), 5_000);
        // SAFETY: ends this process, which was started for that.
        unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
    }

    /// The process that [`full`] starts: files may not become larger than 10 blocks.
    #[test]
    #[ignore = "part of another test"]
    fn child_without_room() {
        let path = std::env::var_os(CHILD).unwrap();
        let limit = |bytes| libc::rlimit {
            rlim_cur: bytes,
            rlim_max: libc::RLIM_INFINITY,
        };
        // SAFETY: plain calls.
        unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit(10 * BLOCK_SIZE as u64)) };
        let writer = BlockFileWriter::create(Path::new(&path), server()).unwrap();
        let mut thread = writer.thread();
        write(&mut thread, 20_000);
        assert!(writer.lost() > 10_000);
        // SAFETY: as above.
        unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit(libc::RLIM_INFINITY)) };
        let lost = writer.lost();
        for _ in 0..RETRY_AFTER_LOST_RECORDS {
            thread.put(operation::READ, 1, 2, 0, &OperationRecord::default());
        }
        assert!(
            writer.lost() < lost + RETRY_AFTER_LOST_RECORDS,
            "it records again"
        );
        writer.finish();
    }

    fn run(test: &str, name: &Name) -> std::process::ExitStatus {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &format!("writer::tests::{test}"), "--ignored"])
            .env(CHILD, &name.0)
            .stdout(std::process::Stdio::null())
            .status()
            .unwrap()
    }

    #[test]
    fn killed() {
        let name = Name::new("killed");
        let status = run("child", &name);
        assert!(!status.success());
        let bytes = std::fs::read(&name.0).unwrap();
        let (count, definitions) = read(&bytes, 1);
        assert_eq!(count, 5_000);
        assert_eq!(definitions.len(), 3);
        assert_eq!(crate::file::BlockFile::new(&bytes).unwrap().info().ended, 0);
    }

    #[test]
    fn full() {
        let name = Name::new("full");
        assert!(run("child_without_room", &name).success());
        let bytes = std::fs::read(&name.0).unwrap();
        let file = crate::file::BlockFile::new(&bytes).unwrap();
        assert_eq!(file.damage(), []);
        assert!(file.info().lost > 10_000);
        let mut records = file.threads()[1].records();
        let mut recorded = 0;
        while let Some(r) = records.next() {
            if let Some(Definition::Lost { count, .. }) = Definition::decode(r.function, r.payload)
            {
                recorded += count;
            }
        }
        assert_eq!(recorded, file.info().lost);
    }
}
