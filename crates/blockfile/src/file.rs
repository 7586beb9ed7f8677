//! Reading a block file: header, threads, and the records of each thread in order. The file may be that of a killed process:
//! only what blocks say is committed is taken, and nothing in it is trusted.
//!
//! Where only the newest calls are kept, blocks are used again. Definitions that later records may need stand twice then, in
//! their thread's blocks and in pinned ones: those are given first whose block is gone.

use crate::block_bytes::{Blocks, FileBytes, block_records};
use crate::layout::{
    BLOCK_HEADER, BLOCK_MAGIC, BLOCK_SIZE, Clock, FILE_MAGIC, Family, OLDEST_VERSION,
    OPEN_REQUESTS, PINNED_MAGIC, VERSION, at, tells,
};
use crate::record::{Record, u32_at, u64_at};
pub use crate::thread_records::ThreadRecords;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Why a file is not a readable block file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockFileError {
    /// Byte offset in the file.
    pub offset: usize,
    /// Description of the content found and of the expected one.
    pub what: String,
}

impl fmt::Display for BlockFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.what)
    }
}

impl std::error::Error for BlockFileError {}

/// Content of a block file's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockFileInfo {
    /// Representation of handles.
    pub family: Family,
    /// Fingerprint of the function table.
    pub table: u64,
    /// Source of times.
    pub clock: Clock,
    /// Bits of the counter field of a CallID.
    pub counter_bits: u32,
    /// Process ID.
    pub pid: u32,
    /// Rank in MPI_COMM_WORLD, −1 if MPI_Init did not return.
    pub rank: i32,
    /// Size of MPI_COMM_WORLD, 0 if MPI_Init did not return.
    pub size: u32,
    /// How the process ended, a value of [`crate::layout::ended`]; 0 as long as it has not.
    pub ended: u32,
    /// Records that were not kept.
    pub lost: u64,
    /// Identity of the run.
    pub run: u64,
    /// Calls that were recorded and given up for newer ones.
    pub dropped: u64,
    /// Time from which on records may be missing that were not kept, ticks: 0 if some are missing and the file does not say since when,
    /// `None` if all were kept.
    pub lost_since: Option<u64>,
}

impl BlockFileInfo {
    /// CallID of a call of this process: the rank in the upper bits, the call's counter in the lower ones. A process that did not return from
    /// MPI_Init counts as rank 0.
    pub fn call_id(&self, counter: u64) -> u64 {
        let bits = self.counter_bits.clamp(1, 63);
        let rank = u64::try_from(self.rank).unwrap_or(0);
        (rank << bits) | (counter & ((1 << bits) - 1))
    }
}

/// A call that was running when the process died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenCall {
    /// Function number.
    pub function: u16,
    /// Start, ticks.
    pub start: u64,
    /// Counter field of its CallID.
    pub call: u64,
}

/// Arguments of a call that was running when the process died, of a function that tells them ([`wrappers::Function::waits`],
/// [`wrappers::Function::waits_on_window`]). Those that the function does not
/// have are left over from other calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenArguments {
    /// Raw handle of the communicator, file or window; 0 if nothing was told.
    pub comm: u64,
    /// Receiver of the message, or root.
    pub dest: i32,
    /// Sender of the message.
    pub source: i32,
    /// Tag of the message, of a call that sends and receives that of the receive.
    pub tag: i32,
    /// Tag of the message that goes out, of a call that sends and receives; `None` if it was not told.
    pub send_tag: Option<i32>,
    /// Whether the latest call that told a window or a tag of what goes out told a window: `comm` is the window then, `dest` the target in it, `tag` the type of
    /// the lock and the first of `requests` the group.
    pub tells_window: bool,
    /// Number of requests.
    pub request_count: u32,
    /// Raw handles of the first of them.
    pub requests: [u64; OPEN_REQUESTS],
}

/// A block file in memory.
#[derive(Debug, Clone)]
pub struct BlockFile<'a> {
    info: BlockFileInfo,
    threads: Vec<ThreadBlocks<'a>>,
    bytes: FileBytes<'a>,
}

/// The blocks of one thread in order.
#[derive(Debug, Clone)]
pub struct ThreadBlocks<'a> {
    /// Number in the order of first MPI calls.
    pub number: u32,
    /// Thread ID of the operating system.
    pub tid: u64,
    blocks: Blocks<'a>,
}

