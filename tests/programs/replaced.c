/* A rank that asks MPI something and then executes another program in its place, before MPI_Init and after MPI_Finalize. The
 * arguments say how far it has come. */
#include "check.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    int flag = -1;
    if (argc == 1) {
        PMPI_Initialized(&flag);
        CHECK(!flag);
        execl(argv[0], argv[0], "the rank", NULL);
        return 1;
    }
    begin(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    unsetenv("LD_PRELOAD"), unsetenv("TALLY_DIR");
    if (rank == 0)
        execl("/bin/echo", "echo", "ok", NULL);
    else
        execl("/bin/true", "true", NULL);
    return 1;
}
