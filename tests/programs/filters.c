/* Messages of four sizes, collectives of two sizes, communicators of one and two members. With an argument, the last seven
 * barriers come after a pause of so many milliseconds. For two ranks; tests/tests/mpi/filters.rs knows the numbers. */
#include "check.h"
#include <unistd.h>

static char buffer[1 << 16];
static const int sizes[] = {16, 256, 4096, 65536};

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    CHECK(size == 2);
    for (int i = 0; i < 40; i++) /* one channel */
        if (rank == 0)
            MPI_Send(buffer, sizes[i % 4], MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        else
            MPI_Recv(buffer, sizeof buffer, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 40; i++) { /* another one, in the other direction */
        MPI_Request request;
        if (rank == 1)
            MPI_Isend(buffer, sizes[(i + 1) % 4], MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
        else
            MPI_Irecv(buffer, sizeof buffer, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 5; i++) {
        MPI_Bcast(buffer, 1024, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Bcast(buffer, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }

    MPI_Comm own, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &own);
    MPI_Comm_dup(MPI_COMM_WORLD, &both);
    for (int i = 0; i < 10; i++) {
        int one = 1, sum = 0;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, own);
        CHECK(sum == 1);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, both);
        CHECK(sum == 2);
    }
    MPI_Sendrecv(buffer, 100, MPI_CHAR, next, 2, buffer + 200, 100, MPI_CHAR, prev, 2, both, MPI_STATUS_IGNORE);
    MPI_Comm_free(&own);
    MPI_Comm_free(&both);
    if (argc > 1)
        usleep(1000 * atoi(argv[1]));
    for (int i = 0; i < 7; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
