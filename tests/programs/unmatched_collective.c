/* Rank 0 begins a barrier that no other rank makes, and does not complete it: a fault of the program, which MPICH lets pass. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Request request;
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        printf("done\n");
    }
    MPI_Finalize();
    return 0;
}
