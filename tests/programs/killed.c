/* Runs that end without MPI_Finalize, one per argument: abort, error, exit, quick (_exit), segv, kill.
 * Before that every rank makes 100 exchanges, which must be found in what the run left behind. */
#include "check.h"
#include <signal.h>
#include <unistd.h>

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
