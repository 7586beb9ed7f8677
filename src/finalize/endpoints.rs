//! Message matching for the picture: which messages lack one endpoint, where filters left one of their calls out or only the newest calls were kept. Each rank counts
//! those that it has on each channel, the counts go up the tree in the order of the channels, and which of them are drawn comes
//! down again.

use super::tree_merge::{self, MergeRecords, RecordSink};
use crate::exchange::failure::ExchangeFailure;
use crate::exchange::line::Exchange;
use crate::exchange::spread::spread;
use crate::mpi::world::World;
use merge::stream::MergeStream;
use unify::endpoints::{DrawnEndpoints, EndpointComparison, EndpointItem, EndpointSelection};

/// Records about channels.
struct ChannelRecords;

impl MergeRecords for ChannelRecords {
    const TAG: i32 = 779;
    type Key = Option<EndpointItem>;

    fn size(rest: &[u8]) -> usize {
        if rest.len() < EndpointItem::SIZE {
            0
        } else {
            EndpointItem::SIZE
        }
    }

    fn key(record: &[u8]) -> Option<EndpointItem> {
        EndpointItem::decode(record)
    }
}

/// The two sides of each channel, at rank 0.
struct ChannelComparison(EndpointComparison);

impl RecordSink for ChannelComparison {
    fn record(&mut self, bytes: &[u8]) -> Result<(), ExchangeFailure> {
        self.0
            .take(EndpointItem::decode(bytes).ok_or(ExchangeFailure::Nonsense(0))?);
        Ok(())
    }
}

/// The messages that are drawn, and on rank 0 the number of endpoints that are not. `all` gives this rank's records with all of
/// them. Collective.
pub fn agree(
    line: &Exchange,
    world: &World,
    all: MergeStream<'_>,
) -> Result<(DrawnEndpoints, u64), ExchangeFailure> {
    let mut own = all.count().items().into_iter();
    let next = |buffer: &mut Vec<u8>| {
        buffer.clear();
        if let Some(item) = own.next() {
            buffer.extend_from_slice(&item.encode());
        }
    };
    let own = tree_merge::EncodedRecords::<ChannelRecords, _>::new(next);
    // Whoever is here is in MPI_Finalize.
    let mut whole = ChannelComparison(EndpointComparison::new(true));
    tree_merge::take_part::<ChannelRecords>(line, world.rank, world.size, own, &mut whole)?;
    let (answer, left_out) = whole.0.finish();
    let message: Vec<u8> = answer.into_iter().flat_map(EndpointItem::encode).collect();
    let message = spread(line, world.rank, world.size, message)?;
    let items = message
        .chunks_exact(EndpointItem::SIZE)
        .map_while(EndpointItem::decode);
    Ok((
        DrawnEndpoints::Selected(EndpointSelection::new(items, left_out)),
        left_out,
    ))
}
