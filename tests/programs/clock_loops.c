/* Reads the clock again and again: `clock_loops COUNT`. COUNT times in a row, then in turn with MPI_Wtick, then in turn with a
 * probe for a message that nobody sends, a fifth of COUNT times each. Rank 0 prints how often it called what. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    long count = argc > 1 ? atol(argv[1]) : 1000, times = 0, ticks = 0, probes = 0;
    double start = MPI_Wtime(), latest = start;
    times++;
    for (long i = 1; i < count; i++, times++) {
        double now = MPI_Wtime();
        CHECK(now >= latest);
        latest = now;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < count / 5; i++, times++, ticks++)
        CHECK(MPI_Wtime() - start > -MPI_Wtick());
    MPI_Barrier(MPI_COMM_WORLD);
    int flag = 0;
    for (long i = 0; i < count / 5 && MPI_Wtime() >= start; i++, times++, probes++) {
        MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
    }
    MPI_Finalize();
    if (rank == 0)
        printf("MPI_Wtime %ld MPI_Wtick %ld MPI_Iprobe %ld\n", times, ticks, probes);
    return 0;
}
