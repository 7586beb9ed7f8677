/* Loops of single calls for `ci/bench overhead`: the one named by the argument, 200 000 calls, best of 5, in one process.
 * Prints ns per call and how many calls were made in all. Ends without MPI_Finalize: no merge is to be measured. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CALLS 200000
#define REPEATS 5

static int in, out;

static void comm_rank(void)
{
    int rank;
    for (int i = 0; i < CALLS; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

static void iprobe(void)
{
    int flag;
    for (int i = 0; i < CALLS; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void sendrecv(void)
{
    for (int i = 0; i < CALLS; i++)
        MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void nonblocking(void)
{
    MPI_Request request[2];
    for (int i = 0; i < CALLS / 3; i++) {
        MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request[0]);
        MPI_Isend(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
}

static void allreduce(void)
{
    for (int i = 0; i < CALLS; i++)
        MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
        int calls;
    } loops[] = {
        {"comm_rank", comm_rank, CALLS},
        {"iprobe", iprobe, CALLS},
        {"sendrecv", sendrecv, CALLS},
        {"nonblocking", nonblocking, CALLS / 3 * 3},
        {"allreduce", allreduce, CALLS},
    };
    MPI_Init(&argc, &argv);
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        if (argc < 2 || strcmp(argv[1], loops[i].name))
            continue;
        double best = 1e30;
        for (int repeat = 0; repeat < REPEATS; repeat++) {
            double start = now();
            loops[i].run();
            double took = (now() - start) / loops[i].calls;
            best = took < best ? took : best;
        }
        printf("%.2f %d\n", best, loops[i].calls * REPEATS);
        fflush(stdout);
        _exit(0);
    }
    return 2;
}
