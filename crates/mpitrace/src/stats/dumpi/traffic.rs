//! Bytes that a call sends and receives, as dumpistats counts them: by its arguments, not by what arrived.

use super::comms::{MemberComm, RankComms};
use trace_formats::dumpi::functions::MAX_FIELDS;
use trace_formats::dumpi::ids;
use trace_formats::dumpi::types::DumpiRecord;
use trace_formats::dumpi::value::{FieldValue, IntList};

/// Bytes of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    pub sent: i64,
    pub received: i64,
    /// Rank in MPI_COMM_WORLD that a message goes to.
    pub to: Option<i32>,
}

/// The arguments of a record by name.
struct RecordFields<'a> {
    record: &'a DumpiRecord<'a>,
    values: [FieldValue<'a>; MAX_FIELDS],
    sizes: &'a [i32],
    comm: Option<MemberComm<'a>>,
}

impl<'a> RecordFields<'a> {
    fn new(record: &'a DumpiRecord<'a>, sizes: &'a [i32]) -> Self {
        RecordFields {
            record,
            values: record.arg_array(),
            sizes,
            comm: None,
        }
    }

    fn get(&self, name: &str) -> FieldValue<'a> {
        let fields = self.record.function.fields();
        let found = fields.iter().zip(self.values);
        let mut found = found.filter(|(field, _)| field.name == name);
        found.next().map_or(FieldValue::Absent, |(_, value)| value)
    }

    fn int(&self, name: &str) -> i32 {
        match self.get(name) {
            FieldValue::Int(value) => value,
            _ => 0,
        }
    }

    fn size_of(&self, datatype: i32) -> i64 {
        let at = usize::try_from(datatype).ok();
        at.and_then(|at| self.sizes.get(at))
            .map_or(0, |&size| size.into())
    }

    /// Bytes of a count of a datatype for each rank of the communicator; an error if that cannot be followed.
    fn bytes_of_all(&self, count: &str, datatype: &str) -> Result<i64, ()> {
        Ok(self.bytes(count, datatype).saturating_mul(self.ranks()?))
    }

    /// Bytes of a count of a datatype.
    fn bytes(&self, count: &str, datatype: &str) -> i64 {
        i64::from(self.int(count)).saturating_mul(self.size_of(self.int(datatype)))
    }

    fn ints(&self, name: &str) -> impl Iterator<Item = i64> + use<'a> {
        let ints = match self.get(name) {
            FieldValue::Ints(values) => Some(values),
            _ => None,
        };
        ints.into_iter()
            .flat_map(|ints: IntList<'a>| ints.iter())
            .map(i64::from)
    }

    /// Bytes of a list of counts of one datatype.
    fn sum(&self, counts: &str, datatype: &str) -> i64 {
        let count = self.ints(counts).fold(0, i64::saturating_add);
        count.saturating_mul(self.size_of(self.int(datatype)))
    }

    /// Bytes of a list of counts, each of a datatype of its own.
    fn sum_each(&self, counts: &str, datatypes: &str) -> i64 {
        let FieldValue::Handles(types) = self.get(datatypes) else {
            return 0;
        };
        let types = types.iter().map(|datatype| self.size_of(datatype.into()));
        self.ints(counts)
            .zip(types)
            .map(|(count, size)| count.saturating_mul(size))
            .fold(0, i64::saturating_add)
    }

    /// Own rank in the communicator; an error if the communicator cannot be followed.
    fn own_rank(&self) -> Result<i32, ()> {
        let rank = self.comm.map(|comm| i32::try_from(comm.own_rank));
        rank.and_then(Result::ok).ok_or(())
    }

    /// Ranks of the communicator; an error if the communicator cannot be followed.
    fn ranks(&self) -> Result<i64, ()> {
        self.comm.map(|comm| i64::from(comm.size)).ok_or(())
    }

    /// Whether this rank is the root of a collective call.
    fn is_root(&self) -> Result<bool, ()> {
        let own = match self.get("commrank") {
            FieldValue::Int(rank) => Ok(rank),
            _ => self.own_rank(),
        };
        own.map(|rank| rank == self.int("root"))
    }

    /// Bytes sent and received by one of the functions of [`is_counted`].
    fn sent_and_received(&self) -> Result<(i64, i64), ()> {
        let id = self.record.function.id;
        let each = self.bytes("count", "datatype");
        Ok(match id {
            ids::RECV | ids::IRECV | ids::RECV_INIT => (0, each),
            ids::SEND
            | ids::BSEND
            | ids::SSEND
            | ids::RSEND
            | ids::ISEND
            | ids::IBSEND
            | ids::ISSEND
            | ids::IRSEND
            | ids::SEND_INIT
            | ids::BSEND_INIT
            | ids::SSEND_INIT
            | ids::RSEND_INIT => (each, 0),
            ids::SENDRECV => (
                self.bytes("sendcount", "sendtype"),
                self.bytes("recvcount", "recvtype"),
            ),
            ids::SENDRECV_REPLACE => (each, each),
            ids::BCAST if self.is_root()? => (each, 0),
            ids::BCAST => (0, each),
            ids::GATHER => {
                let at_root = self.is_root()?;
                let all = match at_root {
                    true => self.bytes_of_all("recvcount", "recvtype")?,
                    false => 0,
                };
                (self.bytes("sendcount", "sendtype"), all)
            }
            ids::GATHERV => (
                self.bytes("sendcount", "sendtype"),
                self.sum("recvcounts", "recvtype"),
            ),
            ids::SCATTER => {
                let all = match self.is_root()? {
                    true => self.bytes_of_all("sendcount", "sendtype")?,
                    false => 0,
                };
                (all, self.bytes("recvcount", "recvtype"))
            }
            ids::SCATTERV => (
                self.sum("sendcounts", "sendtype"),
                self.bytes("recvcount", "recvtype"),
            ),
            ids::ALLGATHER => (
                self.bytes("sendcount", "sendtype"),
                self.bytes("recvcount", "recvtype"),
            ),
            ids::ALLGATHERV => (
                self.bytes("sendcount", "sendtype"),
                self.sum("recvcounts", "recvtype"),
            ),
            ids::ALLTOALL => (
                self.bytes_of_all("sendcount", "sendtype")?,
                self.bytes_of_all("recvcount", "recvtype")?,
            ),
            ids::ALLTOALLV => (
                self.sum("sendcounts", "sendtype"),
                self.sum("recvcounts", "recvtype"),
            ),
            ids::ALLTOALLW => (
                self.sum_each("sendcounts", "sendtypes"),
                self.sum_each("recvcounts", "recvtypes"),
            ),
            ids::REDUCE if self.is_root()? => (each, each.saturating_mul(self.ranks()?)),
            ids::REDUCE => (each, 0),
            ids::ALLREDUCE => (each, each),
            ids::REDUCE_SCATTER => {
                let all = self.sum("recvcounts", "datatype");
                (all, all)
            }
            // Scan, Exscan
            _ => {
                let (own, last) = (self.own_rank()?, self.ranks()? - 1);
                // A rank that is alone counts as the first one.
                let sent = if i64::from(own) == last && own > 0 {
                    0
                } else {
                    each
                };
                let received = if own == 0 { 0 } else { each };
                (sent, received)
            }
        })
    }
}

