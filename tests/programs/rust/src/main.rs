//! Calls of MPI through rsmpi, and through mpi-sys below it. The test knows how many of each kind `main` makes.

use mpi::collective::SystemOperation;
use mpi::ffi::{MPI_Barrier, RSMPI_COMM_WORLD};
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};

fn main() {
    let universe = mpi::initialize().expect("the first in this process");
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let (next, prev) = ((rank + 1) % size, (rank + size - 1) % size);
    for round in 0..5 {
        let value = rank * 10 + round;
        let mut got = -1;
        if rank == 0 {
            world.process_at_rank(next).send_with_tag(&value, round);
            world
                .process_at_rank(prev)
                .receive_into_with_tag(&mut got, round);
        } else {
            world
                .process_at_rank(prev)
                .receive_into_with_tag(&mut got, round);
            world.process_at_rank(next).send_with_tag(&value, round);
        }
        assert_eq!(got, prev * 10 + round);
    }
    let mut sum = 0;
    world.all_reduce_into(&rank, &mut sum, SystemOperation::sum());
    assert_eq!(sum, size * (size - 1) / 2);
    for _ in 0..3 {
        // SAFETY: MPI is initialised, and all ranks come here.
        unsafe { MPI_Barrier(RSMPI_COMM_WORLD) };
    }
    if rank == 0 {
        println!("ok");
    }
}
