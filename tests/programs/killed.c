/* Runs that end without MPI_Finalize, one per argument: abort, error, exit, quick (_exit), quick_exit,
 * handler (quick_exit in a handler of a signal that meets the allocator at work), segv, kill.
 * Before that every rank makes 100 exchanges, which must be found in what the run left behind. */
#include "check.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/* Keeps the allocator at work, with locks as there is more than one thread. */
static void *allocate(void *unused)
{
    for (;;)
        free(malloc(1 << 16));
    return unused;
}

static void leave_quickly(int signal)
{
    (void)signal;
    quick_exit(7);
}

/* Ends in a handler of a signal that comes while this thread allocates. */
static void end_in_handler(void)
{
    pthread_t other;
    pthread_create(&other, NULL, allocate, NULL);
    signal(SIGALRM, leave_quickly);
    ualarm(20000 + 1000 * rank, 0);
    allocate(NULL);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *way = argc > 1 ? argv[1] : "exit";
    for (int i = 0; i < 100; i++) {
        int in = -1;
        MPI_Sendrecv(&i, 1, MPI_INT, next, 0, &in, 1, MPI_INT, prev, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in == i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(way, "exit") == 0)
        exit(0);
    if (strcmp(way, "quick") == 0)
        _exit(0);
    if (strcmp(way, "quick_exit") == 0)
        quick_exit(7);
    if (strcmp(way, "handler") == 0)
        end_in_handler();
    if (rank == size - 1) {
        if (strcmp(way, "abort") == 0)
            MPI_Abort(MPI_COMM_WORLD, 3);
        if (strcmp(way, "error") == 0)
            MPI_Send(&rank, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD); /* fatal by default */
        if (strcmp(way, "segv") == 0)
            raise(SIGSEGV);
        if (strcmp(way, "kill") == 0)
            raise(SIGKILL);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* the others wait here for their end */
    return 0;
}
