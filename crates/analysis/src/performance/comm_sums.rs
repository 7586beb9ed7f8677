//! What is added up by communicator: times of calls, messages, and bytes of collective operations.

use super::use_times::UseSums;
use wrappers::{CollectiveOperation, ToldBytes};

/// Bytes that are added up; nobody knows the sum once one of them is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByteSum(Option<u64>);

impl Default for ByteSum {
    fn default() -> Self {
        ByteSum(Some(0))
    }
}

impl ByteSum {
    pub(super) fn add(&mut self, bytes: Option<u64>) {
        self.0 = self
            .0
            .zip(bytes)
            .map(|(sum, bytes)| sum.saturating_add(bytes));
    }

    /// The sum; `None` if it is not known.
    pub(super) fn known(self) -> Option<u64> {
        self.0
    }
}

/// Sums of a communicator in the focus.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CommSums {
    /// Times of the calls of main threads.
    pub uses: UseSums,
    /// Number of these calls.
    pub calls: u64,
    /// Messages that are sent on it, by any thread.
    pub messages: u64,
    pub message_bytes: ByteSum,
    /// Bytes that ranks give to its collective operations, and that they get from them.
    pub sent: ByteSum,
    pub received: ByteSum,
}

impl CommSums {
    /// Whether nothing happened on the communicator.
    pub(super) fn is_empty(&self) -> bool {
        let zero = ByteSum::default();
        self.calls == 0 && self.messages == 0 && [self.sent, self.received] == [zero; 2]
    }

    pub(super) fn add_message(&mut self, bytes: Option<u64>) {
        self.messages += 1;
        self.message_bytes.add(bytes);
    }

    /// Adds what a rank gives to an operation and gets from it; `None` is not known.
    pub(super) fn add_moved(&mut self, [sent, received]: [Option<u64>; 2]) {
        self.sent.add(sent);
        self.received.add(received);
    }
}

/// Bytes that a call moves of a collective operation, on a communicator of so many ranks. `root` is the rank that it names, `rank` that of the caller.
/// Of the two sides of an intercommunicator, a rank of the one gives to those of the other: nobody knows then.
pub(super) fn moved(
    operation: CollectiveOperation,
    told: ToldBytes,
    root: Option<i32>,
    rank: i32,
    ranks: u32,
) -> [Option<u64>; 2] {
    match root {
        _ if !operation.has_root() => operation.moved(told, false, ranks.into()),
        Some(root @ 0..) => operation.moved(told, root == rank, ranks.into()),
        _ => [None; 2],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_with_an_unknown_part_is_unknown() {
        let mut sums = CommSums::default();
        sums.add_message(Some(5));
        sums.add_message(Some(6));
        assert_eq!((sums.messages, sums.message_bytes.known()), (2, Some(11)));
        let told = ToldBytes {
            bytes: Some(8),
            ..ToldBytes::default()
        };
        let of = |operation, root, rank| moved(operation, told, root, rank, 4);
        sums.add_moved(of(CollectiveOperation::Gather, Some(1), 1));
        sums.add_moved(of(CollectiveOperation::Gather, Some(1), 0));
        assert_eq!(
            (sums.sent.known(), sums.received.known()),
            (Some(16), Some(32))
        );
        // Its counts for each rank are not told.
        sums.add_moved(of(CollectiveOperation::Alltoallv, None, 0));
        sums.add_moved(of(CollectiveOperation::Allreduce, None, 0));
        assert_eq!((sums.sent.known(), sums.received.known()), (Some(32), None));
        assert_eq!(of(CollectiveOperation::Bcast, None, 0), [None; 2]);
        assert_eq!(of(CollectiveOperation::Bcast, Some(-3), 0), [None; 2]);
        assert_eq!(of(CollectiveOperation::Barrier, None, 0), [Some(0); 2]);
    }
}
