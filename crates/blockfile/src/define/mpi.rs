//! Definitions of MPI's handles: communicators, datatypes, predefined handles.

use crate::args::ByteCursor;
use crate::payload::{put_text, put_u32, put_u64, text};

/// Kind of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommDefinitionKind {
    /// Intracommunicator.
    Intra,
    /// Intercommunicator.
    Inter,
}

/// Creation of a communicator. It distinguishes communicators with equal members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum CommCreation {
    /// MPI_COMM_WORLD.
    World = 0,
    /// MPI_COMM_SELF.
    SelfComm = 1,
    /// Made collectively from a parent communicator (dup, split, create, cart, graph, merge …).
    Parent = 2,
    /// Made from a group or from leaders, without one parent all members name (create_group, intercomm_create, sessions).
    Members = 3,
    /// Connects to processes outside MPI_COMM_WORLD (spawn, accept, connect, join, get_parent).
    Outside = 4,
}

impl CommCreation {
    fn from_u32(n: u32) -> Option<CommCreation> {
        [
            CommCreation::World,
            CommCreation::SelfComm,
            CommCreation::Parent,
            CommCreation::Members,
            CommCreation::Outside,
        ]
        .into_iter()
        .find(|&o| o as u32 == n)
    }
}

/// A communicator, as the process saw it when it got the handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommDefinition {
    /// Raw handle.
    pub handle: u64,
    /// Raw handle of the communicator it was made from (0 where there is none).
    pub parent: u64,
    /// Intra or inter.
    pub kind: CommDefinitionKind,
    /// Creation of the communicator.
    pub origin: CommCreation,
    /// Rank of this process in it (in the local group).
    pub rank: i32,
    /// World ranks of its (local) members in order; −1 for processes outside MPI_COMM_WORLD.
    pub members: Vec<i32>,
    /// World ranks of the remote group's members; empty for an intracommunicator.
    pub remote: Vec<i32>,
}

impl CommDefinition {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_u64(out, self.handle);
        put_u64(out, self.parent);
        put_u32(out, u32::from(self.kind == CommDefinitionKind::Inter));
        put_u32(out, self.origin as u32);
        put_u32(out, self.rank as u32);
        put_ranks(out, &self.members);
        put_ranks(out, &self.remote);
    }

    pub(super) fn decode(b: &mut ByteCursor<'_>) -> Option<CommDefinition> {
        Some(CommDefinition {
            handle: b.u64()?,
            parent: b.u64()?,
            kind: if b.u32()? == 0 {
                CommDefinitionKind::Intra
            } else {
                CommDefinitionKind::Inter
            },
            origin: CommCreation::from_u32(b.u32()?)?,
            rank: b.i32()?,
            members: ranks(b)?,
            remote: ranks(b)?,
        })
    }
}

/// Neighbours of this process in the topology of a communicator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbours {
    /// Raw handle of the communicator.
    pub comm: u64,
    /// Ranks in it whose data neighbourhood calls of this process get, each once, in order.
    pub sources: Vec<i32>,
}

impl Neighbours {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_u64(out, self.comm);
        put_ranks(out, &self.sources);
    }

    pub(super) fn decode(b: &mut ByteCursor<'_>) -> Option<Neighbours> {
        Some(Neighbours {
            comm: b.u64()?,
            sources: ranks(b)?,
        })
    }
}

/// Maximum number of members of a communicator. A definition with more is damage.
const MAX_COMM_RANKS: usize = 1 << 24;

pub(super) fn ranks(b: &mut ByteCursor<'_>) -> Option<Vec<i32>> {
    // Runs of (first, count, stride), because most communicators are regular.
    let runs = b.u32()?;
    let mut all = Vec::new();
    for _ in 0..runs {
        let (first, count, stride) = (b.i32()?, b.u32()?, b.i32()?);
        if all.len() + count as usize > MAX_COMM_RANKS {
            return None;
        }
        all.extend((0..count as i32).map(|i| first.wrapping_add(i.wrapping_mul(stride))));
    }
    Some(all)
}

pub(super) fn put_ranks(out: &mut Vec<u8>, ranks: &[i32]) {
    let mut runs: Vec<(i32, u32, i32)> = Vec::new();
    for &r in ranks {
        match runs.last_mut() {
            Some((first, count @ 1, stride)) => {
                *stride = r.wrapping_sub(*first);
                *count = 2;
            }
            Some((first, count, stride))
                if first.wrapping_add(stride.wrapping_mul(*count as i32)) == r =>
            {
                *count += 1;
            }
            _ => runs.push((r, 1, 1)),
        }
    }
    put_u32(out, runs.len() as u32);
    for (first, count, stride) in runs {
        put_u32(out, first as u32);
        put_u32(out, count);
        put_u32(out, stride as u32);
    }
}

/// A datatype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatatypeDefinition {
    /// Raw handle.
    pub handle: u64,
    /// MPI_Type_size, bytes; −1 if it does not fit.
    pub size: i64,
    /// MPI_Type_get_extent, bytes.
    pub extent: i64,
    /// Name of a predefined type, else empty.
    pub name: String,
}

impl DatatypeDefinition {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_u64(out, self.handle);
        put_u64(out, self.size as u64);
        put_u64(out, self.extent as u64);
        put_text(out, &self.name);
    }

    pub(super) fn decode(b: &mut ByteCursor<'_>) -> Option<DatatypeDefinition> {
        Some(DatatypeDefinition {
            handle: b.u64()?,
            size: b.i64()?,
            extent: b.i64()?,
            name: text(b)?,
        })
    }
}

/// A handle that the MPI library defines, by its name in `mpi.h` (`MPI_COMM_WORLD`, `MPI_SUM`, …).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredefinedHandle {
    /// Raw handle.
    pub handle: u64,
    /// Name.
    pub name: String,
}

impl PredefinedHandle {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_u64(out, self.handle);
        put_text(out, &self.name);
    }

    pub(super) fn decode(b: &mut ByteCursor<'_>) -> Option<PredefinedHandle> {
        Some(PredefinedHandle {
            handle: b.u64()?,
            name: text(b)?,
        })
    }
}
