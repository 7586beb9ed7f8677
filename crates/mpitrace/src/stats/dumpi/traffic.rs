//! How many bytes a call sends and receives, as dumpistats counts them: by its arguments, not by what arrived.

use super::comms::Rank;
use trace_formats::dumpi::functions::MAX_FIELDS;
use trace_formats::dumpi::types::Record;
use trace_formats::dumpi::value::{Arg, Ints};

/// Bytes of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    pub sent: i64,
    pub received: i64,
    /// Of a message, the rank in MPI_COMM_WORLD that it goes to.
    pub to: Option<i32>,
}

/// The arguments of a record by name.
struct Fields<'a> {
    record: &'a Record<'a>,
    values: [Arg<'a>; MAX_FIELDS],
    sizes: &'a [i32],
}

impl<'a> Fields<'a> {
    fn new(record: &'a Record<'a>, sizes: &'a [i32]) -> Self {
        let mut values = [Arg::Absent; MAX_FIELDS];
        for (value, (_, arg)) in values.iter_mut().zip(record.args()) {
            *value = arg;
        }
        Fields {
            record,
            values,
            sizes,
        }
    }

    fn get(&self, name: &str) -> Arg<'a> {
        let fields = self.record.function.fields();
        let found = fields.iter().zip(self.values);
        let mut found = found.filter(|(field, _)| field.name == name);
        found.next().map_or(Arg::Absent, |(_, value)| value)
    }

    fn int(&self, name: &str) -> i32 {
        match self.get(name) {
            Arg::Int(value) => value,
            _ => 0,
        }
    }

    fn size_of(&self, datatype: i32) -> i64 {
        let at = usize::try_from(datatype).ok();
        at.and_then(|at| self.sizes.get(at))
            .map_or(0, |&size| size.into())
    }

    /// Bytes of a count of a datatype.
    fn bytes(&self, count: &str, datatype: &str) -> i64 {
        i64::from(self.int(count)) * self.size_of(self.int(datatype))
    }

    fn ints(&self, name: &str) -> impl Iterator<Item = i64> + use<'a> {
        let ints = match self.get(name) {
            Arg::Ints(values) => Some(values),
            _ => None,
        };
        ints.into_iter()
            .flat_map(|ints: Ints<'a>| ints.iter())
            .map(i64::from)
    }

    /// Bytes of a list of counts of one datatype.
    fn sum(&self, counts: &str, datatype: &str) -> i64 {
        self.ints(counts).sum::<i64>() * self.size_of(self.int(datatype))
    }

    /// Bytes of a list of counts, each of a datatype of its own.
    fn sum_each(&self, counts: &str, datatypes: &str) -> i64 {
        let Arg::Handles(types) = self.get(datatypes) else {
            return 0;
        };
        let types = types.iter().map(|datatype| self.size_of(datatype.into()));
        self.ints(counts)
            .zip(types)
            .map(|(count, size)| count * size)
            .sum()
    }
}

/// The bytes of a call; `None` for functions that are not counted, `Some(Err)` for a call whose communicator cannot be
/// followed.
pub fn traffic(record: &Record<'_>, sizes: &[i32], rank: &Rank<'_>) -> Option<Result<Traffic, ()>> {
    let id = record.function.id;
    if !matches!(id, 0 | 1 | 3..=5 | 8..=12 | 26..=30 | 33 | 34 | 53..=62 | 65..=67 | 155 | 156) {
        return None;
    }
    let fields = Fields::new(record, sizes);
    let comm = rank.comm(fields.int("comm"));
    let own = || comm.map(|comm| comm.own_rank).ok_or(());
    let ranks = || comm.map(|comm| i64::from(comm.size)).ok_or(());
    let is_root = || {
        let own = match fields.get("commrank") {
            Arg::Int(rank) => Ok(rank),
            _ => own(),
        };
        own.map(|rank| rank == fields.int("root"))
    };
    let counted = || -> Result<(i64, i64), ()> {
        let each = fields.bytes("count", "datatype");
        Ok(match id {
            1 | 12 | 30 => (0, each),
            0 | 3..=5 | 8..=11 | 26..=29 => (each, 0),
            33 => (
                fields.bytes("sendcount", "sendtype"),
                fields.bytes("recvcount", "recvtype"),
            ),
            34 => (each, each),
            53 if is_root()? => (each, 0),
            53 => (0, each),
            54 => {
                let at_root = is_root()?;
                let all = match at_root {
                    true => fields.bytes("recvcount", "recvtype") * ranks()?,
                    false => 0,
                };
                (fields.bytes("sendcount", "sendtype"), all)
            }
            55 => (
                fields.bytes("sendcount", "sendtype"),
                fields.sum("recvcounts", "recvtype"),
            ),
            56 => {
                let all = match is_root()? {
                    true => fields.bytes("sendcount", "sendtype") * ranks()?,
                    false => 0,
                };
                (all, fields.bytes("recvcount", "recvtype"))
            }
            57 => (
                fields.sum("sendcounts", "sendtype"),
                fields.bytes("recvcount", "recvtype"),
            ),
            58 => (
                fields.bytes("sendcount", "sendtype"),
                fields.bytes("recvcount", "recvtype"),
            ),
            59 => (
                fields.bytes("sendcount", "sendtype"),
                fields.sum("recvcounts", "recvtype"),
            ),
            60 => (
                fields.bytes("sendcount", "sendtype") * ranks()?,
                fields.bytes("recvcount", "recvtype") * ranks()?,
            ),
            61 => (
                fields.sum("sendcounts", "sendtype"),
                fields.sum("recvcounts", "recvtype"),
            ),
            155 => (
                fields.sum_each("sendcounts", "sendtypes"),
                fields.sum_each("recvcounts", "recvtypes"),
            ),
            62 if is_root()? => (each, each * ranks()?),
            62 => (each, 0),
            65 => (each, each),
            66 => {
                let all = fields.sum("recvcounts", "datatype");
                (all, all)
            }
            // 67 and 156
            _ => {
                let (own, last) = (own()?, ranks()? - 1);
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
    };
    Some(counted().and_then(|(sent, received)| {
        let to = match fields.get("dest") {
            Arg::Int(dest) if dest >= 0 => Some(comm.and_then(|c| c.world_rank(dest)).ok_or(())?),
            _ => None,
        };
        Ok(Traffic { sent, received, to })
    }))
}
