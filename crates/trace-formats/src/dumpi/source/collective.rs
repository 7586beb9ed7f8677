//! Bytes of collective calls, told as infos of SLOG2 files tell them: by what a rank passes.

use super::super::functions::{DumpiFunction, MAX_FIELDS};
use super::super::value::FieldValue;
use wrappers::{CollectiveOperation, ToldBytes};

/// Where the counts and datatypes of a collective function are among its fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct CollectiveFields {
    operation: CollectiveOperation,
    /// The caller's rank, in functions that have fields of the root alone.
    rank: Option<usize>,
    /// Count and datatype of what the rank passes, or of what it gets where it passes nothing.
    own: [Option<usize>; 2],
    /// Count and datatype of what the rank gives to each other or gets from it; both of one rank, or counts for each.
    sent: [Option<usize>; 2],
    received: [Option<usize>; 2],
}

impl CollectiveFields {
    /// The fields of a function; `None` if it is no collective operation that moves data.
    pub(super) fn of(function: &DumpiFunction) -> Option<Self> {
        let table = wrappers::table().ok()?;
        let operation = CollectiveOperation::of(table.get(function.name)?)?;
        let fields = function.fields();
        let at = |name: &str| fields.iter().position(|field| field.name == name);
        let first = |names: [&str; 2]| names.into_iter().find_map(at);
        (operation != CollectiveOperation::Barrier).then(|| CollectiveFields {
            operation,
            rank: at("commrank"),
            own: [at("count"), at("datatype")],
            sent: [
                first(["sendcount", "sendcounts"]),
                first(["sendtype", "sendtypes"]),
            ],
            received: [
                first(["recvcount", "recvcounts"]),
                first(["recvtype", "recvtypes"]).or(at("datatype")),
            ],
        })
    }

    /// Whether calls tell what a rank gets, by its counts for each rank.
    pub(super) fn tells_received(self) -> bool {
        use CollectiveOperation as Operation;
        matches!(
            self.operation,
            Operation::Gatherv
                | Operation::Allgatherv
                | Operation::Alltoallv
                | Operation::Alltoallw
                | Operation::ReduceScatter
        )
    }

    /// Whether calls tell what a root gives, by its counts for each rank.
    pub(super) fn tells_sent(self) -> bool {
        self.operation == CollectiveOperation::Scatterv
    }

    /// What a call tells. `own_rank` is that of the caller in the communicator, if it is known.
    pub(super) fn told(
        self,
        args: &[FieldValue<'_>; MAX_FIELDS],
        own_rank: Option<i32>,
        sizes: &[i32],
    ) -> ToldBytes {
        use CollectiveOperation as Operation;
        let rank = self.rank.and_then(|at| number(&args[at])).or(own_rank);
        let rank = rank.and_then(|rank| usize::try_from(rank).ok());
        let amounts = |fields: [Option<usize>; 2]| amounts(args, fields, sizes);
        let sum = |fields| amounts(fields).map(|all| all.into_iter().fold(0, u64::saturating_add));
        let one = |fields| match amounts(fields)?.as_slice() {
            [amount] => Some(*amount),
            _ => None,
        };
        let of_rank = |fields| amounts(fields)?.get(rank?).copied();
        // With MPI_IN_PLACE the count on its side may be 0, and that on the other side counts.
        let either = |a: Option<u64>, b: Option<u64>| a.filter(|&bytes| bytes > 0).or(b).or(a);
        let (sent, received) = (self.sent, self.received);
        match self.operation {
            Operation::Gather | Operation::Allgather | Operation::Alltoall => ToldBytes {
                bytes: either(one(sent), one(received)),
                ..ToldBytes::default()
            },
            Operation::Scatter => ToldBytes {
                bytes: either(one(received), one(sent)),
                ..ToldBytes::default()
            },
            Operation::Gatherv | Operation::Allgatherv => ToldBytes {
                bytes: either(one(sent), of_rank(received)),
                received: sum(received),
                sent: None,
            },
            Operation::Scatterv => ToldBytes {
                bytes: either(one(received), of_rank(sent)),
                received: None,
                sent: sum(sent),
            },
            Operation::Alltoallv | Operation::Alltoallw => ToldBytes {
                bytes: sum(sent).or(sum(received)),
                received: sum(received),
                sent: None,
            },
            Operation::ReduceScatter => ToldBytes {
                bytes: sum(received),
                received: of_rank(received),
                sent: None,
            },
            _ => ToldBytes {
                bytes: one(self.own),
                ..ToldBytes::default()
            },
        }
    }
}

fn number(value: &FieldValue<'_>) -> Option<i32> {
    match *value {
        FieldValue::Int(number) => Some(number),
        _ => None,
    }
}

/// Bytes of a count, or of each of several; `None` if the record does not have it, as off the root.
fn amounts(
    args: &[FieldValue<'_>; MAX_FIELDS],
    [counts, datatypes]: [Option<usize>; 2],
    sizes: &[i32],
) -> Option<Vec<u64>> {
    let (counts, datatypes) = (args[counts?], args[datatypes?]);
    let amount = |count, datatype| u64::try_from(bytes(count, datatype, sizes)).unwrap_or(0);
    match (counts, datatypes) {
        (FieldValue::Int(count), FieldValue::Int(datatype)) => Some(vec![amount(count, datatype)]),
        (FieldValue::Ints(counts), FieldValue::Int(datatype)) => {
            let all: Vec<u64> = counts.iter().map(|count| amount(count, datatype)).collect();
            (!all.is_empty()).then_some(all)
        }
        (FieldValue::Ints(counts), FieldValue::Handles(datatypes)) => {
            let pairs = counts.iter().zip(datatypes.iter());
            let all: Vec<u64> = pairs
                .map(|(count, datatype)| amount(count, datatype.into()))
                .collect();
            (!all.is_empty()).then_some(all)
        }
        _ => None,
    }
}

/// Bytes of so many elements of a datatype.
pub(super) fn bytes(count: i32, datatype: i32, sizes: &[i32]) -> i64 {
    let size = usize::try_from(datatype).ok().and_then(|i| sizes.get(i));
    i64::from(count) * i64::from(size.copied().unwrap_or(0))
}
