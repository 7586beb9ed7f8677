/* Enough calls for several 64 KB blocks per rank, and long arrays in single records. Every hundredth message goes round a ring, the
 * others to the rank itself, so that no rank waits for the processor of another. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    enum { ROUNDS = 30000, LONG = 20000 };
    for (int i = 0; i < ROUNDS; i++) {
        int in = -1, is_ring = i % 100 == 0, to = is_ring ? next : rank, from = is_ring ? prev : rank;
        MPI_Sendrecv(&i, 1, MPI_INT, to, i % 1000, &in, 1, MPI_INT, from, i % 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in == i);
    }
    /* a record longer than a block: 20000 block lengths and displacements */
    count_t *lengths = malloc(LONG * sizeof *lengths), *displs = malloc(LONG * sizeof *displs);
    for (int i = 0; i < LONG; i++)
        lengths[i] = 1, displs[i] = 2 * i;
    MPI_Datatype type;
    MPI_Type_indexed(LONG, lengths, displs, MPI_INT, &type);
    MPI_Type_free(&type);
    free(lengths), free(displs);
    return end();
}