/// Whether dumpistats counts the bytes of this function.
fn is_counted(id: u16) -> bool {
    matches!(
        id,
        ids::SEND
            | ids::RECV
            | ids::BSEND
            | ids::SSEND
            | ids::RSEND
            | ids::ISEND
            | ids::IBSEND
            | ids::ISSEND
            | ids::IRSEND
            | ids::IRECV
            | ids::SEND_INIT
            | ids::BSEND_INIT
            | ids::SSEND_INIT
            | ids::RSEND_INIT
            | ids::RECV_INIT
            | ids::SENDRECV
            | ids::SENDRECV_REPLACE
            | ids::BCAST
            | ids::GATHER
            | ids::GATHERV
            | ids::SCATTER
            | ids::SCATTERV
            | ids::ALLGATHER
            | ids::ALLGATHERV
            | ids::ALLTOALL
            | ids::ALLTOALLV
            | ids::REDUCE
            | ids::ALLREDUCE
            | ids::REDUCE_SCATTER
            | ids::SCAN
            | ids::ALLTOALLW
            | ids::EXSCAN
    )
}

/// The bytes of a call; `None` for functions that are not counted, `Some(Err)` for a call whose communicator cannot be
/// followed.
pub fn traffic(
    record: &DumpiRecord<'_>,
    sizes: &[i32],
    rank: &RankComms<'_>,
) -> Option<Result<Traffic, ()>> {
    if !is_counted(record.function.id) {
        return None;
    }
    let mut fields = RecordFields::new(record, sizes);
    fields.comm = rank.comm(fields.int("comm"));
    Some(fields.sent_and_received().and_then(|(sent, received)| {
        let world = |dest| fields.comm.and_then(|comm| comm.world_rank(dest)).ok_or(());
        let to = match fields.get("dest") {
            FieldValue::Int(dest) if dest >= 0 => Some(world(dest)?),
            _ => None,
        };
        Ok(Traffic { sent, received, to })
    }))
}
