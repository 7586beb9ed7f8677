/* Ranks some of which have a recorder and some have none. All receives are from any source with any tag on MPI_COMM_WORLD, until the
 * very end: a message of a recorder's that another rank may take would be taken here. The second argument delays rank 0's
 * MPI_Finalize by so many milliseconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size, got, sum = 0;
    MPI_Status status;
    MPI_Comm copy;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 50; round++) {
        if (rank != 0) {
            MPI_Send(&rank, 1, MPI_INT, 0, round, MPI_COMM_WORLD);
            continue;
        }
        for (int i = 1; i < size; i++) {
            MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            if (got != status.MPI_SOURCE) printf("wrong: %d from %d\n", got, status.MPI_SOURCE);
            sum += got;
        }
    }
    /* Collective calls of both kinds, which count on every rank having made the same ones before. */
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Bcast(&sum, 1, MPI_INT, 0, copy);
    MPI_Comm_free(&copy);
    if (sum != 50 * size * (size - 1) / 2) printf("wrong: %d\n", sum);
    if (rank == 0 && argc > 1) usleep(1000 * atoi(argv[1]));
    MPI_Finalize();
    if (rank == 0) printf("ok\n");
    return 0;
}
