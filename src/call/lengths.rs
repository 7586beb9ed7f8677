//! Lengths of arrays that no argument tells: asked of the communicator or datatype, through the MPI library's own
//! functions, which are not recorded. Names are those that the table uses.

use crate::call::arg::length;
use crate::call::envelope::TypeEnvelope;
use crate::mpi::constants;
use crate::mpi::pmpi;
use crate::mpi::types::{MPI_Comm, MPI_Datatype};
use std::ffi::c_int;

fn is_inter(comm: MPI_Comm) -> bool {
    let mut inter = 0;
    // SAFETY: a communicator that the program has just used.
    unsafe { pmpi::MPI_Comm_test_inter(comm, &mut inter) == 0 && inter != 0 }
}

/// Processes that take part on the other side: of an intercommunicator the remote group, else the group.
pub fn peers(comm: MPI_Comm) -> usize {
    let mut n = 0;
    // SAFETY: a communicator that the program has just used.
    unsafe {
        if is_inter(comm) {
            pmpi::MPI_Comm_remote_size(comm, &mut n);
        } else {
            pmpi::MPI_Comm_size(comm, &mut n);
        }
    }
    length(n.into())
}

/// Processes of the local group.
pub fn locals(comm: MPI_Comm) -> usize {
    let mut n = 0;
    // SAFETY: a communicator that the program has just used.
    unsafe { pmpi::MPI_Comm_size(comm, &mut n) };
    length(n.into())
}

/// Whether this process is the root of a collective.
pub fn at_root(comm: MPI_Comm, root: c_int) -> bool {
    if root == constants::integers().root {
        return true;
    }
    let mut rank = constants::integers().undefined;
    // SAFETY: a communicator that the program has just used.
    unsafe { pmpi::MPI_Comm_rank(comm, &mut rank) };
    rank == root && !is_inter(comm)
}

/// Kind of a communicator's topology: MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH, else MPI_UNDEFINED.
pub fn topology(comm: MPI_Comm) -> c_int {
    let mut kind = constants::integers().undefined;
    // SAFETY: a communicator that the program has just used.
    unsafe { pmpi::MPI_Topo_test(comm, &mut kind) };
    kind
}

/// Dimensions of a Cartesian topology.
pub fn ndims(comm: MPI_Comm) -> usize {
    let mut n = 0;
    if topology(comm) == constants::integers().cart {
        // SAFETY: as above; the topology is Cartesian.
        unsafe { pmpi::MPI_Cartdim_get(comm, &mut n) };
    }
    length(n.into())
}

fn graph(comm: MPI_Comm) -> (usize, usize) {
    let (mut nodes, mut edges) = (0, 0);
    if topology(comm) == constants::integers().graph {
        // SAFETY: as above; the topology is a graph.
        unsafe { pmpi::MPI_Graphdims_get(comm, &mut nodes, &mut edges) };
    }
    (length(nodes.into()), length(edges.into()))
}

/// Nodes of a graph topology.
pub fn nodes(comm: MPI_Comm) -> usize {
    graph(comm).0
}

/// Edges of a graph topology.
pub fn edges(comm: MPI_Comm) -> usize {
    graph(comm).1
}

/// Neighbours of a node of a graph topology.
pub fn degree(comm: MPI_Comm, rank: c_int) -> usize {
    let mut n = 0;
    if topology(comm) == constants::integers().graph {
        // SAFETY: as above.
        unsafe { pmpi::MPI_Graph_neighbors_count(comm, rank, &mut n) };
    }
    length(n.into())
}

fn neighbours(comm: MPI_Comm) -> (usize, usize) {
    let kind = topology(comm);
    if kind == constants::integers().cart {
        let n = 2 * ndims(comm);
        (n, n)
    } else if kind == constants::integers().graph {
        let mut rank = 0;
        // SAFETY: as above.
        unsafe { pmpi::MPI_Comm_rank(comm, &mut rank) };
        let n = degree(comm, rank);
        (n, n)
    } else if kind == constants::integers().dist_graph {
        let (mut sources, mut destinations, mut weighted) = (0, 0, 0);
        // SAFETY: as above.
        unsafe {
            pmpi::MPI_Dist_graph_neighbors_count(
                comm,
                &mut sources,
                &mut destinations,
                &mut weighted,
            );
        }
        (length(sources.into()), length(destinations.into()))
    } else {
        (0, 0)
    }
}

/// Neighbours that send to this process.
pub fn indegree(comm: MPI_Comm) -> usize {
    neighbours(comm).0
}

/// Neighbours that this process sends to.
pub fn outdegree(comm: MPI_Comm) -> usize {
    neighbours(comm).1
}

/// Integers of a datatype's constructor.
pub fn integers(datatype: MPI_Datatype) -> usize {
    TypeEnvelope::of(datatype).map_or(0, |envelope| envelope.ints as usize)
}

/// Addresses of a datatype's constructor.
pub fn addresses(datatype: MPI_Datatype) -> usize {
    TypeEnvelope::of(datatype).map_or(0, |envelope| envelope.addresses as usize)
}

/// Large counts of a datatype's constructor.
pub fn large_counts(datatype: MPI_Datatype) -> usize {
    TypeEnvelope::of(datatype).map_or(0, |envelope| envelope.counts as usize)
}

/// Datatypes of a datatype's constructor.
pub fn datatypes(datatype: MPI_Datatype) -> usize {
    TypeEnvelope::of(datatype).map_or(0, |envelope| envelope.types as usize)
}
