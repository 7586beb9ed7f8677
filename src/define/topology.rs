//! Topologies of communicators: whose data neighbourhood calls of this process get.

use crate::call::lengths;
use crate::mpi::constants::integers;
use crate::mpi::pmpi;
use crate::mpi::types::MPI_Comm;
use std::ffi::c_int;

/// Ranks in a communicator whose data neighbourhood calls of this process get, each once, in order; `None` if it has no topology.
///
/// Communicators that MPI_Comm_create_group makes of one with a topology have none. Open MPI 4.1 gives them that of the old one, whatever their
/// size: it then divides by zero in MPI_Cart_shift. So a topology that does not fit the communicator is none.
pub(super) fn sources(comm: MPI_Comm) -> Option<Vec<i32>> {
    let kind = lengths::topology(comm);
    let mut size = 0;
    // SAFETY: a valid communicator; a place for its size.
    unsafe { pmpi::MPI_Comm_size(comm, &mut size) };
    let mut sources = if kind == integers().cart {
        of_grid(comm, size)?
    } else if kind == integers().graph {
        of_graph(comm, size)?
    } else if kind == integers().dist_graph {
        of_distributed_graph(comm)
    } else {
        return None;
    };
    // At the edge of a grid stands MPI_PROC_NULL.
    sources.retain(|&rank| rank >= 0);
    if sources.iter().any(|&rank| rank >= size) {
        return None;
    }
    sources.sort_unstable();
    sources.dedup();
    Some(sources)
}

fn of_grid(comm: MPI_Comm, size: c_int) -> Option<Vec<c_int>> {
    let ndims = lengths::ndims(comm);
    let (mut dims, mut periods, mut coords) = (vec![0; ndims], vec![0; ndims], vec![0; ndims]);
    // SAFETY: a communicator with a grid of that many dimensions; the arrays have room for them.
    unsafe {
        pmpi::MPI_Cart_get(
            comm,
            ndims as c_int,
            dims.as_mut_ptr(),
            periods.as_mut_ptr(),
            coords.as_mut_ptr(),
        );
    }
    let times = |places: i64, &dim: &c_int| places.checked_mul(dim.into());
    if dims.iter().try_fold(1, times) != Some(size.into()) {
        return None;
    }
    let mut sources = Vec::new();
    for dimension in 0..ndims as c_int {
        let (mut below, mut above) = (-1, -1);
        // SAFETY: as above; places for two ranks.
        unsafe { pmpi::MPI_Cart_shift(comm, dimension, 1, &mut below, &mut above) };
        sources.extend([below, above]);
    }
    Some(sources)
}

fn of_graph(comm: MPI_Comm, size: c_int) -> Option<Vec<c_int>> {
    if lengths::nodes(comm) != size as usize {
        return None;
    }
    let mut rank = 0;
    // SAFETY: a valid communicator; a place for a rank.
    unsafe { pmpi::MPI_Comm_rank(comm, &mut rank) };
    let mut sources = vec![-1; lengths::degree(comm, rank)];
    // SAFETY: a communicator with a graph; the array has room for all neighbours.
    unsafe {
        pmpi::MPI_Graph_neighbors(comm, rank, sources.len() as c_int, sources.as_mut_ptr());
    }
    Some(sources)
}

fn of_distributed_graph(comm: MPI_Comm) -> Vec<c_int> {
    let mut sources = vec![-1; lengths::indegree(comm)];
    let mut destinations = vec![-1; lengths::outdegree(comm)];
    let mut weights = [vec![0; sources.len()], vec![0; destinations.len()]];
    let [source_weights, destination_weights] = &mut weights;
    // SAFETY: a communicator with a distributed graph; the arrays have room for all neighbours.
    unsafe {
        pmpi::MPI_Dist_graph_neighbors(
            comm,
            sources.len() as c_int,
            sources.as_mut_ptr(),
            source_weights.as_mut_ptr(),
            destinations.len() as c_int,
            destinations.as_mut_ptr(),
            destination_weights.as_mut_ptr(),
        );
    }
    sources
}
