/* Messages of four sizes, collectives of two sizes, communicators of one and two members. For two ranks; tests/tests/mpi/filters.rs
 * knows the numbers.
 *
 * With an argument, EDGE, the last seven barriers begin more than that many milliseconds after MPI_Init has returned. The file
 * broadcasts.RANK then tells how many broadcasts were over that many milliseconds after MPI_Init was called, and how many may have begun by then
 * counted from its return. On a busy machine MPI_Init may take longer than EDGE. */
#include "check.h"
#include <time.h>
#include <unistd.h>

static char buffer[1 << 16];
static const int sizes[] = {16, 256, 4096, 65536};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    double edge = argc > 1 ? atoi(argv[1]) / 1e3 : 0, init_called = now(), init_returned;
    int surely_before = 0, perhaps_before = 0;
    begin(&argc, &argv);
    init_returned = now();
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
    for (int i = 0; i < 10; i++) {
        perhaps_before += now() < init_returned + edge;
        MPI_Bcast(buffer, i % 2 ? 1 : 1024, MPI_INT, 0, MPI_COMM_WORLD);
        surely_before += now() < init_called + edge;
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
    if (argc > 1) {
        char name[32];
        snprintf(name, sizeof name, "broadcasts.%d", rank);
        FILE *told = fopen(name, "w");
        CHECK(told && fprintf(told, "%d %d", surely_before, perhaps_before) > 0 && fclose(told) == 0);
        while (now() <= init_returned + edge)
            usleep(10000);
    }
    for (int i = 0; i < 7; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
