/* Calls that a tool counts: as many as it says at the end, by its own reckoning. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (int i = 0; i < 100; i++) {
        int in = -1;
        MPI_Request requests[2];
        MPI_Irecv(&in, 1, MPI_INT, prev, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&i, 1, MPI_INT, next, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(in == i);
        if (i % 10 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Pcontrol(5, "told", 7, 2.5);
    return end();
}