/// The numbers of the blocks of which a part is in `data`, each once.
fn blocks_within(data: &[Range<usize>]) -> impl Iterator<Item = u32> {
    // Block 0 stands behind the header, which takes the room of one.
    let number = |block: usize| u32::try_from(block.saturating_sub(1)).unwrap_or(u32::MAX);
    let mut next = 0;
    data.iter().flat_map(move |part| {
        let from = number(part.start / BLOCK_SIZE).max(next);
        next = number(part.end.div_ceil(BLOCK_SIZE)).max(from);
        from..next
    })
}

/// Blocks whose headers are looked at before their memory is given back.
const HEADERS: usize = 16;

impl<'a> BlockFile<'a> {
    /// Reads the header and finds the blocks in `bytes`.
    ///
    /// # Errors
    /// If `bytes` is not a block file of this version.
    pub fn new(bytes: &'a [u8]) -> Result<BlockFile<'a>, BlockFileError> {
        let whole = 0..bytes.len();
        let contents = FileBytes {
            bytes,
            mapped: false,
        };
        BlockFile::read(contents, std::slice::from_ref(&whole))
    }

    /// [`BlockFile::new`] in little memory whatever the size of the file: the pages that a walk has left are given back. `data`
    /// are the parts of the file that hold something, ascending; the rest is holes and not walked, since a file of a few KB
    /// may claim to be of any length.
    ///
    /// # Errors
    /// If `bytes` is not a block file of this version.
    ///
    /// # Safety
    /// `bytes` must be a shared mapping of a file from its beginning, through which nobody writes.
    pub unsafe fn mapped(
        bytes: &'a [u8],
        data: &[Range<usize>],
    ) -> Result<BlockFile<'a>, BlockFileError> {
        let contents = FileBytes {
            bytes,
            mapped: true,
        };
        BlockFile::read(contents, data)
    }

