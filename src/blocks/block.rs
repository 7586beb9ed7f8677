//! One block: an address in a mapping of the block file, or of private memory.

use blockfile::layout::{BLOCK_HEADER, BLOCK_SIZE, BlockHeader};
use std::ptr::NonNull;

/// A mapped block. Who holds it may write to it; nobody else does.
#[derive(Clone, Copy)]
pub struct Block {
    header: NonNull<BlockHeader>,
}

// SAFETY: a Block is an address in a mapping that any thread may use; the queues hand it to one thread at a time.
unsafe impl Send for Block {}

impl Block {
    /// A block whose header is here: of a file, or of private memory.
    pub fn at(header: NonNull<BlockHeader>) -> Block {
        Block { header }
    }

    /// Address of the block.
    pub fn address(self) -> NonNull<u8> {
        self.header.cast()
    }

    /// Address of the block's header.
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
