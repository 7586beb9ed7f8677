/* Messages round a ring, then a pause in which the test cuts a host off: `cut_off ROUNDS WHEN`. After ROUNDS each rank makes a
 * file reached.RANK in the working directory and waits for a file go or go.RANK. WHEN is `middle` if messages go on after that, for ever, and
 * `end` if MPI_Finalize is next. */
#include "check.h"
#include <unistd.h>

static void round_the_ring(int i)
{
    int in = -1;
    MPI_Sendrecv(&i, 1, MPI_INT, next, i % 8, &in, 1, MPI_INT, prev, i % 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in == i);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int rounds = atoi(argv[1]);
    for (int i = 0; i < rounds; i++)
        round_the_ring(i);
    char name[64];
    snprintf(name, sizeof name, "reached.%d", rank);
    FILE *reached = fopen(name, "w");
    CHECK(reached && fclose(reached) == 0);
    snprintf(name, sizeof name, "go.%d", rank);
    while (access("go", F_OK) != 0 && access(name, F_OK) != 0)
        usleep(2000);
    if (strcmp(argv[2], "middle") == 0)
        for (int i = 0;; i++)
            round_the_ring(i);
    return end();
}
