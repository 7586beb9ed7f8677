//! The hand-over of blocks under every order of threads that the memory model allows:
//!
//! ```text
//! RUSTFLAGS='--cfg loom' cargo test --release -p blockfile --test handover
//! ```
//!
//! loom fails a model when two threads touch one `UnsafeCell` without one of them having happened before the other, so most
//! of what is checked here is checked by touching. Without `--cfg loom` real threads push the same pool about for a moment.

use blockfile::handover::{BlockPool, BlockSpace, Published};
use std::io;

#[cfg(loom)]
mod model {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use loom::thread;

    /// Blocks that a model may have.
    const BLOCKS: usize = 6;

    /// Contents of a block: a number that its holder writes, 0 when it has been kept.
    type Contents = UnsafeCell<u32>;

    /// Plain memory in place of a mapped file.
    struct Memory {
        /// Blocks made at a time.
        at_a_time: usize,
        /// Blocks for which there is room.
        most: usize,
        /// Full blocks that may be kept.
        room: usize,
        /// Touched by who is inside `make`.
        busy: UnsafeCell<()>,
        made: AtomicUsize,
        kept: AtomicUsize,
        blocks: Vec<Contents>,
    }

    // SAFETY: that the cells are used by one thread at a time is what the models check.
    unsafe impl Sync for Memory {}
    // SAFETY: as above.
    unsafe impl Send for Memory {}

    #[derive(Debug)]
    struct Block(usize);

    impl BlockSpace for Memory {
        type Block = Block;

        fn make(&self, add: &mut dyn FnMut(Block)) -> io::Result<()> {
            self.busy.with_mut(|_| {
                let made = self.made.load(Relaxed);
                if made + self.at_a_time > self.most {
                    return Err(io::ErrorKind::StorageFull.into());
                }
                self.made.store(made + self.at_a_time, Relaxed);
                (made..made + self.at_a_time).map(Block).for_each(add);
                Ok(())
            })
        }

        fn keep(&self, full: &Block) -> io::Result<()> {
            if self.kept.fetch_add(1, Relaxed) >= self.room {
                return Err(io::ErrorKind::StorageFull.into());
            }
            // SAFETY: loom checks that no other thread is here: a store of the last holder that is not over yet is found.
            self.blocks[full.0].with_mut(|contents| unsafe {
                assert_eq!(*contents, 1, "what is kept was written, and is kept once");
                *contents = 0;
            });
            Ok(())
        }
    }

    struct Both {
        pool: BlockPool<Memory>,
        memory: Memory,
    }

    impl Both {
        fn new(at_a_time: usize, most: usize, room: usize) -> Arc<Both> {
            Arc::new(Both {
                pool: BlockPool::default(),
                memory: Memory {
                    at_a_time,
                    most,
                    room,
                    busy: UnsafeCell::new(()),
                    made: AtomicUsize::new(0),
                    kept: AtomicUsize::new(0),
                    blocks: (0..BLOCKS).map(|_| UnsafeCell::new(0)).collect(),
                },
            })
        }

        /// Takes a block and fills it, as the recorder does.
        fn take(&self) -> Option<Block> {
            let block = self.pool.take(&self.memory)?;
            // SAFETY: loom checks that no other thread is here.
            self.memory.blocks[block.0].with_mut(|contents| unsafe {
                assert_eq!(*contents, 0, "what the block held before has been kept");
                *contents = 1;
            });
            Some(block)
        }

        /// As the recorder does when a block is full: the next one first, then the old one back.
        fn change(&self, held: Block) -> Option<Block> {
            let next = self.take();
            self.pool.put_full(held);
            next
        }
    }

    /// Runs `each` in `threads` threads, this one among them, and waits for all.
    fn run(both: &Arc<Both>, threads: usize, each: fn(&Both)) {
        let others: Vec<_> = (1..threads)
            .map(|_| {
                let both = both.clone();
                thread::spawn(move || each(&both))
            })
            .collect();
        each(both);
        for other in others {
            other.join().unwrap();
        }
    }

    /// Goes through all orders in which threads are interrupted at most `interruptions` times.
    fn check(interruptions: usize, model: impl Fn() + Sync + Send + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(interruptions);
        builder.check(model);
    }

    #[test]
    fn no_block_is_held_twice_when_threads_need_new_ones_at_once() {
        check(3, || {
            let both = Both::new(1, 3, 0);
            run(&both, 3, |b| {
                b.take().expect("there is room for three");
            });
            let made = both.memory.made.load(Relaxed);
            assert_eq!(made, 3, "one for each and none in vain");
        });
    }

    #[test]
    fn growing_gives_no_more_than_is_needed() {
        check(4, || {
            let both = Both::new(2, 4, 0);
            run(&both, 2, |b| {
                b.take().expect("there is room for four");
                b.take().expect("there is room for four");
            });
            assert_eq!(both.memory.made.load(Relaxed), 4);
            assert!(both.take().is_none(), "all are given out");
        });
    }

    #[test]
    fn a_full_block_is_kept_before_it_is_used_again() {
        check(3, || {
            // A queue may look empty to a thread that has not heard of a push, so that there can be one block for each take.
            let both = Both::new(1, 6, 8);
            run(&both, 2, |b| {
                let held = b.take().expect("there is room");
                let held = b.change(held).expect("there is room");
                b.change(held).expect("a full one can be kept");
            });
            // Each of the six takes got a new block or one whose contents had been kept.
            let made = both.memory.made.load(Relaxed);
            assert_eq!(both.memory.kept.load(Relaxed) + made, 6);
        });
    }

