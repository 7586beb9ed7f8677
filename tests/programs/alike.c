/* All ranks end alike: "well"; by "exit" without MPI_Finalize; by "abort", each for itself; "kill": rank 0 is killed, and the
 * launcher ends the others. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "well";
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(how, "kill")) {
        if (rank == 0)
            raise(SIGKILL);
        sleep(60);
    }
    if (!strcmp(how, "exit"))
        exit(0);
    if (!strcmp(how, "abort"))
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Finalize();
    return 0;
}
