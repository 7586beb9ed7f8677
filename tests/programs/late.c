/* One rank never comes to MPI_Finalize in time: the others must not wait for it longer than the deadline says. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        sleep(4);
    MPI_Finalize();
    if (rank == 0)
        puts("ok");
    return 0;
}
