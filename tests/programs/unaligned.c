/* Statuses where Fortran programs may have them: in an array of integers, at no multiple of eight bytes. */
#include "check.h"

#define MANY 3
#define WORDS (sizeof(MPI_Status) / sizeof(int))

static int room[1 + MANY * WORDS];

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Status *statuses = (MPI_Status *)((size_t)room % 8 == 0 ? room + 1 : room);
    int sent[MANY] = {1, 2, 3}, got[MANY];
    MPI_Request requests[2 * MANY];
    for (int i = 0; i < MANY; i++) {
        CHECK(MPI_Irecv(&got[i], 1, MPI_INT, prev, i, MPI_COMM_WORLD, &requests[i]) == MPI_SUCCESS);
        CHECK(MPI_Isend(&sent[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &requests[MANY + i]) == MPI_SUCCESS);
    }
    CHECK(MPI_Waitall(MANY, requests, statuses) == MPI_SUCCESS);
    for (int i = 0; i < MANY; i++) {
        int tag;
        memcpy(&tag, &statuses[i].MPI_TAG, sizeof tag);
        CHECK(tag == i && got[i] == sent[i]);
    }
    CHECK(MPI_Waitall(MANY, requests + MANY, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Sendrecv(sent, 1, MPI_INT, next, 9, got, 1, MPI_INT, prev, 9, MPI_COMM_WORLD, statuses) == MPI_SUCCESS);
    return end();
}
