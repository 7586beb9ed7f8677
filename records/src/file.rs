//! Reading a block file: header, threads, and the records of each thread in order. The file may be that of a killed process:
//! only what blocks say is committed is taken, and nothing in it is trusted.

use crate::define::Definition;
use crate::layout::{
    BLOCK_HEADER, BLOCK_MAGIC, BLOCK_SIZE, Clock, FILE_MAGIC, Family, VERSION, at,
};
use crate::record::{self, Base, Record, Records, u32_at, u64_at};
use crate::{args::Bytes, define};
use std::collections::BTreeMap;
use std::fmt;

/// Why a file is not a readable block file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Byte offset in the file.
    pub offset: usize,
    /// What stands there and what was expected.
    pub what: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.what)
    }
}

impl std::error::Error for Error {}

/// What the header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
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
    /// How the run ended (see `layout::FileHeader::ended`).
    pub ended: u32,
    /// Records that were not kept.
    pub lost: u64,
    /// Identity of the run.
    pub run: u64,
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

/// A block file in memory.
#[derive(Debug, Clone)]
pub struct File<'a> {
    info: Info,
    threads: Vec<Thread<'a>>,
    bytes: &'a [u8],
}

/// The blocks of one thread in order.
#[derive(Debug, Clone)]
pub struct Thread<'a> {
    /// Number in the order of first MPI calls.
    pub number: u32,
    /// Thread ID of the operating system.
    pub tid: u64,
    blocks: Vec<&'a [u8]>,
}

