//! The trace into which facts are drawn.

/// AttributionEventKind the trace has already into which facts are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Base {
    /// Time zero, ns on rank 0's clock.
    pub zero_ns: i64,
    /// Ranks; servers and devices are drawn under them.
    pub ranks: u32,
    /// Threads of a rank: thread t of rank r has line r × threads + t.
    pub threads: u32,
    /// First number that no line has.
    pub first_line: i32,
    /// First of [`CATEGORIES`](super::CATEGORIES) numbers that no category has.
    pub first_category: i32,
}

impl Base {
    /// First number behind those of the lines of this many ranks and threads on each of `comms` communicators.
    pub fn line_behind(ranks: u32, threads: u32, comms: usize) -> i32 {
        let lines = (u64::from(ranks) * u64::from(threads)).saturating_mul(comms as u64);
        i32::try_from(lines).unwrap_or(i32::MAX)
    }
}
