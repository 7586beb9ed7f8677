//! The whole merge with simulated ranks: synthetic block files of all of them, real planning, exchange, nodes and blocks. What would
//! be written is counted and thrown away.

use super::memory;
use super::network::{LogGp, RankCounts, SimulatedPeers};
use super::ranks::{Blocks, V, WORLD, call_at, from, rank, to};
use blockfile::encode::MpiStatus;
use blockfile::file::BlockFile;
use merge::local::{Merge, MergeOptions};
use merge::slices::{
    PartFile, SliceFiles, SliceInput, SliceShare, SliceTotals, agree, complete, write,
};
use trace_formats::slog2::TreeOptions;

/// What a rank has done, and its peak of memory in bytes.
pub type RankResult = (RankCounts, u64);

/// What came of a simulated merge.
pub struct FullResult {
    /// By rank.
    pub ranks: Vec<RankResult>,
    pub calls: u64,
    pub rounds: u64,
    pub windows: u64,
    /// Bytes of the SLOG2 and of the CLOG2 file.
    pub written: u64,
}

#[derive(Default)]
struct CountedFile(u64);

impl PartFile for CountedFile {
    fn write_at(&mut self, _: u64, bytes: &[u8]) -> Result<(), String> {
        self.0 += bytes.len() as u64;
        Ok(())
    }
}

/// The block file of a rank that sends to the next one and receives from the previous one, `calls` calls in all, one in eight of
/// them MPI_Comm_size.
fn ring(me: u32, ranks: u32, calls: u64) -> Vec<u8> {
    let mut blocks: Blocks = rank(me as i32, ranks);
    let (next, previous) = ((me + 1) % ranks, (me + ranks - 1) % ranks);
    let mut now = 1_000 + me % 100;
    for nth in 0..calls {
        let round = (nth / 2) as i64;
        match nth % 8 {
            7 => {
                let args = [V::H(WORLD), V::I(i64::from(ranks))];
                call_at(&mut blocks, now, now + 300, "MPI_Comm_size", &args);
            }
            kind if kind % 2 == 0 => {
                let args = to(next.into(), round % 4, 16);
                call_at(&mut blocks, now, now + 300, "MPI_Send", &args);
            }
            _ => {
                let got = MpiStatus {
                    source: previous as i32,
                    tag: (round % 4) as i32,
                    error: 0,
                    bytes: 64,
                    cancelled: false,
                };
                let args = from(previous.into(), round % 4, 16, got);
                call_at(&mut blocks, now, now + 400, "MPI_Recv", &args);
            }
        }
        now += 1_000;
    }
    blocks.bytes()
}

/// Merges `ranks` simulated ranks with `calls` calls each.
pub fn simulate(ranks: u32, calls: u64, has_clog2: bool, network: LogGp) -> FullResult {
    let bytes: Vec<Vec<u8>> = (0..ranks).map(|me| ring(me, ranks, calls)).collect();
    let table = wrappers::table().expect("the table parses");
    let files: Vec<BlockFile<'_>> = bytes
        .iter()
        .map(|bytes| BlockFile::new(bytes).expect("a block file"))
        .collect();
    let merge = Merge::new(&files, table, MergeOptions::default()).expect("ranks of one run");
    let preamble = merge.preamble();
    let scans: Vec<_> = merge.scans().collect();
    let tree = TreeOptions {
        children_per_node: 2,
        leaf_byte_size: TreeOptions::leaf_for(ranks.into()),
    };
    let zero_ns = merge.zero_ns();
    let mut result = FullResult {
        ranks: Vec::new(),
        calls: 0,
        rounds: 0,
        windows: 0,
        written: 0,
    };
    std::thread::scope(|scope| {
        let all = SimulatedPeers::new(ranks, network);
        let threads = all.into_iter().zip(0..).map(|(mut peers, me)| {
            let (merge, preamble, scan) = (&merge, &preamble, scans[me as usize]);
            let one = move || {
                peers.begin();
                memory::begin();
                let totals = SliceTotals {
                    share: SliceShare::of_process(scan, zero_ns),
                    ranks,
                    tree,
                    clog2_block: if has_clog2 { preamble.block_size } else { 0 },
                };
                let plan = agree(&mut peers, totals, |histogram| {
                    histogram.add_process(scan, zero_ns);
                });
                let plan = plan.expect("no deadlock");
                let input = SliceInput {
                    processes: merge.streams(me, ranks, has_clog2, None),
                    ranks,
                    preamble,
                    schema: merge.schema(),
                    names: merge.function_names(),
                    used: merge.functions(),
                    counters: merge.counter_names(),
                    has_operations: false,
                    operations: None,
                };
                let (mut slog2, mut clog2) = (CountedFile::default(), CountedFile::default());
                let mut files = SliceFiles {
                    slog2: Some(&mut slog2),
                    clog2: has_clog2.then_some(&mut clog2 as &mut dyn PartFile),
                };
                let summary = write(&mut peers, &plan, input, &mut files).expect("no deadlock");
                let views = |_: &merge::slices::WholeSlices, _: &[i32]| Vec::new();
                let failure = complete(&mut peers, &plan, summary, Some(&mut slog2), views);
                assert_eq!(failure.expect("no deadlock"), None);
                let peak = memory::peak();
                let numbers = (plan.rounds(), plan.windows(), slog2.0 + clog2.0);
                ((peers.end(), peak), numbers)
            };
            // A stack for each rank: they are small, as those of thousands of ranks are there at once.
            let thread = std::thread::Builder::new().stack_size(1 << 20);
            thread.spawn_scoped(scope, one).expect("a thread")
        });
        let threads: Vec<_> = threads.collect();
        for thread in threads {
            let (rank, (rounds, windows, written)) = thread.join().expect("no panic");
            result.ranks.push(rank);
            (result.rounds, result.windows) = (rounds, windows);
            result.written += written;
        }
    });
    result.calls = scans.iter().map(|scan| scan.pace.calls()).sum();
    result
}
