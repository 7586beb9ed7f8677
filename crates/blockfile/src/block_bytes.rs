//! The bytes of a block file, and the blocks of a thread in them.

use crate::layout::{BLOCK_HEADER, BLOCK_SIZE, at};
use crate::record::{RecordBase, Records, u32_at, u64_at};
use std::sync::Arc;

/// The blocks of a thread. Their numbers in the file take 4 bytes for each 64 KB, and all walks share them.
#[derive(Debug, Clone)]
pub struct Blocks<'a> {
    pub bytes: FileBytes<'a>,
    /// Blocks of definitions that are not in the file, in front of the others.
    pub front: Vec<&'a [u8]>,
    /// Blocks of definitions that were kept when the blocks were used again in which they stood.
    pub pinned: Arc<[u32]>,
    pub numbers: Arc<[u32]>,
    /// Of the blocks that are there, the low halves of their numbers in the thread, ascending; empty without pinned ones.
    pub there: Arc<[u32]>,
}

/// Blocks whose memory a walk gives back together: neighbours in the file.
const LEFT_TOGETHER: u32 = 16;

impl<'a> Blocks<'a> {
    /// Number in the file of block `i`.
    pub fn number(&self, i: usize) -> Option<u32> {
        let i = i.checked_sub(self.front.len())?;
        let pinned = self.pinned.get(i);
        pinned
            .or_else(|| self.numbers.get(i - self.pinned.len()))
            .copied()
    }

    pub fn get(&self, i: usize) -> Option<&'a [u8]> {
        let front = self.front.get(i).copied();
        front.or_else(|| self.bytes.block(self.number(i)?))
    }

    pub fn is_pinned(&self, i: usize) -> bool {
        let i = i.checked_sub(self.front.len());
        i.is_some_and(|i| i < self.pinned.len())
    }

    /// A walk goes on behind block `i`. Memory is given back for some blocks at once, as the kernel must tell the other processors of it
    /// each time.
    pub fn leave(&self, i: usize) {
        let group = |i: usize| Some(self.number(i)? / LEFT_TOGETHER);
        if let Some(left) = group(i).filter(|left| group(i + 1) != Some(*left)) {
            let first = (left * LEFT_TOGETHER) as usize;
            self.bytes.leave(first, LEFT_TOGETHER as usize);
        }
    }
}

/// The bytes of a file.
#[derive(Debug, Clone, Copy)]
pub struct FileBytes<'a> {
    pub bytes: &'a [u8],
    /// Whether they are a shared mapping of the file.
    pub mapped: bool,
}

impl<'a> FileBytes<'a> {
    /// Block `number` of the file.
    pub fn block(self, number: u32) -> Option<&'a [u8]> {
        let start = (number as usize).checked_add(1)?.checked_mul(BLOCK_SIZE)?;
        self.bytes.get(start..start.checked_add(BLOCK_SIZE)?)
    }

    /// Gives back the memory of `n` blocks from `number` on, and of the one before them: of that the kernel may have mapped
    /// pages again, as it maps the surroundings of what is touched.
    pub fn leave(self, number: usize, n: usize) {
        let start = number * BLOCK_SIZE;
        let end = ((number + 1 + n) * BLOCK_SIZE).min(self.bytes.len());
        let Some(part) = self.bytes.get(start..end).filter(|_| self.mapped) else {
            return;
        };
        // Targets without an operating system have no mappings.
        #[cfg(not(unix))]
        let _ = part;
        // SAFETY: `mapped` is set where the bytes are a shared mapping that is only read: what is given back comes from the
        // file again, as it was.
        #[cfg(unix)]
        unsafe {
            libc::madvise(
                part.as_ptr().cast_mut().cast(),
                part.len(),
                libc::MADV_DONTNEED,
            )
        };
    }
}

/// The records that a block says are committed.
pub fn block_records(block: &[u8]) -> Records<'_> {
    let committed = u32_at(block, at::B_COMMITTED).unwrap_or(0) as usize;
    let body = block.get(BLOCK_HEADER..).unwrap_or_default();
    Records::new(
        &body[..committed.min(body.len())],
        RecordBase {
            time: u64_at(block, at::B_TIME_BASE).unwrap_or(0),
            call: u64_at(block, at::B_CALL_BASE).unwrap_or(0),
        },
    )
}