    fn read(
        contents: FileBytes<'a>,
        data: &[Range<usize>],
    ) -> Result<BlockFile<'a>, BlockFileError> {
        let bytes = contents.bytes;
        let fail = |offset, what: &str| BlockFileError {
            offset,
            what: what.to_owned(),
        };
        if bytes.get(..8) != Some(&FILE_MAGIC[..]) {
            return Err(fail(0, "not a libtrace block file (magic LTRACE expected)"));
        }
        let word = |o| u32_at(bytes, o).ok_or_else(|| fail(o, "file ends inside its header"));
        let long = |o| u64_at(bytes, o).ok_or_else(|| fail(o, "file ends inside its header"));
        let version = word(at::F_VERSION)?;
        if !(OLDEST_VERSION..=VERSION).contains(&version) {
            return Err(fail(
                at::F_VERSION,
                &format!("version {version}, this program reads {OLDEST_VERSION} to {VERSION}"),
            ));
        }
        let info = BlockFileInfo {
            family: Family::from_u32(word(at::F_FAMILY)?)
                .ok_or_else(|| fail(at::F_FAMILY, "unknown ABI family (1 to 3 expected)"))?,
            table: long(at::F_TABLE)?,
            clock: match word(at::F_CLOCK)? {
                1 => Clock::Tsc,
                2 => Clock::Monotonic,
                _ => return Err(fail(at::F_CLOCK, "unknown clock (1 or 2 expected)")),
            },
            counter_bits: word(at::F_COUNTER_BITS)?.clamp(1, 63),
            pid: word(at::F_PID)?,
            rank: word(at::F_RANK)? as i32,
            size: word(at::F_SIZE)?,
            ended: word(at::F_ENDED)?,
            lost: long(at::F_LOST)?,
            run: long(at::F_RUN)?,
            dropped: long(at::F_DROPPED)?,
            lost_since: match (long(at::F_LOST_SINCE)?, long(at::F_LOST)?) {
                (0, 0) => None,
                (since, _) => Some(since),
            },
        };
        let mut by_thread: BTreeMap<u32, Vec<(u64, u32)>> = BTreeMap::new();
        let mut pinned = Vec::new();
        for number in blocks_within(data) {
            let Some(block) = contents.block(number) else {
                break;
            };
            if (number as usize + 1).is_multiple_of(HEADERS) {
                contents.leave((number as usize + 1) - HEADERS, HEADERS - 1);
            }
            match u32_at(block, 0) {
                Some(BLOCK_MAGIC) => {}
                Some(PINNED_MAGIC) => {
                    pinned.push(number);
                    for record in block_records(block) {
                        by_thread.entry(record.call as u32).or_default();
                    }
                    continue;
                }
                _ if block.get(..FILE_MAGIC.len()) == Some(&FILE_MAGIC[..]) => {
                    return Err(fail(
                        (number as usize + 1) * BLOCK_SIZE,
                        "the header of another block file (a block expected): files one behind the other are to be named one by one",
                    ));
                }
                _ => continue,
            }
            let thread = u32_at(block, at::B_THREAD).unwrap_or(0);
            let sequence = u64_at(block, at::B_SEQUENCE).unwrap_or(0);
            by_thread
                .entry(thread)
                .or_default()
                .push((sequence, number));
        }
        let pinned: Arc<[u32]> = pinned.into();
        let threads = by_thread
            .into_iter()
            .map(|(number, mut blocks)| {
                blocks.sort_by_key(|&(sequence, _)| sequence);
                // A block stands twice if the process died after writing it out and before using it again.
                blocks.dedup_by_key(|&mut (sequence, _)| sequence);
                ThreadBlocks {
                    number,
                    tid: blocks
                        .first()
                        .and_then(|&(_, b)| u64_at(contents.block(b)?, at::B_TID))
                        .unwrap_or(0),
                    blocks: Blocks {
                        bytes: contents,
                        front: Vec::new(),
                        pinned: pinned.clone(),
                        there: match pinned.len() {
                            0 => Arc::new([]),
                            _ => blocks.iter().map(|&(number, _)| number as u32).collect(),
                        },
                        numbers: blocks.iter().map(|&(_, b)| b).collect(),
                    },
                }
            })
            .collect();
        Ok(BlockFile {
            info,
            threads,
            bytes: contents,
        })
    }

    /// Content of the file's header.
    pub fn info(&self) -> BlockFileInfo {
        self.info
    }

    /// Says what MPI_Init would have told the process, had it returned: rank and size of MPI_COMM_WORLD, and identity of the run.
    pub fn set_rank(&mut self, rank: u32, size: u32, run: u64) {
        self.info.rank = i32::try_from(rank).unwrap_or(i32::MAX);
        self.info.size = size;
        self.info.run = run;
    }

    /// The threads by number.
    pub fn threads(&self) -> &[ThreadBlocks<'a>] {
        &self.threads
    }

    /// A number that follows from all that the file tells: its header, and the blocks of all threads, those that were added among them.
    /// Reads everything.
    pub fn content_hash(&self) -> u64 {
        let info = self.info;
        let header = [
            info.table,
            info.run,
            info.lost,
            info.dropped,
            info.lost_since.unwrap_or(u64::MAX),
            u64::from(info.pid),
            u64::from(info.size),
            u64::from(info.ended),
            u64::from(info.counter_bits),
            info.rank as u64,
            info.family as u64,
            info.clock as u64,
        ];
        let mut hash = header.into_iter().fold(0, add_word);
        for thread in &self.threads {
            hash = add_word(hash, u64::from(thread.number));
            let blocks = &thread.blocks;
            let count = blocks.front.len() + blocks.pinned.len() + blocks.numbers.len();
            for i in 0..count {
                let block = blocks.get(i).unwrap_or_default();
                hash = add_word(hash, block.len() as u64);
                let (words, rest) = block.as_chunks();
                let words = words.iter().map(|word| u64::from_le_bytes(*word));
                hash = words.fold(hash, add_word);
                hash = rest
                    .iter()
                    .fold(hash, |hash, &byte| add_word(hash, byte.into()));
                blocks.leave(i);
            }
        }
        hash
    }

    /// Damage of the file: missing blocks, and records that cannot be read within what the blocks say is
    /// committed. Reads everything.
    pub fn damage(&self) -> Vec<BlockFileError> {
        let mut damage = Vec::new();
        // Whatever the header says of room: a process that is killed may not have made it yet.
        let length = self.bytes.bytes.len();
        let tail = length - length % BLOCK_SIZE;
        let is_block = |magic| magic == BLOCK_MAGIC || magic == PINNED_MAGIC;
        if tail > 0 && u32_at(self.bytes.bytes, tail).is_some_and(is_block) {
            damage.push(BlockFileError {
                offset: length,
                what: format!("the file ends within a block, which begins at byte {tail}"),
            });
        }
        if self.threads.is_empty() && self.info.rank >= 0 {
            damage.push(BlockFileError {
                offset: BLOCK_SIZE,
                what: "no block of any thread, although MPI_Init had returned".to_owned(),
            });
        }
        for thread in &self.threads {
            let mut expected = 0;
            for (i, &number) in thread.blocks.numbers.iter().enumerate() {
                let Some(block) = self.bytes.block(number) else {
                    continue;
                };
                let offset = (number as usize + 1) * BLOCK_SIZE;
                let sequence = u64_at(block, at::B_SEQUENCE).unwrap_or(0);
                if sequence != expected && thread.blocks.pinned.is_empty() {
                    damage.push(BlockFileError {
                        offset,
                        what: format!(
                            "block {sequence} of thread {} stands here, block {expected} was expected",
                            thread.number
                        ),
                    });
                }
                expected = sequence.saturating_add(1);
                let committed = u32_at(block, at::B_COMMITTED).unwrap_or(0) as usize;
                let mut records = block_records(block);
                records.by_ref().for_each(drop);
                if records.position() != committed {
                    damage.push(BlockFileError {
                        offset: offset + BLOCK_HEADER + records.position(),
                        what: format!(
                            "no record where one was expected, {} bytes of the block are left",
                            committed.saturating_sub(records.position())
                        ),
                    });
                }
                let before = thread.blocks.front.len() + thread.blocks.pinned.len();
                thread.blocks.leave(before + i);
            }
        }
        damage
    }

    /// Leaves out what stands behind a gap in a thread's blocks: of a process that goes on writing while its file is read, what is
    /// left is what each thread had done at some moment.
    pub fn cut_at_gaps(&mut self) {
        let bytes = self.bytes;
        let sequence = |number: u32| {
            let block = bytes.block(number);
            block.and_then(|block| u64_at(block, at::B_SEQUENCE))
        };
        for thread in &mut self.threads {
            let blocks = &mut thread.blocks;
            // Gaps are expected if the oldest blocks are given up for newer ones.
            if !blocks.pinned.is_empty() {
                continue;
            }
            let gap = blocks.numbers.windows(2).position(|pair| {
                sequence(pair[1]) != sequence(pair[0]).and_then(|sequence| sequence.checked_add(1))
            });
            if let Some(gap) = gap {
                blocks.numbers = blocks.numbers[..=gap].into();
            }
        }
    }

    /// Adds definitions to those that the file has, in front of its records. `block` is what [`definitions_block`](crate::definitions_block) gave.
    pub fn add(&mut self, block: &'a [u8]) {
        if let Some(thread) = self.threads.first_mut() {
            thread.blocks.front.insert(0, block);
        }
    }
}

