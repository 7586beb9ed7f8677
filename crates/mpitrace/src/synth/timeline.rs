//! Schedule of a synthetic trace: the iterations of all ranks, one after the other. Times are nanoseconds since the start.
//!
//! Every number follows from the seed, the rank and the iteration, so that any pass over the timeline gives the same.

/// Size and seed of the trace to make.
#[derive(Clone, Copy, Debug)]
pub struct SynthSize {
    /// Number of processes.
    pub ranks: u32,
    /// Minimum number of drawables.
    pub drawables: u64,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// Iterations from one checkpoint to the next.
const CHECKPOINT: u64 = 20;
/// Duration of computing between two exchanges, before imbalance, ns.
const COMPUTE_NS: u64 = 400_000;
/// Time until the first byte of a message arrives, ns.
const LATENCY_NS: u64 = 2_000;
/// Bytes of a message that arrive per ns after that.
const BYTES_PER_NS: u64 = 10;
/// Bytes that a rank writes into a checkpoint.
pub const CHECKPOINT_BYTES: u64 = 1 << 20;
/// Duration of MPI_Init, ns.
const INIT_NS: u64 = 3_000_000;

/// Start and end of an activity.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimeSpan {
    /// Start.
    pub start: u64,
    /// End.
    pub end: u64,
}

impl TimeSpan {
    fn after(start: u64, length: u64) -> Self {
        TimeSpan {
            start,
            end: start + length,
        }
    }
}

/// An iteration of a rank. Of pairs the first is about the neighbour below, the second about the one above.
#[derive(Clone, Copy, Debug, Default)]
pub struct Iteration {
    /// All of it.
    pub whole: TimeSpan,
    /// Computing.
    pub compute: TimeSpan,
    /// Spans of both MPI_Irecv calls.
    pub receives: [TimeSpan; 2],
    /// Spans of both MPI_Isend calls.
    pub sends: [TimeSpan; 2],
    /// MPI_Waitall.
    pub wait: TimeSpan,
    /// MPI_Allreduce.
    pub reduce: TimeSpan,
    /// The checkpoint at its end.
    pub checkpoint: Option<Checkpoint>,
}

/// A checkpoint of a rank.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checkpoint {
    /// All of it.
    pub whole: TimeSpan,
    /// MPI_File_open, and the system's open in it.
    pub open: [TimeSpan; 2],
    /// MPI_File_write_at_all.
    pub write: TimeSpan,
    /// The system's writes in it.
    pub writes: [TimeSpan; 4],
    /// Number of the system's writes.
    pub pieces: usize,
    /// MPI_File_close, and the system's close in it.
    pub close: [TimeSpan; 2],
}

/// All ranks, from MPI_Init to the end.
pub struct SynthTimeline {
    shape: SynthSize,
    /// Thousandths of the computing time that each rank takes longer.
    imbalance: Vec<u16>,
    /// The iteration that was made last.
    iterations: Vec<Iteration>,
    number: u64,
    drawables: u64,
}

impl SynthTimeline {
    /// Before the first iteration.
    pub fn new(shape: SynthSize) -> Self {
        let late = random(shape.seed, u64::MAX, 0) % u64::from(shape.ranks);
        let imbalance = (0..u64::from(shape.ranks)).map(|rank| match rank == late {
            true => 600,
            false => (random(shape.seed, rank, u64::MAX) % 200) as u16,
        });
        let imbalance = imbalance.collect();
        let start = |rank: u64| Iteration {
            whole: TimeSpan::after(0, INIT_NS + random(shape.seed, rank, 1 << 40) % 2_000),
            ..Iteration::default()
        };
        SynthTimeline {
            imbalance,
            iterations: (0..u64::from(shape.ranks)).map(start).collect(),
            number: 0,
            // MPI_Init and MPI_Finalize.
            drawables: 2 * u64::from(shape.ranks),
            shape,
        }
    }

    /// When each rank is in MPI_Init, or, after iterations, when it is in the last one.
    pub fn iterations(&self) -> &[Iteration] {
        &self.iterations
    }

