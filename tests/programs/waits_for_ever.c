/* Each rank makes a file RANK.waits in the folder where it runs, and then waits for a message that nobody sends. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, value;
    char name[32];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(name, sizeof name, "%d.waits", rank);
    fclose(fopen(name, "w"));
    MPI_Recv(&value, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
