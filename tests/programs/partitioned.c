/* MPI 5.0 chapter 4: partitioned communication. */
#include "check.h"

#if HAVE_PARTITIONED
#define PARTS 8

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    double out[PARTS * 4], in[PARTS * 4];
    MPI_Request request[2];
    int list[] = {6, 7}, flag;
    MPI_Psend_init(out, PARTS, 4, MPI_DOUBLE, next, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
    MPI_Precv_init(in, PARTS, 4, MPI_DOUBLE, prev, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < PARTS * 4; i++)
            out[i] = rank + i + 100 * round;
        MPI_Startall(2, request);
        MPI_Pready(0, request[0]);
        MPI_Pready_range(1, 5, request[0]);
        MPI_Pready_list(2, list, request[0]);
        do
            MPI_Parrived(request[1], 0, &flag);
        while (!flag);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        for (int i = 0; i < PARTS * 4; i++)
            CHECK(in[i] == prev + i + 100 * round);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
    return end();
}
#else
int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return end();
}
#endif
