//! The trace into which attribution records are drawn.

/// Time zero, lines and first free numbers of the trace into which attribution records are drawn.
#[derive(Clone, Copy, Debug)]
pub struct DrawingBase {
    /// Time zero, ns on rank 0's clock.
    pub zero_ns: i64,
    /// Number of ranks; servers and devices are drawn below them.
    pub ranks: u32,
    /// Number of threads per rank: thread t of rank r has line r × threads + t.
    pub threads: u32,
    /// First free line number.
    pub first_line: i32,
    /// First of [`CATEGORIES`](super::CATEGORIES) consecutive free category numbers.
    pub first_category: i32,
}

impl DrawingBase {
    /// First line number after those of `ranks` ranks with `threads` threads each, on each of `comms` communicators.
    pub fn line_behind(ranks: u32, threads: u32, comms: usize) -> i32 {
        let lines = (u64::from(ranks) * u64::from(threads)).saturating_mul(comms as u64);
        i32::try_from(lines).unwrap_or(i32::MAX)
    }
}
