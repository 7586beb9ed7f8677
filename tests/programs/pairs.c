/* What it costs to enter and leave a function that was compiled with -finstrument-functions, and an MPI call with performance
 * counters: ns, the best of many short loops, since other work may be going on. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#define QUIET __attribute__((no_instrument_function))

enum { LOOPS = 2000, CALLS = 200 };

static void __attribute__((noinline)) empty(void)
{
    __asm__ volatile("");
}

static double QUIET now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double QUIET best(int is_mpi)
{
    double least = 1e30;
    for (int i = 0; i < LOOPS; i++) {
        double start = now();
        for (int j = 0; j < CALLS; j++) {
            int rank;
            if (is_mpi)
                MPI_Comm_rank(MPI_COMM_WORLD, &rank);
            else
                empty();
        }
        double each = (now() - start) / CALLS;
        least = each < least ? each : least;
    }
    return least;
}

int QUIET main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    double function = best(0), call = best(1);
    MPI_Finalize();
    printf("function %.1f ns, MPI_Comm_rank %.1f ns\n", function, call);
    return 0;
}
