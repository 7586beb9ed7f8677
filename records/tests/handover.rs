//! The hand-over of blocks under every order of threads that the memory model allows:
//!
//! ```text
//! RUSTFLAGS='--cfg loom' cargo test --release -p records --test handover
//! ```
//!
//! loom fails a model when two threads touch one `UnsafeCell` without one of them having happened before the other, so most
//! of what is checked here is checked by touching. Without `--cfg loom` real threads push the same pool about for a moment.

use records::handover::{Member, Pool, Published, Space};
use std::io;

#[cfg(loom)]
mod model {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use loom::thread;

    /// Chunks that a model may make.
    const CHUNKS: usize = 4;
    /// Most blocks of a chunk.
    const BLOCKS: usize = 2;

    /// Memory of one block as its holder maps it: number of times that it was taken.
    type Mapping = UnsafeCell<u32>;

    /// Plain memory in place of a mapped file.
    struct Memory {
        blocks_per_chunk: usize,
        /// Chunks for which there is room.
        most: usize,
        /// Touched by who is inside `make` or `give_up`.
        busy: UnsafeCell<()>,
        made: AtomicUsize,
        mappings: Vec<[Mapping; BLOCKS]>,
        given_up: Vec<UnsafeCell<bool>>,
    }

    // SAFETY: that the cells are used by one thread at a time is what the models check.
    unsafe impl Sync for Memory {}
    // SAFETY: as above.
    unsafe impl Send for Memory {}

    #[derive(Debug)]
    struct Block {
        chunk: usize,
        number: usize,
    }

    impl Member for Block {
        fn chunk(&self) -> usize {
            self.chunk
        }
    }

    impl Space for Memory {
        type Block = Block;
        type Chunk = usize;

        fn make(&self, chunk: usize) -> io::Result<(usize, Vec<Block>)> {
            self.busy.with_mut(|_| {
                assert_eq!(
                    self.made.load(Relaxed),
                    chunk,
                    "chunks are made in order, once each"
                );
                if chunk == self.most {
                    return Err(io::ErrorKind::StorageFull.into());
                }
                self.made.store(chunk + 1, Relaxed);
                let blocks = (0..self.blocks_per_chunk).map(|number| Block { chunk, number });
                Ok((chunk, blocks.collect()))
            })
        }

        fn give_up(&self, chunk: &mut usize) {
            self.busy.with_mut(|_| {
                // SAFETY: loom checks that no other thread is here.
                self.given_up[*chunk].with_mut(|given_up| unsafe {
                    assert!(!*given_up, "a chunk is given up once");
                    *given_up = true;
                });
                for mapping in &self.mappings[*chunk][..self.blocks_per_chunk] {
                    // SAFETY: as above; a store into the block that is not over yet is found here.
                    let taken = mapping.with_mut(|taken| unsafe { *taken });
                    assert_eq!(taken, 1, "all of its blocks have been used");
                }
            });
        }
    }

    impl Memory {
        fn new(blocks_per_chunk: usize, most: usize) -> Memory {
            let mapping = || std::array::from_fn(|_| UnsafeCell::new(0));
            Memory {
                blocks_per_chunk,
                most,
                busy: UnsafeCell::new(()),
                made: AtomicUsize::new(0),
                mappings: (0..CHUNKS).map(|_| mapping()).collect(),
                given_up: (0..CHUNKS).map(|_| UnsafeCell::new(false)).collect(),
            }
        }

        /// What a thread does first with a block it has taken.
        fn begin(&self, block: &Block) {
            // SAFETY: loom checks that no other thread is here.
            self.mappings[block.chunk][block.number].with_mut(|taken| unsafe {
                assert_eq!(*taken, 0, "a block is given out once");
                *taken += 1;
            });
            self.touch(block);
        }

        /// What it does with the block from then on until it gives it back.
        fn touch(&self, block: &Block) {
            // SAFETY: loom checks that nobody writes meanwhile.
            self.given_up[block.chunk].with(|given_up| unsafe {
                assert!(!*given_up, "a held block is mapped");
            });
            // SAFETY: as above.
            self.mappings[block.chunk][block.number].with(|taken| unsafe {
                assert_eq!(*taken, 1, "nobody else has taken it");
            });
        }

        /// Number of chunks that were given up; to be asked when all threads have ended.
        fn given_up(&self) -> usize {
            // SAFETY: loom checks that nobody writes meanwhile.
            let is = |cell: &&UnsafeCell<bool>| cell.with(|given_up| unsafe { *given_up });
            self.given_up.iter().filter(is).count()
        }
    }

    struct Both {
        pool: Pool<Memory>,
        memory: Memory,
    }

