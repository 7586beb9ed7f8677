/* A program with a main loop: `phases MS STEPS SLOW` with any number of ranks. Each step is a region `step`, in which ranks compute
 * MS milliseconds, exchange with a neighbour as often as the step's number tells, and meet. In step SLOW, rank 1 computes ten
 * times as long. After the loop comes a region `output`, in which rank 0 computes for three steps while the others wait for it.
 *
 * Every rank prints, by its own clock: `step RANK BEGIN END` for each step, `output RANK BEGIN END` for the region, `barrier RANK BEGIN END`
 * for the call in it, and `computed RANK SECONDS 0`, the time that it computed in steps. */
#include "check.h"
#include "../../include/trace.h"
#include <time.h>

static int ms;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static double compute(int times)
{
    double begin = now(), until = begin + times * ms * 1e-3;
    while (now() < until)
        nanosleep(&(struct timespec){0, 200000}, NULL);
    return now() - begin;
}

int main(int argc, char **argv)
{
    int rank, size, steps, slow;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ms = atoi(argv[1]), steps = atoi(argv[2]), slow = atoi(argv[3]);
    double *begins = calloc(steps + 1, sizeof *begins), *ends = calloc(steps + 1, sizeof *ends), computed = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 1; step <= steps; step++) {
        trace_begin("step");
        begins[step] = now();
        computed += compute(rank == 1 && step == slow ? 10 : 1);
        for (int turn = 0; turn < 1 + step % 3; turn++) {
            char out = 1, in;
            MPI_Sendrecv(&out, 1, MPI_CHAR, (rank + 1) % size, 0, &in, 1, MPI_CHAR, (rank + size - 1) % size, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        double mine = rank, sum;
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        ends[step] = now();
        trace_end("step");
    }
    double begin = now();
    trace_begin("output");
    if (rank == 0)
        compute(3);
    double met = now();
    MPI_Barrier(MPI_COMM_WORLD);
    double end = now();
    trace_end("output");
    for (int step = 1; step <= steps; step++)
        printf("step %d %.9f %.9f\n", rank, begins[step], ends[step]);
    printf("output %d %.9f %.9f\nbarrier %d %.9f %.9f\n", rank, begin, end, rank, met, end);
    printf("computed %d %.9f 0\n", rank, computed);
    MPI_Finalize();
    return 0;
}
