//! Bytes of collective calls on intracommunicators, by their arguments: what a rank sends and expects, and what is reduced and scattered.

use analysis::correctness::ExchangedBytes;
use blockfile::args::ArgValues;
use blockfile::record::Record;
use unify::comms::Communicator;
use unify::library::Library;
use unify::plan::FunctionPlan;
use wrappers::Function;

/// One side of a collective call, the sending or the receiving one: the places of its parameters.
struct ExchangeSide {
    counts: usize,
    types: usize,
    /// Whether there is a count for each rank.
    is_by_rank: bool,
    /// Whether only the root has this side.
    is_of_root: bool,
}

impl ExchangeSide {
    /// The side whose counts and datatypes have one of these names each; `None` if the function has none.
    fn of(function: &Function, counts: [&str; 2], types: [&str; 2]) -> Option<ExchangeSide> {
        let place = |[one, many]: [&str; 2]| function.param(one).or_else(|| function.param(many));
        let counts = place(counts)?;
        let parameter = function.params.get(counts)?;
        Some(ExchangeSide {
            counts,
            types: place(types)?,
            is_by_rank: parameter.len.is_some(),
            is_of_root: parameter.root_only,
        })
    }
}

/// A collective call that moves data from rank to rank.
struct ExchangeCall<'a> {
    arguments: &'a ArgValues<'a>,
    library: &'a Library,
    ranks: usize,
    /// Whether the function has a root.
    has_root: bool,
}

impl ExchangeCall<'_> {
    /// Bytes of a side that go to, or come from, the rank with this number in the communicator.
    fn part(&self, side: &ExchangeSide, rank: usize) -> Option<u64> {
        let count = match side.is_by_rank {
            true => self.arguments.array(side.counts)?.get(rank)?,
            false => self.arguments.int(side.counts)?,
        };
        let datatype = match self.arguments.array(side.types) {
            Some(list) => list.get(rank)? as u64,
            None => self.arguments.handle(side.types)?,
        };
        let count = u64::try_from(count).ok()?;
        if count == 0 {
            return Some(0);
        }
        count.checked_mul(self.library.type_size(datatype)?)
    }

    /// Bytes of a side that go to, or come from, all ranks.
    fn all(&self, side: &ExchangeSide) -> Option<u64> {
        if side.is_by_rank {
            return (0..self.ranks)
                .try_fold(0, |all: u64, rank| all.checked_add(self.part(side, rank)?));
        }
        // A side of all ranks has one part in a function with a root.
        let parts = match self.has_root && !side.is_of_root {
            true => 1,
            false => self.ranks as u64,
        };
        self.part(side, 0)?.checked_mul(parts)
    }
}

/// Bytes that a rank sends and expects in a call of a collective function on an intracommunicator. `root` is the rank that it names as
/// root. `None` for functions that move no data from rank to rank, and where sizes or the root are not known.
pub fn exchanged_bytes(
    function: &Function,
    plan: &FunctionPlan<'_>,
    record: &Record<'_>,
    library: &Library,
    comm: &Communicator,
    root: Option<i64>,
) -> Option<ExchangedBytes> {
    let send = ExchangeSide::of(
        function,
        ["sendcount", "sendcounts"],
        ["sendtype", "sendtypes"],
    )?;
    let receive = ExchangeSide::of(
        function,
        ["recvcount", "recvcounts"],
        ["recvtype", "recvtypes"],
    )?;
    let call = ExchangeCall {
        arguments: &plan.decode(record.payload)?,
        library,
        ranks: comm.members.len(),
        has_root: plan.root.is_some(),
    };
    let own = usize::try_from(comm.rank).ok()?;
    let is_root = call.has_root && root? == i64::from(comm.rank);
    let has = |side: &ExchangeSide| !side.is_of_root || is_root;
    if !record.in_place {
        let bytes = |side| if has(side) { call.all(side) } else { Some(0) };
        return Some(ExchangedBytes {
            sent: bytes(&send)?,
            expected: bytes(&receive)?,
        });
    }
    if call.has_root {
        // The root's own part is not moved: one side is not there, and the other has that part for nobody.
        let side = if send.is_of_root { &send } else { &receive };
        let moved = call.all(side)?.checked_sub(call.part(side, own)?)?;
        return Some(match send.is_of_root {
            true => ExchangedBytes {
                sent: moved,
                expected: 0,
            },
            false => ExchangedBytes {
                sent: 0,
                expected: moved,
            },
        });
    }
    // Only the receiving side counts. What a rank sends to all is its own part of it.
    let expected = call.all(&receive)?;
    let sent = match send.is_by_rank {
        true => expected,
        false => call
            .part(&receive, own)?
            .checked_mul(comm.members.len() as u64)?,
    };
    Some(ExchangedBytes { sent, expected })
}

/// Bytes that are reduced in a call with a count of elements for each rank (MPI_Reduce_scatter), which must be the same on all ranks. `None`
/// for other functions, and where the size is not known.
pub fn scattered_bytes(
    function: &Function,
    plan: &FunctionPlan<'_>,
    payload: &[u8],
    library: &Library,
) -> Option<u64> {
    let (counts, datatype) = (function.param("recvcounts")?, function.param("datatype")?);
    let arguments = plan.decode(payload)?;
    let counts = arguments.array(counts)?;
    let datatype = arguments.handle(datatype)?;
    let count = counts.ints().try_fold(0, |all: u64, count| {
        all.checked_add(u64::try_from(count).ok()?)
    })?;
    count.checked_mul(library.type_size(datatype)?)
}
