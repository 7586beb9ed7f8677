/* Many communicators one after the other, in each of which a message goes round: as many as the argument says. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int many = argc > 1 ? atoi(argv[1]) : 10000;
    MPI_Comm comms[10];
    for (int i = 0; i < many; i += 10) {
        for (int k = 0; k < 10; k++) {
            if (k % 2)
                MPI_Comm_dup(MPI_COMM_WORLD, &comms[k]);
            else
                MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comms[k]);
        }
        for (int k = 0; k < 10; k++) {
            int mine, in = -1;
            MPI_Comm_rank(comms[k], &mine);
            CHECK(mine == (k % 2 ? rank : size - 1 - rank));
            MPI_Sendrecv(&i, 1, MPI_INT, (mine + 1) % size, k, &in, 1, MPI_INT, (mine + size - 1) % size, k, comms[k],
                         MPI_STATUS_IGNORE);
            CHECK(in == i);
        }
        for (int k = 0; k < 10; k++)
            MPI_Comm_free(&comms[k]);
    }
    return end();
}
