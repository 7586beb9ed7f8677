/* Rank 0 begins a collective operation that no other rank begins, and does not complete it: a fault of the program, which MPI lets pass.
 * The argument names the operation. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    int rank, number = 7, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Request request;
        if (strcmp(name, "MPI_Ibarrier") == 0)
            MPI_Ibarrier(MPI_COMM_WORLD, &request);
        else if (strcmp(name, "MPI_Ibcast") == 0)
            MPI_Ibcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
        else if (strcmp(name, "MPI_Ireduce") == 0)
            MPI_Ireduce(&number, &sum, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD, &request);
        else if (strcmp(name, "MPI_Bcast") == 0)
            MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
        printf("done\n");
    }
    MPI_Finalize();
    return 0;
}
