/* A rank that is 50 ms late to each of ten collective calls, by sleeping. The first argument names the call, the second the rank
 * that is late; 0 is the root. Small data: who gives some to a late rank need not wait for it. */
#include "check.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    int late, data = 1, sum = 0;
    begin(&argc, &argv);
    CHECK(argc == 3);
    late = atoi(argv[2]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 10; round++) {
        if (rank == late) usleep(50000);
        if (!strcmp(argv[1], "barrier"))
            MPI_Barrier(MPI_COMM_WORLD);
        else if (!strcmp(argv[1], "allreduce"))
            MPI_Allreduce(&data, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        else if (!strcmp(argv[1], "bcast"))
            MPI_Bcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD);
        else if (!strcmp(argv[1], "reduce"))
            MPI_Reduce(&data, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        else
            CHECK(!"a call that is known");
    }
    return end();
}