/// Mixes a word into a hash that resists chance, not people.
#[inline]
fn add_word(hash: u64, word: u64) -> u64 {
    let mixed = (hash ^ word).wrapping_mul(0x9E37_79B1_85EB_CA87);
    mixed.rotate_left(29)
}

impl<'a> ThreadBlocks<'a> {
    /// The thread's records in order of completion.
    pub fn records(&self) -> ThreadRecords<'a> {
        ThreadRecords::new(self.blocks.clone(), self.number)
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.front.len() + self.blocks.numbers.len()
    }

    /// Arguments of the running call, if its function tells them.
    pub fn open_arguments(&self) -> Option<OpenArguments> {
        let last = self.blocks.bytes.block(*self.blocks.numbers.last()?)?;
        let int = |at| Some(u32_at(last, at)? as i32);
        let told = u32_at(last, at::B_OPEN_TELLS)?;
        let mut requests = [0; OPEN_REQUESTS];
        for (nth, request) in requests.iter_mut().enumerate() {
            *request = u64_at(last, at::B_OPEN_REQUESTS + 8 * nth)?;
        }
        Some(OpenArguments {
            comm: u64_at(last, at::B_OPEN_COMM)?,
            dest: int(at::B_OPEN_DEST)?,
            source: int(at::B_OPEN_SOURCE)?,
            tag: int(at::B_OPEN_TAG)?,
            send_tag: match told {
                tells::SEND_TAG => int(at::B_OPEN_SEND_TAG),
                _ => None,
            },
            tells_window: told == tells::WINDOW,
            request_count: u32_at(last, at::B_OPEN_REQUEST_COUNT)?,
            requests,
        })
    }

    /// The call in which the thread was when the process died.
    pub fn open_call(&self) -> Option<OpenCall> {
        let last = self.blocks.bytes.block(*self.blocks.numbers.last()?)?;
        let function = u32_at(last, at::B_OPEN_FUNCTION)?.checked_sub(1)?;
        let open = OpenCall {
            function: u16::try_from(function).ok()?,
            start: u64_at(last, at::B_OPEN_START)?,
            call: u64_at(last, at::B_OPEN_CALL)?,
        };
        // The process may have died after the call's record was complete, and before the header said so.
        let recorded = block_records(last)
            .filter(Record::is_call)
            .last()
            .is_some_and(|r| (r.function, r.call) == (open.function, open.call));
        (!recorded).then_some(open)
    }
}
