//! The block file: one header page, then blocks of 64 KB. Everything is in the machine's byte order: the file is read where
//! it was written, on the same node.
//!
//! ```text
//! 0        FileHeader, zero up to 64 KB
//! 64 KB    block 0: BlockHeader (128 bytes), records
//! 128 KB   block 1
//! ```
//!
//! A block belongs to one thread, which alone writes it and publishes what it wrote by storing `committed` (see
//! [`crate::handover`]). Nothing else in the file changes behind a reader's back.

use crate::handover::Published;
use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Bytes of a block, header included; also the offset of block 0 in the file.
pub const BLOCK_SIZE: usize = 64 * 1024;
/// Bytes of a block's header.
pub const BLOCK_HEADER: usize = size_of::<BlockHeader>();
/// First bytes of a block file.
pub const FILE_MAGIC: [u8; 8] = *b"LTRACE\0\x01";
/// First word of a block in use.
pub const BLOCK_MAGIC: u32 = 0x4B4C_4254;
/// First word of a block of definitions that are kept when blocks are used again (see [`crate::file`]): each record has the
/// number of its thread in place of the CallID, and in place of the duration the low half of the number of the thread's block
/// in which it stands, too.
pub const PINNED_MAGIC: u32 = 0x4E50_4254;
/// Version of this layout and of the record encoding.
pub const VERSION: u32 = 3;
/// Oldest version that is read. It is as [`VERSION`], without records in short form ([`wrappers::ShortForm`]), which came with version 2, and
/// without questions for a file's attributes ([`crate::operation::STAT`]), which came with version 3.
pub const OLDEST_VERSION: u32 = 1;

/// ABI family of the MPI library. It decides the width of handles in records.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// MPICH and its relatives: handles are 32-bit integers, `MPI_File` a pointer.
    Mpich = 1,
    /// Open MPI: handles are pointers.
    OpenMpi = 2,
    /// The ABI of the MPI 5 standard: pointer-sized, predefined ones small constants.
    Standard = 3,
}

impl Family {
    /// The family with this number in a file header.
    pub fn from_u32(n: u32) -> Option<Family> {
        match n {
            1 => Some(Family::Mpich),
            2 => Some(Family::OpenMpi),
            3 => Some(Family::Standard),
            _ => None,
        }
    }

    /// Bytes of a handle in a record. Pointers take 6: user addresses have 47 bits, on aarch64 48.
    pub const fn handle_bytes(self) -> usize {
        match self {
            Family::Mpich => 4,
            Family::OpenMpi | Family::Standard => 6,
        }
    }
}

/// Bytes of an `MPI_File` (and of an MPI_T handle) in a record, a pointer in every family.
pub const POINTER_BYTES: usize = 6;

/// Source of the times of a file.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Raw ticks of the processor's counter (on x86-64 the time-stamp counter, on aarch64 `cntvct_el0`); `define::CLOCK` records give their rate.
    Tsc = 1,
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    Monotonic = 2,
}

/// Header of a block file. Fields are set before the first block is used, except where said.
#[repr(C)]
#[derive(Debug)]
pub struct FileHeader {
    /// [`FILE_MAGIC`].
    pub magic: [u8; 8],
    /// [`VERSION`].
    pub version: u32,
    /// [`Family`]. Before there is an MPI library, that of MPICH.
    pub family: AtomicU32,
    /// Fingerprint of the function table that the function numbers refer to.
    pub table: u64,
    /// [`Clock`].
    pub clock: u32,
    /// Bits of a CallID that count calls (the others are the rank). Fewer than the settings leave, if the number of ranks wants it.
    pub counter_bits: AtomicU32,
    /// Process ID.
    pub pid: u32,
    /// Rank in MPI_COMM_WORLD; −1 until MPI_Init has returned.
    pub rank: AtomicU32,
    /// Size of MPI_COMM_WORLD; 0 until MPI_Init has returned.
    pub size: AtomicU32,
    /// How the process ended, a value of [`ended`]; 0 as long as it has not.
    pub ended: AtomicU32,
    /// Number of blocks that the file has room for.
    pub blocks: AtomicU64,
    /// Records that could not be kept (disk full, limit reached).
    pub lost: AtomicU64,
    /// Identity of the run, equal on all ranks; 0 until MPI_Init has returned.
    pub run: AtomicU64,
    /// Calls that were recorded and given up for newer ones.
    pub dropped: AtomicU64,
    /// Time from which on records may be missing that could not be kept, ticks; 0 where none is missing, and in files of recorders
    /// that did not tell it.
    pub lost_since: AtomicU64,
}

/// How a process ended: values of [`FileHeader::ended`].
pub mod ended {
    /// The process reached MPI_Finalize, or a server closed its file.
    pub const FINALIZED: u32 = 1;
    /// The process exited without MPI_Finalize.
    pub const EXITED: u32 = 2;
    /// The process called MPI_Abort.
    pub const ABORTED: u32 = 3;
}