    /// Number of the iteration, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// When each rank is in MPI_Finalize, once the iterations are over.
    pub fn finalize(&self) -> impl Iterator<Item = TimeSpan> + '_ {
        let ends = self.iterations.iter().map(|iteration| iteration.whole.end);
        let last = ends.clone().max().unwrap_or(0) + 1_000_000;
        ends.zip(0..).map(move |(end, rank)| TimeSpan {
            start: end + 1_000,
            end: last + random(self.shape.seed, rank, 1 << 41) % 5_000,
        })
    }

    /// Bytes of the messages from this rank, to its neighbour below and above. They are the same all the time.
    pub fn sizes(&self, rank: u32) -> [u32; 2] {
        let random = random(self.shape.seed, rank.into(), 1 << 42);
        [8192 << (random & 3), 8192 << ((random >> 2) & 3)]
    }

    /// The neighbours of a rank, below and above.
    pub fn neighbours(&self, rank: u32) -> [u32; 2] {
        let ranks = self.shape.ranks;
        [(rank + ranks - 1) % ranks, (rank + 1) % ranks]
    }

    /// Goes on to the next iteration; false if there are enough drawables.
    pub fn advance(&mut self) -> bool {
        if self.drawables >= self.shape.drawables {
            return false;
        }
        self.number += 1;
        self.compute();
        let last = self.exchange();
        self.reduce(last);
        if self.number.is_multiple_of(CHECKPOINT) {
            self.checkpoint();
        }
        self.drawables += self
            .iterations
            .iter()
            .map(Iteration::drawables)
            .sum::<u64>();
        true
    }

    /// Computing, and what is posted after it.
    fn compute(&mut self) {
        for (rank, (iteration, &imbalance)) in
            (0..).zip(self.iterations.iter_mut().zip(&self.imbalance))
        {
            let mut dice = RandomNumbers(random(self.shape.seed, rank, self.number));
            let start = iteration.whole.end + 1_000;
            let length = COMPUTE_NS * (950 + u64::from(imbalance) + dice.below(100)) / 1000;
            let compute = TimeSpan::after(start + 200, length);
            let mut at = compute.end;
            let mut call = |length| {
                let span = TimeSpan::after(at + 150 + dice.below(64), length + dice.below(512));
                at = span.end;
                span
            };
            *iteration = Iteration {
                whole: TimeSpan::after(start, 0),
                compute,
                receives: [call(600), call(500)],
                sends: [call(1_500), call(1_300)],
                wait: call(800),
                ..Iteration::default()
            };
        }
    }

    /// Messages: MPI_Waitall ends when both have arrived. Returns when the last rank is through.
    fn exchange(&mut self) -> u64 {
        let mut last = 0;
        for rank in 0..self.shape.ranks {
            let [below, above] = self.neighbours(rank);
            // From below comes what was sent above, and the other way round.
            let arrival = |from: u32, which: usize| {
                let sent = self.iterations[from as usize].sends[which].start;
                sent + LATENCY_NS + u64::from(self.sizes(from)[which]) / BYTES_PER_NS
            };
            let arrived = arrival(below, 1).max(arrival(above, 0));
            let wait = &mut self.iterations[rank as usize].wait;
            wait.end = wait.end.max(arrived + 300);
            last = last.max(wait.end);
        }
        last
    }

    /// MPI_Allreduce, which none leaves before the last one has come.
    fn reduce(&mut self, last: u64) {
        let hops = u64::from(u32::BITS - self.shape.ranks.leading_zeros());
        let released = last + 1_000 + 2_500 * hops;
        for (rank, iteration) in (0..).zip(&mut self.iterations) {
            let mut dice = RandomNumbers(random(self.shape.seed, rank, self.number | 1 << 43));
            iteration.reduce = TimeSpan {
                start: iteration.wait.end + 200 + dice.below(128),
                end: released + dice.below(2_000),
            };
            iteration.whole.end = iteration.reduce.end + 500;
        }
    }

    /// A checkpoint, which is written together: none leaves MPI_File_write_at_all before all have written.
    fn checkpoint(&mut self) {
        let mut last = 0;
        for (rank, iteration) in (0..).zip(&mut self.iterations) {
            let mut dice = RandomNumbers(random(self.shape.seed, rank, self.number | 1 << 44));
            let start = iteration.reduce.end + 1_000;
            let inside = TimeSpan::after(start + 5_000, 15_000 + dice.below(10_000));
            let open = TimeSpan {
                start: start + 500,
                end: inside.end + 10_000 + dice.below(1_000),
            };
            let pieces = 1 + dice.below(4) as usize;
            let mut writes = [TimeSpan::default(); 4];
            let mut at = open.end + 10_000;
            for piece in &mut writes[..pieces] {
                *piece = TimeSpan::after(
                    at + dice.below(2_000),
                    30_000 + dice.below(200_000) / pieces as u64,
                );
                at = piece.end + 1_000;
            }
            last = last.max(at);
            iteration.checkpoint = Some(Checkpoint {
                whole: TimeSpan::after(start, 0),
                open: [open, inside],
                write: TimeSpan::after(open.end + 1_000, 0),
                writes,
                pieces,
                close: [TimeSpan::default(); 2],
            });
        }
        for (rank, iteration) in (0..).zip(&mut self.iterations) {
            let Some(checkpoint) = &mut iteration.checkpoint else {
                continue;
            };
            let mut dice = RandomNumbers(random(self.shape.seed, rank, self.number | 1 << 45));
            checkpoint.write.end = last + 2_000 + dice.below(1_000);
            let inside = TimeSpan::after(checkpoint.write.end + 3_000, 4_000 + dice.below(8_000));
            let close = TimeSpan {
                start: checkpoint.write.end + 1_000,
                end: inside.end + 2_000,
            };
            checkpoint.close = [close, inside];
            checkpoint.whole.end = close.end + 500;
            iteration.whole.end = checkpoint.whole.end + 500;
        }
    }
}

impl Iteration {
    /// Number of drawables that it makes: itself, computing, six calls, two messages; of a checkpoint itself, three calls, what
    /// is in them, and an event.
    fn drawables(&self) -> u64 {
        let checkpoint = |checkpoint: &Checkpoint| 7 + checkpoint.pieces as u64;
        10 + self.checkpoint.as_ref().map_or(0, checkpoint)
    }
}

/// A few random numbers out of one.
struct RandomNumbers(u64);

impl RandomNumbers {
    /// A number below `bound`, which is far smaller than 2^32.
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = mix(self.0.wrapping_add(0x9e37_79b9_7f4a_7c15));
        ((self.0 >> 32) * bound) >> 32
    }
}

/// The random number that belongs to two numbers.
fn random(seed: u64, a: u64, b: u64) -> u64 {
    mix(mix(mix(seed ^ 0x6a09_e667_f3bc_c908).wrapping_add(a)).wrapping_add(b))
}

/// SplitMix64's finisher: every bit of the input changes half of the output's.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
