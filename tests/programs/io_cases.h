/* What programs share that do I/O in cases. `PROGRAM CASE...` runs the cases in the working directory.
 *
 * Each rank keeps its own clock readings of the calls that a case is about, and counts them or their bytes. Rank 0 prints all of them at the end, a line
 * for each rank: case, rank, count, seconds. */
#ifndef IO_CASES_H
#define IO_CASES_H

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    LARGE = 1 << 20,
    BIG = 64 << 20, /* bytes of `data` */
    MAX_RANKS = 64
};

static int rank, size;
static char *data;
static long count;
static double seconds;
static MPI_Status status;

struct io_case {
    const char *name;
    void (*run)(void);
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* A call that the case is about. */
#define CALL(call)                                                                              \
    do {                                                                                        \
        double before = now();                                                                  \
        call;                                                                                   \
        seconds += now() - before;                                                              \
        count++;                                                                                \
    } while (0)

/* What this rank waits for rank 0 in a call that both have just made and that each began at its own `begun`: until rank 0 came. A rank that comes back late has
 * not waited longer. */
static void waited_for_rank_0(double begun)
{
    double came = begun;
    MPI_Bcast(&came, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (came > begun) {
        seconds += came - begun;
        count++;
    }
}

static MPI_File opened(MPI_Comm comm, const char *name, MPI_Info info)
{
    MPI_File file;
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    if (MPI_File_open(comm, name, mode, info, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return file;
}

static MPI_File common(const char *name)
{
    return opened(MPI_COMM_WORLD, name, MPI_INFO_NULL);
}

static int run_cases(int argc, char **argv, const struct io_case *cases, size_t number)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    data = malloc(BIG);
    memset(data, rank + 1, BIG);
    for (int i = 1; i < argc; i++) {
        size_t nth = 0;
        while (nth < number && strcmp(argv[i], cases[nth].name))
            nth++;
        if (nth == number || size > MAX_RANKS)
            MPI_Abort(MPI_COMM_WORLD, 2);
        count = 0, seconds = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        cases[nth].run();
        double own[2] = {(double)count, seconds}, all[2 * MAX_RANKS];
        MPI_Gather(own, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int r = 0; rank == 0 && r < size; r++)
            printf("%s %d %.0f %.9f\n", argv[i], r, all[2 * r], all[2 * r + 1]);
    }
    free(data);
    MPI_Finalize();
    return 0;
}

#endif
