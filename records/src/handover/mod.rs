//! The hand-over of blocks: how a thread gets an empty block for itself, makes what it writes there visible, and gives the
//! block back when it is full. No lock, but for the rare moment when there are no empty blocks left and new ones are made.
//!
//! This is all there is to synchronise in the recorder, and it stands apart from files and mappings so that `loom` can go
//! through every order in which threads may run ([`tests/handover.rs`](../../tests/handover.rs)): the recorder brings its
//! block file as the [`Space`], the test one of plain memory. With `--cfg loom` the queues and atomics are loom's.
//!
//! Rules that hold, and that the test checks:
//! - a block is held by one thread at a time, from [`Pool::take`] to [`Pool::put_full`], and goes through that once;
//! - a reader that sees a length in [`Published`] sees all that was written before it, whichever thread holds the block;
//! - a chunk of blocks is given up once, when all its blocks have come back, and after the last store into any of them.

#[cfg(loom)]
mod model;

#[cfg(not(loom))]
use {
    crossbeam_queue::SegQueue as Queue,
    parking_lot::Mutex,
    std::sync::atomic::{AtomicBool, AtomicU32},
};
#[cfg(loom)]
use {
    loom::sync::atomic::{AtomicBool, AtomicU32},
    model::{Mutex, Queue},
};

use std::io;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A number that one thread stores and any other may read: who reads it sees all that was written before it was stored.
#[repr(transparent)]
#[derive(Debug, Default)]
pub struct Published(AtomicU32);

impl Published {
    /// With a first value that nobody has seen yet.
    pub fn new(value: u32) -> Published {
        Published(AtomicU32::new(value))
    }

    /// Publishes what this thread has written so far, under this number.
    #[inline(always)]
    pub fn publish(&self, value: u32) {
        self.0.store(value, Release);
    }

    /// The number published last; what was written before it may be read.
    #[inline(always)]
    pub fn seen(&self) -> u32 {
        self.0.load(Acquire)
    }
}

/// Where blocks come from. Its methods are called by one thread at a time.
pub trait Space {
    /// A block, as its holder sees it.
    type Block: Member;
    /// Some blocks that are made together and given up together.
    type Chunk;

    /// Makes chunk `number` (counted from 0) and gives its blocks, which are those with this [`Member::chunk`].
    ///
    /// # Errors
    /// When there is no room for it.
    fn make(&self, number: usize) -> io::Result<(Self::Chunk, Vec<Self::Block>)>;

    /// Gives up a chunk of which nobody holds a block any more.
    fn give_up(&self, chunk: &mut Self::Chunk);
}

/// Belongs to a chunk.
pub trait Member {
    /// Number of the chunk; a number that no chunk has for a block from elsewhere.
    fn chunk(&self) -> usize;
}

/// A chunk and how many of its blocks have come back full.
#[derive(Debug)]
struct Counted<C> {
    chunk: C,
    blocks: usize,
    full: usize,
}

/// The blocks that nobody holds.
pub struct Pool<S: Space> {
    empty: Queue<S::Block>,
    full: Queue<S::Block>,
    chunks: Mutex<Vec<Counted<S::Chunk>>>,
    exhausted: AtomicBool,
}

impl<S: Space> Default for Pool<S> {
    fn default() -> Self {
        Pool {
            empty: Queue::new(),
            full: Queue::new(),
            chunks: Mutex::new(Vec::new()),
            exhausted: AtomicBool::new(false),
        }
    }
}

impl<S: Space> Pool<S> {
    /// An empty block, the caller's own until it gives it back; `None` when `space` has none left.
    pub fn take(&self, space: &S) -> Option<S::Block> {
        loop {
            if let Some(block) = self.empty.pop() {
                return Some(block);
            }
            if self.exhausted.load(Relaxed) {
                return None;
            }
            let mut chunks = self.chunks.lock();
            if !self.empty.is_empty() {
                // Another thread has made some while this one waited.
                continue;
            }
            if self.add(&mut chunks, space).is_err() {
                // Asking again at every block would cost a failing system call each time.
                self.exhausted.store(true, Relaxed);
                return None;
            }
        }
    }

    /// Takes back a block that is full. The caller must not touch it again: its chunk may be given up at once.
    pub fn put_full(&self, block: S::Block) {
        self.full.push(block);
    }

    /// Makes a chunk of empty blocks, after giving up those that are no longer needed.
    ///
    /// # Errors
    /// When `space` has no room for it.
    pub fn grow(&self, space: &S) -> io::Result<()> {
        self.add(&mut self.chunks.lock(), space)
    }

    fn add(&self, chunks: &mut Vec<Counted<S::Chunk>>, space: &S) -> io::Result<()> {
        while let Some(block) = self.full.pop() {
            let Some(of) = chunks.get_mut(block.chunk()) else {
                continue;
            };
            of.full += 1;
            if of.full == of.blocks {
                space.give_up(&mut of.chunk);
            }
        }
        let (chunk, blocks) = space.make(chunks.len())?;
        // Counted before any of them can come back.
        chunks.push(Counted {
            chunk,
            blocks: blocks.len(),
            full: 0,
        });
        for block in blocks {
            self.empty.push(block);
        }
        Ok(())
    }
}