    impl Both {
        fn new(blocks_per_chunk: usize, most: usize) -> Arc<Both> {
            Arc::new(Both {
                pool: Pool::default(),
                memory: Memory::new(blocks_per_chunk, most),
            })
        }

        fn take(&self) -> Option<Block> {
            let block = self.pool.take(&self.memory)?;
            self.memory.begin(&block);
            Some(block)
        }

        /// As the recorder does when a block is full: the next one first, then the old one back.
        fn change(&self, held: &mut Block) {
            let next = self.take().expect("there is room");
            self.memory.touch(held);
            self.pool.put_full(std::mem::replace(held, next));
            self.memory.touch(held);
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
            let both = Both::new(1, 3);
            run(&both, 3, |b| {
                b.take().expect("there is room for three");
            });
            assert_eq!(
                both.memory.made.load(Relaxed),
                3,
                "one for each and none in vain"
            );
        });
    }

    #[test]
    fn growing_gives_no_more_than_is_needed() {
        check(4, || {
            let both = Both::new(2, 2);
            run(&both, 2, |b| {
                b.take().expect("there is room for four");
                b.take().expect("there is room for four");
            });
            assert_eq!(both.memory.made.load(Relaxed), 2);
            assert!(both.take().is_none(), "all are given out");
        });
    }

    #[test]
    fn a_chunk_is_given_up_once_after_the_last_store_into_it() {
        check(4, || {
            let both = Both::new(1, 4);
            run(&both, 2, |b| {
                let mut held = b.take().expect("there is room");
                b.change(&mut held);
            });
            assert_eq!(both.memory.made.load(Relaxed), 4);
            // What has come back since the last growth is counted at the next one, for which there is no room.
            both.pool.grow(&both.memory).unwrap_err();
            assert_eq!(
                both.memory.given_up(),
                2,
                "each full block is accounted, once"
            );
        });
    }

    #[test]
    fn a_chunk_with_a_block_still_held_stays() {
        check(4, || {
            let both = Both::new(2, 2);
            run(&both, 2, |b| {
                let mut held = b.take().expect("there is room");
                b.change(&mut held);
            });
            both.pool.grow(&both.memory).unwrap_err();
            assert!(
                both.memory.given_up() <= 1,
                "two blocks came back, two are held"
            );
        });
    }

    #[test]
    fn without_room_one_gets_the_last_block_and_others_none() {
        check(3, || {
            let both = Both::new(1, 1);
            let got = Arc::new(AtomicUsize::new(0));
            let others: Vec<_> = (0..2)
                .map(|_| {
                    let (both, got) = (both.clone(), got.clone());
                    thread::spawn(move || {
                        got.fetch_add(usize::from(both.take().is_some()), Relaxed);
                    })
                })
                .collect();
            for other in others {
                other.join().unwrap();
            }
            assert_eq!(got.load(Relaxed), 1);
        });
    }

    const MAGIC: u32 = 7;
    const RECORDS: usize = 3;

    /// What of a block stands in the file.
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

    /// Reads as `records::file` does; gives the number of records seen.
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
    use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

    const CHUNKS: usize = 2000;
    const BLOCKS: usize = 3;
    const THREADS: usize = 4;

    struct Block(usize);

    impl Member for Block {
        fn chunk(&self) -> usize {
            self.0 / BLOCKS
        }
    }

    /// Counts what happens to each block and chunk.
    struct Counts {
        taken: Vec<AtomicUsize>,
        given_up: Vec<AtomicUsize>,
    }

    impl Space for Counts {
        type Block = Block;
        type Chunk = usize;

        fn make(&self, chunk: usize) -> io::Result<(usize, Vec<Block>)> {
            if chunk == CHUNKS {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let blocks = (0..BLOCKS).map(|i| Block(chunk * BLOCKS + i));
            Ok((chunk, blocks.collect()))
        }

        fn give_up(&self, chunk: &mut usize) {
            self.given_up[*chunk].fetch_add(1, Relaxed);
        }
    }

    fn counters(n: usize) -> Vec<AtomicUsize> {
        (0..n).map(|_| AtomicUsize::new(0)).collect()
    }

    #[test]
    fn real_threads_get_each_block_once() {
        let counts = Counts {
            taken: counters(CHUNKS * BLOCKS),
            given_up: counters(CHUNKS),
        };
        let pool = Pool::default();
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    while let Some(block) = pool.take(&counts) {
                        counts.taken[block.0].fetch_add(1, Relaxed);
                        pool.put_full(block);
                    }
                });
            }
        });
        pool.grow(&counts).unwrap_err();
        assert!(counts.taken.iter().all(|n| n.load(Relaxed) == 1));
        assert!(counts.given_up.iter().all(|n| n.load(Relaxed) == 1));
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