impl<'a> File<'a> {
    /// Reads the header and finds the blocks in `bytes`.
    ///
    /// # Errors
    /// If `bytes` is not a block file of this version.
    pub fn new(bytes: &'a [u8]) -> Result<File<'a>, Error> {
        let fail = |offset, what: &str| Error {
            offset,
            what: what.to_owned(),
        };
        if bytes.get(..8) != Some(&FILE_MAGIC[..]) {
            return Err(fail(0, "not a libtrace block file (magic LTRACE expected)"));
        }
        let word = |o| u32_at(bytes, o).ok_or_else(|| fail(o, "file ends inside its header"));
        let long = |o| u64_at(bytes, o).ok_or_else(|| fail(o, "file ends inside its header"));
        let version = word(at::F_VERSION)?;
        if version != VERSION {
            return Err(fail(
                at::F_VERSION,
                &format!("version {version}, this program reads version {VERSION}"),
            ));
        }
        let info = Info {
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
        };
        let mut by_thread: BTreeMap<u32, Vec<(u64, &'a [u8])>> = BTreeMap::new();
        let body = bytes.get(BLOCK_SIZE..).unwrap_or_default();
        for block in body.chunks_exact(BLOCK_SIZE) {
            if u32_at(block, 0) != Some(BLOCK_MAGIC) {
                continue;
            }
            let thread = u32_at(block, at::B_THREAD).unwrap_or(0);
            let sequence = u64_at(block, at::B_SEQUENCE).unwrap_or(0);
            by_thread.entry(thread).or_default().push((sequence, block));
        }
        let threads = by_thread
            .into_iter()
            .map(|(number, mut blocks)| {
                blocks.sort_by_key(|&(sequence, _)| sequence);
                // A block stands twice if the process died after writing it out and before using it again.
                blocks.dedup_by_key(|&mut (sequence, _)| sequence);
                Thread {
                    number,
                    tid: blocks
                        .first()
                        .and_then(|(_, b)| u64_at(b, at::B_TID))
                        .unwrap_or(0),
                    blocks: blocks.into_iter().map(|(_, b)| b).collect(),
                }
            })
            .collect();
        Ok(File {
            info,
            threads,
            bytes,
        })
    }

    /// What the header says.
    pub fn info(&self) -> Info {
        self.info
    }

    /// The threads by number.
    pub fn threads(&self) -> &[Thread<'a>] {
        &self.threads
    }

    /// What should be in the file and is not, or cannot be read: missing blocks, and records within what blocks say is
    /// committed. Reads everything.
    pub fn damage(&self) -> Vec<Error> {
        let mut damage = Vec::new();
        for thread in &self.threads {
            let mut expected = 0;
            for block in &thread.blocks {
                let offset = (block.as_ptr() as usize).wrapping_sub(self.bytes.as_ptr() as usize);
                let sequence = u64_at(block, at::B_SEQUENCE).unwrap_or(0);
                if sequence != expected {
                    damage.push(Error {
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
                    damage.push(Error {
                        offset: offset + BLOCK_HEADER + records.position(),
                        what: format!(
                            "no record where one was expected, {} bytes of the block are left",
                            committed.saturating_sub(records.position())
                        ),
                    });
                }
            }
        }
        damage
    }

    /// Adds definitions to those that the file has, in front of its records. `block` is what [`block_of`] gave.
    pub fn add(&mut self, block: &'a [u8]) {
        if let Some(thread) = self.threads.first_mut() {
            thread.blocks.insert(0, block);
        }
    }
}

/// A block of these definitions, as a thread of the recorder would have written it. Those for which there is no room are left
/// out.
pub fn block_of(definitions: &[Definition]) -> Vec<u8> {
    let mut block = vec![0; BLOCK_HEADER];
    for definition in definitions {
        let payload = definition.encode();
        let size = (record::HEAD + payload.len()).next_multiple_of(4);
        let Ok(units) = u16::try_from(size / 4) else {
            continue;
        };
        if block.len() + size > BLOCK_SIZE {
            continue;
        }
        let end = block.len() + size;
        block.extend_from_slice(&definition.number().to_ne_bytes());
        block.extend_from_slice(&units.to_ne_bytes());
        block.extend_from_slice(&[0; record::HEAD - 4]);
        block.extend_from_slice(&payload);
        block.resize(end, 0);
    }
    let committed = (block.len() - BLOCK_HEADER) as u32;
    block.resize(BLOCK_SIZE, 0);
    block[..4].copy_from_slice(&BLOCK_MAGIC.to_ne_bytes());
    block[at::B_COMMITTED..at::B_COMMITTED + 4].copy_from_slice(&committed.to_ne_bytes());
    block
}

fn block_records(block: &[u8]) -> Records<'_> {
    let committed = u32_at(block, at::B_COMMITTED).unwrap_or(0) as usize;
    let body = block.get(BLOCK_HEADER..).unwrap_or_default();
    Records::new(
        &body[..committed.min(body.len())],
        Base {
            time: u64_at(block, at::B_TIME_BASE).unwrap_or(0),
            call: u64_at(block, at::B_CALL_BASE).unwrap_or(0),
        },
    )
}

impl<'a> Thread<'a> {
    /// The thread's records in order of completion.
    pub fn records(&self) -> ThreadRecords<'a> {
        ThreadRecords {
            blocks: self.blocks.clone(),
            next: 0,
            records: None,
            whole: Vec::new(),
        }
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The call in which the thread was when the process died.
    pub fn open_call(&self) -> Option<OpenCall> {
        let last = self.blocks.last()?;
        let function = u32_at(last, at::B_OPEN_FUNCTION)?.checked_sub(1)?;
        Some(OpenCall {
            function: u16::try_from(function).ok()?,
            start: u64_at(last, at::B_OPEN_START)?,
            call: u64_at(last, at::B_OPEN_CALL)?,
        })
    }
}

/// The record whose fragments are together in `bytes`: u16 function and flags, i32 return code, arguments. Times and CallID
/// are those of the fragments.
fn whole<'b>(bytes: &'b [u8], head: Record<'_>) -> Option<Record<'b>> {
    let b = &mut Bytes::new(bytes);
    let word = b.u16()?;
    let code = b.i32()?;
    Some(Record {
        function: word & record::FUNCTION,
        in_place: word & record::IN_PLACE != 0,
        start: head.start,
        duration: head.duration,
        call: head.call,
        code,
        cpu: head.cpu,
        payload: b.rest(),
    })
}

/// Walks over a thread's records. A lending iterator, because a record larger than a block is put together in a buffer.
#[derive(Debug, Clone)]
pub struct ThreadRecords<'a> {
    blocks: Vec<&'a [u8]>,
    next: usize,
    records: Option<Records<'a>>,
    whole: Vec<u8>,
}

impl ThreadRecords<'_> {
    /// The next record.
    #[allow(clippy::should_implement_trait, reason = "it lends from its buffer")]
    pub fn next(&mut self) -> Option<Record<'_>> {
        loop {
            let Some(records) = &mut self.records else {
                self.records = Some(block_records(self.blocks.get(self.next)?));
                self.next += 1;
                continue;
            };
            match records.next() {
                None => self.records = None,
                Some(r) if r.function == define::FRAGMENT => {
                    let head = Record { payload: &[], ..r };
                    if self.add_fragment(r.payload).is_some() {
                        return whole(&self.whole, head);
                    }
                }
                Some(r) => return Some(r),
            }
        }
    }

    /// Adds a fragment; `Some` when the record is whole.
    fn add_fragment(&mut self, payload: &[u8]) -> Option<()> {
        let b = &mut Bytes::new(payload);
        let (total, offset) = (b.u32()? as usize, b.u32()? as usize);
        if offset == 0 {
            self.whole.clear();
        }
        if offset != self.whole.len() {
            return None;
        }
        let part = b.rest();
        self.whole
            .extend_from_slice(&part[..part.len().min(total - offset.min(total))]);
        (self.whole.len() == total).then_some(())
    }
}
