/* What programs share whose ranks wait for each other: cases in rounds, in which sleeping stands for computing. `PROGRAM MS ROUNDS CASE...`
 * with 4 ranks. Every round begins with a barrier, which is not part of the case.
 *
 * Each rank keeps in mind, with clock readings of its own, when the call began and ended that waits or is waited for. Rank 0
 * prints all of them at the end, a line for each rank and round: case, rank, round, begin, end. How long ranks waited follows
 * from that without the trace. */
#ifndef WAITS_H
#define WAITS_H

#include "check.h"
#include <time.h>

enum { BIG = 1 << 20, MAX_ROUNDS = 100 };

static int rounds, ms;
static char *big;
/* Begin and end of the call that waits, or that is waited for, in each round. */
static double begins[MAX_ROUNDS], ends[MAX_ROUNDS];
static int round_number;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void compute(int times)
{
    double until = now() + times * ms * 1e-3;
    while (now() < until)
        nanosleep(&(struct timespec){0, 200000}, NULL);
}

static void late_to(int who)
{
    if (rank == who)
        compute(1);
}

/* A communicator of the even ranks on these, of the odd ones on the others. */
static MPI_Comm own_half(void)
{
    static MPI_Comm half = MPI_COMM_NULL;
    if (half == MPI_COMM_NULL) {
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return half;
}

struct wait_case {
    const char *name;
    void (*run)(void);
};

/* The call that the case is about, with its times. */
#define CALL(call)                                                                              \
    do {                                                                                        \
        begins[round_number] = now();                                                           \
        call;                                                                                   \
        ends[round_number] = now();                                                             \
    } while (0)

static void run_case(const struct wait_case *one)
{
    double *all_begins = NULL, *all_ends = NULL;
    memset(begins, 0, sizeof begins);
    memset(ends, 0, sizeof ends);
    for (round_number = 0; round_number < rounds; round_number++) {
        MPI_Barrier(MPI_COMM_WORLD);
        one->run();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        all_begins = malloc(sizeof begins * size);
        all_ends = malloc(sizeof ends * size);
    }
    MPI_Gather(begins, MAX_ROUNDS, MPI_DOUBLE, all_begins, MAX_ROUNDS, MPI_DOUBLE, 0,
               MPI_COMM_WORLD);
    MPI_Gather(ends, MAX_ROUNDS, MPI_DOUBLE, all_ends, MAX_ROUNDS, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int at = 0; rank == 0 && at < size * MAX_ROUNDS; at++)
        if (at % MAX_ROUNDS < rounds)
            printf("%s %d %d %.9f %.9f\n", one->name, at / MAX_ROUNDS, at % MAX_ROUNDS,
                   all_begins[at], all_ends[at]);
    free(all_begins);
    free(all_ends);
}

static int run_cases(int argc, char **argv, const struct wait_case *cases, int number)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 2) {
        ms = atoi(argv[1]);
        rounds = atoi(argv[2]);
    }
    if (rounds < 1 || rounds > MAX_ROUNDS || size != 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    big = malloc(BIG);
    memset(big, 1, BIG);
    for (int at = 3; at < argc; at++) {
        int nth = 0;
        while (nth < number && strcmp(argv[at], cases[nth].name))
            nth++;
        if (nth == number)
            MPI_Abort(MPI_COMM_WORLD, 2);
        run_case(&cases[nth]);
    }
    free(big);
    MPI_Finalize();
    return 0;
}

#endif