    #[test]
    fn a_block_that_cannot_be_kept_is_not_used_again() {
        check(3, || {
            let both = Both::new(1, 2, 0);
            run(&both, 2, |b| {
                if let Some(held) = b.take() {
                    // Without a next block, the contents of this one must stay.
                    b.change(held);
                }
            });
            for block in &both.memory.blocks[..both.memory.made.load(Relaxed)] {
                // SAFETY: loom checks that nobody writes meanwhile.
                assert_eq!(block.with(|contents| unsafe { *contents }), 1);
            }
        });
    }

    const MAGIC: u32 = 7;
    const RECORDS: usize = 3;

    /// The part of a block that stands in the file.
    struct Page {
        magic: Published,
        /// A field of the header, written before the magic.
        time_base: UnsafeCell<u64>,
        committed: Published,
        /// A record has several words.
        records: Vec<UnsafeCell<[u64; 2]>>,
    }

    // SAFETY: as for Memory.
    unsafe impl Sync for Page {}
    // SAFETY: as above.
    unsafe impl Send for Page {}

    /// Reads as `blockfile::file` does; gives the number of records seen.
    fn read(page: &Page) -> u32 {
        if page.magic.seen() != MAGIC {
            return 0;
        }
        // SAFETY: loom checks that nobody writes meanwhile.
        assert_eq!(page.time_base.with(|base| unsafe { *base }), 5);
        let committed = page.committed.seen();
        for (i, record) in page.records[..committed as usize].iter().enumerate() {
            // SAFETY: as above.
            let words = record.with(|words| unsafe { *words });
            assert_eq!(
                words,
                [i as u64 + 10, i as u64 + 20],
                "a record is seen whole"
            );
        }
        committed
    }

    /// Writes as the recorder does.
    fn write(page: &Page) {
        // SAFETY: loom checks that no other thread is here.
        page.time_base.with_mut(|base| unsafe { *base = 5 });
        page.committed.publish(0);
        page.magic.publish(MAGIC);
        for (i, record) in page.records.iter().enumerate() {
            // SAFETY: as above.
            record.with_mut(|words| unsafe { *words = [i as u64 + 10, i as u64 + 20] });
            page.committed.publish(i as u32 + 1);
        }
    }

    #[test]
    fn a_reader_sees_whole_records_only() {
        loom::model(|| {
            let page = Arc::new(Page {
                magic: Published::new(0),
                time_base: UnsafeCell::new(0),
                committed: Published::new(0),
                records: (0..RECORDS).map(|_| UnsafeCell::new([0; 2])).collect(),
            });
            let writer = {
                let page = page.clone();
                thread::spawn(move || write(&page))
            };
            let first = read(&page);
            assert!(read(&page) >= first, "what was there stays there");
            writer.join().unwrap();
            assert_eq!(read(&page), RECORDS as u32);
        });
    }
}

#[cfg(not(loom))]
mod threads {
    use super::*;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

    const THREADS: usize = 4;
    const TURNS: u64 = 20_000;

    /// Blocks of one word; a kept word is added up.
    struct Words {
        made: AtomicUsize,
        kept: AtomicU64,
        all: Mutex<Vec<&'static AtomicU64>>,
    }

    impl BlockSpace for Words {
        type Block = &'static AtomicU64;

        fn make(&self, add: &mut dyn FnMut(&'static AtomicU64)) -> io::Result<()> {
            self.made.fetch_add(2, Relaxed);
            for _ in 0..2 {
                let block: &'static AtomicU64 = Box::leak(Box::new(AtomicU64::new(0)));
                self.all.lock().unwrap().push(block);
                add(block);
            }
            Ok(())
        }

        fn keep(&self, full: &&'static AtomicU64) -> io::Result<()> {
            self.kept.fetch_add(full.swap(0, Relaxed), Relaxed);
            Ok(())
        }
    }

    #[test]
    fn what_real_threads_write_is_kept_once() {
        let words = Words {
            made: AtomicUsize::new(0),
            kept: AtomicU64::new(0),
            all: Mutex::new(Vec::new()),
        };
        let pool = BlockPool::default();
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for turn in 1..=TURNS {
                        let block = pool.take(&words).expect("there is always room");
                        assert_eq!(block.swap(turn, Relaxed), 0, "held by one thread");
                        pool.put_full(block);
                    }
                });
            }
        });
        let left: u64 = words
            .all
            .lock()
            .unwrap()
            .iter()
            .map(|w| w.load(Relaxed))
            .sum();
        let written = THREADS as u64 * TURNS * (TURNS + 1) / 2;
        assert_eq!(words.kept.load(Relaxed) + left, written);
        assert!(
            words.made.load(Relaxed) <= 4 * THREADS,
            "a few blocks go round"
        );
    }

    #[test]
    fn a_real_thread_reads_while_another_writes() {
        const WORDS: usize = 100_000;
        let words: Vec<AtomicU32> = (0..WORDS).map(|_| AtomicU32::new(0)).collect();
        let committed = Published::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for (i, word) in words.iter().enumerate() {
                    word.store(i as u32 + 1, Relaxed);
                    committed.publish(i as u32 + 1);
                }
            });
            let mut seen = 0;
            while seen < WORDS {
                let now = committed.seen() as usize;
                assert!(now >= seen);
                if let Some(last) = now.checked_sub(1) {
                    assert_eq!(words[last].load(Relaxed), now as u32);
                }
                seen = now;
                std::thread::yield_now();
            }
        });
    }
}
