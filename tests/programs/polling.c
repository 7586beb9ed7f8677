/* Polls for what is not there: many times the same, two calls in turn, arrays of requests, and with other calls between.
 * `polling COUNT` makes the first loop longer; `polling COUNT die` is killed behind it. */
#include "check.h"
#include <signal.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int count = argc > 1 ? atoi(argv[1]) : 1000, flag;
    double start = now();
    for (int i = 0; i < count; i++) {
        MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
    }
    if (rank == 0)
        fprintf(stderr, "ns per probe: %.1f\n", (now() - start) / count * 1e9);
    if (argc > 2)
        raise(SIGKILL);

    int got = -1;
    MPI_Request request, requests[3];
    MPI_Irecv(&got, 1, MPI_INT, prev, 5, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 1000; i++) { /* in turn */
        MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&rank, 1, MPI_INT, next, 5, MPI_COMM_WORLD);
    do
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    while (!flag);
    CHECK(got == prev);

    int values[3], index, done, indices[3];
    MPI_Status statuses[3];
    for (int i = 0; i < 3; i++)
        MPI_Irecv(values + i, 1, MPI_INT, prev, 10 + i, MPI_COMM_WORLD, requests + i);
    for (int i = 0; i < 500; i++) {
        MPI_Testall(3, requests, &flag, statuses);
        CHECK(!flag);
    }
    for (int i = 0; i < 500; i++) {
        MPI_Testany(3, requests, &index, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
    }
    for (int i = 0; i < 500; i++) {
        MPI_Testsome(3, requests, &done, indices, statuses);
        CHECK(done == 0);
    }
    for (int i = 0; i < 500; i++) {
        MPI_Request_get_status(requests[i % 2], &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        MPI_Send(&rank, 1, MPI_INT, next, 10 + i, MPI_COMM_WORLD);
    MPI_Waitall(3, requests, statuses);

    for (int i = 0; i < 10; i++) { /* a row each */
        int me;
        for (int j = 0; j < 5; j++) {
            MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
        }
        MPI_Comm_rank(MPI_COMM_WORLD, &me);
    }
    return end();
}
