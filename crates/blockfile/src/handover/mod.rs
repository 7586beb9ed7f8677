//! The hand-over of blocks: how a thread gets an empty block for itself, makes what it writes there visible, and gives the
//! block back when it is full. No lock, but for the rare moment when there are no empty blocks left and new ones are made.
//!
//! This is all there is to synchronise in the recorder, and it stands apart from files and mappings so that `loom` can go
//! through every order in which threads may run ([`tests/handover.rs`](../../tests/handover.rs)): the recorder brings its
//! block file as the [`BlockSpace`], the test one of plain memory. With `--cfg loom` the queues and atomics are loom's.
//!
//! A few mapped blocks go round: a thread that needs one takes an empty one, else a full one after having moved its contents
//! to where they stay. Writing 64 KB behind the others in the file costs a fifth of what mapping 64 KB of fresh pages
//! does, and the blocks that are written to stay in the cache.
//!
//! Rules that hold, and that the test checks:
//! - a block is held by one thread at a time, from [`BlockPool::take`] to [`BlockPool::put_full`];
//! - what a holder wrote has been kept, whole and once, before the next one gets the block;
//! - a reader that sees a length in [`Published`] sees all that was written before it, whichever thread holds the block.

#[cfg(loom)]
mod model;
#[cfg(not(loom))]
mod queue;

#[cfg(loom)]
use {
    loom::sync::atomic::{AtomicU32, fence},
    model::{HandoverQueue, Mutex},
};
#[cfg(not(loom))]
use {
    parking_lot::Mutex,
    queue::HandoverQueue,
    std::sync::atomic::{AtomicU32, fence},
};

use std::io;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A number that one thread stores and any other may read: who reads it sees all that was written before it was stored.
#[repr(transparent)]
#[derive(Debug, Default)]
pub struct Published(AtomicU32);

impl Published {
    /// A number with a first value that nobody has seen yet.
    pub fn new(value: u32) -> Published {
        Published(AtomicU32::new(value))
    }

    /// Publishes what this thread has written so far, under this number.
    #[inline(always)]
    pub fn publish(&self, value: u32) {
        self.0.store(value, Release);
    }

    /// Takes back what was published, before what it stands for is written over: as long as the number is there, that is
    /// whole, also in the file of a process that was killed in between.
    pub fn withdraw(&self) {
        self.0.store(0, Relaxed);
        // A store with Release would let the writes behind it be done before it.
        fence(Release);
    }

    /// The number published last; what was written before it may be read.
    #[inline(always)]
    pub fn seen(&self) -> u32 {
        self.0.load(Acquire)
    }
}

/// Storage of the blocks: makes them, and takes their contents.
pub trait BlockSpace {
    /// A block, as its holder sees it.
    type Block;

    /// Makes some new blocks and gives them to `add`. Called by one thread at a time.
    ///
    /// # Errors
    /// When there is no room for them; then none were made.
    fn make(&self, add: &mut dyn FnMut(Self::Block)) -> io::Result<()>;

    /// Moves the contents of a full block to where they stay. Several threads may do this with different blocks.
    ///
    /// # Errors
    /// When there is no room for them; they then stay in the block.
    fn keep(&self, full: &Self::Block) -> io::Result<()>;
}

/// The blocks that nobody holds.
pub struct BlockPool<S: BlockSpace> {
    empty: HandoverQueue<S::Block>,
    full: HandoverQueue<S::Block>,
    growth: Mutex<()>,
}

impl<S: BlockSpace> Default for BlockPool<S> {
    fn default() -> Self {
        BlockPool {
            empty: HandoverQueue::new(),
            full: HandoverQueue::new(),
            growth: Mutex::new(()),
        }
    }
}

impl<S: BlockSpace> BlockPool<S> {
    /// A block to write to, the caller's own until it gives it back; `None` when `space` has no room.
    pub fn take(&self, space: &S) -> Option<S::Block> {
        loop {
            if let Some(block) = self.empty.pop() {
                return Some(block);
            }
            if let Some(block) = self.full.pop() {
                if space.keep(&block).is_ok() {
                    return Some(block);
                }
                // Its contents are safe where they are, as long as nobody gets the block.
                self.full.push(block);
                return None;
            }
            // All blocks are held: one more for each thread is needed.
            let _growing = self.growth.lock();
            if !self.empty.is_empty() {
                // Another thread has made some while this one waited.
                continue;
            }
            self.add(space).ok()?;
        }
    }

    /// Takes back a block that is full. The caller must not touch it again.
    pub fn put_full(&self, block: S::Block) {
        self.full.push(block);
    }

    /// Makes the first blocks.
    ///
    /// # Errors
    /// When `space` has no room for them.
    pub fn grow(&self, space: &S) -> io::Result<()> {
        let _growing = self.growth.lock();
        self.add(space)
    }

    fn add(&self, space: &S) -> io::Result<()> {
        space.make(&mut |block| self.empty.push(block))
    }
}
