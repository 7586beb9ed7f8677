/* Hangs: rank 0 waits for a message that nobody sends, the others compute. `hangs FILE`: the message comes when there is such a
 * file. */
#include "check.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int number = 0;
    CHECK(argc == 2);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(&number, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else {
        while (access(argv[1], F_OK) != 0)
            usleep(10000);
        MPI_Send(&number, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
    }
    return end();
}
