//! Numbers of operations in events.

use trace_model::hash::Map;

/// Bits of a number that count the operations of a process. The position of the process stands above.
const COUNT_BITS: u32 = 40;

/// Numbers of operations, by process: no two operations have one, and that of an operation does not depend on other processes.
#[derive(Debug, Default)]
pub(super) struct OperationNumbers {
    /// By position of a process its operations so far.
    counts: Map<usize, u64>,
}

impl OperationNumbers {
    /// Number of the next operation of a process.
    pub(super) fn next(&mut self, process: usize) -> u64 {
        let count = self.counts.entry(process).or_default();
        *count += 1;
        (process as u64) << COUNT_BITS | (*count - 1)
    }
}
