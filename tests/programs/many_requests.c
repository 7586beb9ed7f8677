/* Many requests outstanding at a time, completed in another order than they were made: rounds of 5000 receives and 5000 sends,
 * as many as the argument says. */
#include "check.h"

#define HALF 5000

static MPI_Request requests[2 * HALF];
static int out[HALF], in[HALF], order[2 * HALF];

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 4;
    unsigned state = 12345;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < HALF; i++) {
            in[i] = -1, out[i] = HALF * round + i;
            MPI_Irecv(&in[i], 1, MPI_INT, prev, i % 100, MPI_COMM_WORLD, &requests[i]);
        }
        for (int i = 0; i < HALF; i++)
            MPI_Isend(&out[i], 1, MPI_INT, next, i % 100, MPI_COMM_WORLD, &requests[HALF + i]);
        if (round % 2) {
            MPI_Waitall(2 * HALF, requests, MPI_STATUSES_IGNORE);
        } else { /* one by one, shuffled */
            for (int i = 0; i < 2 * HALF; i++)
                order[i] = i;
            for (int i = 2 * HALF - 1; i > 0; i--) {
                int k = (int)((state = state * 1664525 + 1013904223) >> 8) % (i + 1), t = order[i];
                order[i] = order[k], order[k] = t;
            }
            for (int i = 0; i < 2 * HALF; i++)
                MPI_Wait(&requests[order[i]], MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < HALF; i++)
            CHECK(in[i] == out[i]);
    }
    return end();
}
