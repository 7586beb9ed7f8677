/* libdumpi's API: settings by calls, before MPI_Init and behind it, and the counters. */
#include "check.h"
#include "../../include/dumpi/libdumpi/libdumpi.h"

int main(int argc, char **argv)
{
    libdumpi_set_output("renamed");
    libdumpi_set_output(NULL);
    libdumpi_set_profiling(DUMPI_Barrier, DUMPI_DISABLE);
    begin(&argc, &argv);
    int barriers = 0, sums = 0;
    for (int i = 0; i < 10; i++) {
        int sum;
        MPI_Barrier(MPI_COMM_WORLD), barriers++;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), sums++;
        if (i == 3)
            libdumpi_disable_profiling();
        if (i == 5)
            libdumpi_enable_profiling();
        if (i == 7)
            libdumpi_set_profiling(DUMPI_Barrier, DUMPI_ENABLE);
    }
    /* Polls, of which `polling sample` records two. */
    enum { POLLS = 1000 };
    int in = -1, out = rank, done = 0;
    MPI_Request request;
    MPI_Irecv(&in, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &request);
    for (int i = 0; i < POLLS; i++) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        CHECK(!done);
    }
    MPI_Send(&out, 1, MPI_INT, rank, 5, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in == rank);
    const uint32_t *counts = libdumpi_call_counts();
    CHECK(counts[DUMPI_Test] == POLLS);
    CHECK(counts[DUMPI_Barrier] == (uint32_t)barriers);
    CHECK(counts[DUMPI_Allreduce] == (uint32_t)sums);
    CHECK(counts[DUMPI_Send] == 1 && counts[DUMPI_Ssend] == 0);
    CHECK(counts[DUMPI_ALL_FUNCTIONS] >= (uint32_t)(barriers + sums));
    libdumpi_set_status_output(DUMPI_DISABLE);
    return end();
}
