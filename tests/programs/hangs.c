/* Hangs: rank 0 waits for a message that nobody sends, the others compute. `hangs SECONDS`: then the message comes. */
#include "check.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int seconds = argc > 1 ? atoi(argv[1]) : 1, number = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(&number, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else {
        for (int i = 0; i < 10 * seconds; i++)
            usleep(100000);
        MPI_Send(&number, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
    }
    return end();
}
