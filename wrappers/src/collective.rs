//! Collective operations that move data, and how much of it each rank gives and gets.

use crate::{Class, Function};

/// A collective operation on the data of all ranks of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CollectiveOperation {
    /// MPI_Barrier, which moves nothing.
    Barrier,
    /// MPI_Bcast.
    Bcast,
    /// MPI_Gather.
    Gather,
    /// MPI_Gatherv.
    Gatherv,
    /// MPI_Scatter.
    Scatter,
    /// MPI_Scatterv.
    Scatterv,
    /// MPI_Allgather.
    Allgather,
    /// MPI_Allgatherv.
    Allgatherv,
    /// MPI_Alltoall.
    Alltoall,
    /// MPI_Alltoallv.
    Alltoallv,
    /// MPI_Alltoallw.
    Alltoallw,
    /// MPI_Allreduce.
    Allreduce,
    /// MPI_Reduce.
    Reduce,
    /// MPI_Reduce_scatter.
    ReduceScatter,
    /// MPI_Scan.
    Scan,
    /// MPI_Exscan.
    Exscan,
    /// MPI_Reduce_scatter_block.
    ReduceScatterBlock,
}

/// What a call tells of its bytes; `None` where it does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToldBytes {
    /// Bytes that the rank passes: its own, or for one rank where the function takes one count for all; with a count for each rank the sum. Of
    /// MPI_Scatterv those that the rank gets.
    pub bytes: Option<u64>,
    /// Bytes that the rank gets, by its counts for each rank.
    pub received: Option<u64>,
    /// Bytes that a root gives, by its counts for each rank.
    pub sent: Option<u64>,
}

impl CollectiveOperation {
    /// The operation of a function, blocking or not or persistent; `None` for all others, and for those among neighbours.
    pub fn of(function: &Function) -> Option<CollectiveOperation> {
        use CollectiveOperation as Operation;
        let name = function.name.trim_start_matches("MPI_");
        let name = name.trim_end_matches("_c").trim_end_matches("_init");
        let name = name.to_ascii_lowercase();
        let blocking = match function.class {
            Class::Icollective => name.strip_prefix('i').unwrap_or(&name),
            Class::Collective | Class::CollectiveInit => &name,
            _ => return None,
        };
        Some(match blocking {
            "barrier" => Operation::Barrier,
            "bcast" => Operation::Bcast,
            "gather" => Operation::Gather,
            "gatherv" => Operation::Gatherv,
            "scatter" => Operation::Scatter,
            "scatterv" => Operation::Scatterv,
            "allgather" => Operation::Allgather,
            "allgatherv" => Operation::Allgatherv,
            "alltoall" => Operation::Alltoall,
            "alltoallv" => Operation::Alltoallv,
            "alltoallw" => Operation::Alltoallw,
            "allreduce" => Operation::Allreduce,
            "reduce" => Operation::Reduce,
            "reduce_scatter" => Operation::ReduceScatter,
            "scan" => Operation::Scan,
            "exscan" => Operation::Exscan,
            "reduce_scatter_block" => Operation::ReduceScatterBlock,
            _ => return None,
        })
    }

    /// Whether the operation has a root.
    pub fn has_root(self) -> bool {
        use CollectiveOperation as Operation;
        matches!(
            self,
            Operation::Bcast
                | Operation::Gather
                | Operation::Gatherv
                | Operation::Scatter
                | Operation::Scatterv
                | Operation::Reduce
        )
    }

    /// Bytes that a rank gives to the operation and gets from it, on a communicator of so many ranks. A rank's data for itself counts. `None` is
    /// what the call does not tell.
    pub fn moved(self, told: ToldBytes, is_root: bool, ranks: u64) -> [Option<u64>; 2] {
        use CollectiveOperation as Operation;
        let own = told.bytes;
        let of_all = own.map(|bytes| bytes.saturating_mul(ranks));
        let at_root = |amount: Option<u64>| if is_root { amount } else { Some(0) };
        let elsewhere = |amount: Option<u64>| if is_root { Some(0) } else { amount };
        match self {
            Operation::Barrier => [Some(0); 2],
            Operation::Bcast => [at_root(own), elsewhere(own)],
            Operation::Scatter => [at_root(of_all), own],
            Operation::Scatterv => [at_root(told.sent), own],
            Operation::Gather => [own, at_root(of_all)],
            Operation::Gatherv => [own, at_root(told.received)],
            Operation::Reduce => [own, at_root(own)],
            Operation::Allgather => [own, of_all],
            Operation::Alltoall => [of_all; 2],
            Operation::Allgatherv
            | Operation::Alltoallv
            | Operation::Alltoallw
            | Operation::ReduceScatter => [own, told.received],
            Operation::Allreduce | Operation::Scan | Operation::Exscan => [own; 2],
            Operation::ReduceScatterBlock => [of_all, own],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_collective_function_has_an_operation() {
        let table = crate::table().expect("table");
        let mut found = BTreeSet::new();
        for function in &table.functions {
            let operation = CollectiveOperation::of(function);
            let is_collective = matches!(
                function.class,
                Class::Collective | Class::Icollective | Class::CollectiveInit
            );
            let moves = is_collective && !function.name.contains("local");
            assert_eq!(operation.is_some(), moves, "{}", function.name);
            found.extend(operation);
            let has_root = function.first(crate::Kind::Root).is_some();
            assert!(
                operation.is_none_or(|operation| operation.has_root() == has_root),
                "{}",
                function.name
            );
        }
        assert_eq!(found.len(), 17);
    }

    /// Three ranks with the root 0: what all give is what all get, where data goes from rank to rank.
    #[test]
    fn what_ranks_give_is_what_ranks_get() {
        use CollectiveOperation as Operation;
        let table = crate::table().expect("table");
        let told = ToldBytes {
            bytes: Some(8),
            received: Some(8),
            sent: Some(24),
        };
        let mut operations: Vec<_> = (table.functions.iter())
            .filter_map(CollectiveOperation::of)
            .collect();
        operations.sort();
        operations.dedup();
        for operation in operations {
            let all = [true, false, false].map(|is_root| operation.moved(told, is_root, 3));
            let [given, got]: [u64; 2] =
                [0, 1].map(|side| all.iter().filter_map(|moved| moved[side]).sum());
            let expected = match operation {
                Operation::Barrier => (0, 0),
                // A copy for each other rank.
                Operation::Bcast => (8, 16),
                Operation::Gatherv => (24, 8),
                Operation::Reduce => (24, 8),
                Operation::Allgather => (24, 72),
                Operation::ReduceScatterBlock => (72, 24),
                Operation::Alltoall => (72, 72),
                _ => (24, 24),
            };
            assert_eq!((given, got), expected, "{operation:?}");
        }
        let [given, got] = Operation::Alltoallv.moved(
            ToldBytes {
                bytes: None,
                ..told
            },
            false,
            3,
        );
        assert_eq!((given, got), (None, Some(8)));
    }
}