/// Header of a block.
#[repr(C)]
#[derive(Debug)]
pub struct BlockHeader {
    /// [`BLOCK_MAGIC`] once the block is in use.
    pub magic: Published,
    /// Number of the thread that writes it, in the order of first MPI calls.
    pub thread: u32,
    /// Number of this block among the blocks of its thread.
    pub sequence: u64,
    /// Bytes of records that are complete, from the end of this header on.
    pub committed: Published,
    /// Function of the call that is running now, plus 1; 0 when none is.
    pub open_function: AtomicU32,
    /// Time at which the running call began, ticks.
    pub open_start: AtomicU64,
    /// Counter field of the running call's CallID.
    pub open_call: AtomicU64,
    /// Time that the first records of the block count from, ticks.
    pub time_base: u64,
    /// Counter that the first records of the block count CallIDs from.
    pub call_base: u64,
    /// Thread ID of the operating system.
    pub tid: u64,
    /// Calls recorded in it, where blocks are used again; 0 while it is being filled.
    pub calls: AtomicU64,
    /// Communicator of the running call, as a raw handle, where the function has one and may wait, the file or window on which all its ranks make the call, or the
    /// window on which it waits for others; 0 where nothing was told. This and the fields below are set before `open_function`, and only by functions of
    /// which [`wrappers::Function::waits`] or [`wrappers::Function::waits_on_window`] says so; other calls leave what was there.
    pub open_comm: AtomicU64,
    /// Receiver of the message of the running call, the root of a collective call, or the target in a window; an i32.
    pub open_dest: AtomicU32,
    /// Sender of the message of the running call; an i32.
    pub open_source: AtomicU32,
    /// Tag of the message of the running call, of one that sends and receives that of the receive; or the type of the lock of a window. An i32.
    pub open_tag: AtomicU32,
    /// Number of requests that the running call is to complete; 0 where nothing was told.
    pub open_request_count: AtomicU32,
    /// Raw handles of the first of these requests. Of a call that waits on a window, the first is the group that it names.
    pub open_requests: [AtomicU64; OPEN_REQUESTS],
    /// What the running call has told that files of older recorders do not have: one of [`tells`], or 0.
    pub open_tells: AtomicU32,
    /// Tag of the message that goes out, of a running call that sends and receives; an i32.
    pub open_send_tag: AtomicU32,
}

/// What a running call of functions that tell more than a communicator has told, for [`BlockHeader::open_tells`].
pub mod tells {
    /// The tag of the message that goes out, of a call that sends and receives.
    pub const SEND_TAG: u32 = 1;
    /// The window on which the call waits for others, with target, type of lock and group ([`wrappers::Function::waits_on_window`]).
    pub const WINDOW: u32 = 2;
}

/// Requests of a running call of which the header of a block has the handles.
pub const OPEN_REQUESTS: usize = 3;

// loom's atomics have no place in a file.
#[cfg(not(loom))]
const _: () = assert!(BLOCK_HEADER == 128 && size_of::<FileHeader>() <= BLOCK_SIZE);

/// Offsets that readers need, in bytes from the start of the header.
#[allow(missing_docs, reason = "named after the fields")]
pub mod at {
    use super::*;

    pub const F_VERSION: usize = offset_of!(FileHeader, version);
    pub const F_FAMILY: usize = offset_of!(FileHeader, family);
    pub const F_TABLE: usize = offset_of!(FileHeader, table);
    pub const F_CLOCK: usize = offset_of!(FileHeader, clock);
    pub const F_COUNTER_BITS: usize = offset_of!(FileHeader, counter_bits);
    pub const F_PID: usize = offset_of!(FileHeader, pid);
    pub const F_RANK: usize = offset_of!(FileHeader, rank);
    pub const F_SIZE: usize = offset_of!(FileHeader, size);
    pub const F_ENDED: usize = offset_of!(FileHeader, ended);
    pub const F_LOST: usize = offset_of!(FileHeader, lost);
    pub const F_RUN: usize = offset_of!(FileHeader, run);
    pub const F_DROPPED: usize = offset_of!(FileHeader, dropped);
    pub const F_LOST_SINCE: usize = offset_of!(FileHeader, lost_since);
    pub const B_THREAD: usize = offset_of!(BlockHeader, thread);
    pub const B_SEQUENCE: usize = offset_of!(BlockHeader, sequence);
    pub const B_COMMITTED: usize = offset_of!(BlockHeader, committed);
    pub const B_OPEN_FUNCTION: usize = offset_of!(BlockHeader, open_function);
    pub const B_OPEN_START: usize = offset_of!(BlockHeader, open_start);
    pub const B_OPEN_CALL: usize = offset_of!(BlockHeader, open_call);
    pub const B_OPEN_COMM: usize = offset_of!(BlockHeader, open_comm);
    pub const B_OPEN_DEST: usize = offset_of!(BlockHeader, open_dest);
    pub const B_OPEN_SOURCE: usize = offset_of!(BlockHeader, open_source);
    pub const B_OPEN_TAG: usize = offset_of!(BlockHeader, open_tag);
    pub const B_OPEN_TELLS: usize = offset_of!(BlockHeader, open_tells);
    pub const B_OPEN_SEND_TAG: usize = offset_of!(BlockHeader, open_send_tag);
    pub const B_OPEN_REQUEST_COUNT: usize = offset_of!(BlockHeader, open_request_count);
    pub const B_OPEN_REQUESTS: usize = offset_of!(BlockHeader, open_requests);
    pub const B_TIME_BASE: usize = offset_of!(BlockHeader, time_base);
    pub const B_CALL_BASE: usize = offset_of!(BlockHeader, call_base);
    pub const B_TID: usize = offset_of!(BlockHeader, tid);
    pub const B_CALLS: usize = offset_of!(BlockHeader, calls);
}
