/* Very many calls of few kinds: `endless ROUNDS`, ten calls each. Every hundredth round exchanges a message with the
 * neighbours, so that the ranks stay together. Each rank prints the most memory that it ever had resident, in kB, before
 * MPI_Finalize and at the end. */
#include "check.h"

static long peak_kb(void)
{
    char line[256];
    long kb = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %ld", &kb) == 1)
            break;
    if (status)
        fclose(status);
    return kb;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    long rounds = argc > 1 ? atol(argv[1]) : 1000;
    int in[2], out[2] = {1, 2}, flag, number;
    for (long i = 0; i < rounds; i++) {
        MPI_Request requests[2];
        MPI_Status statuses[2];
        MPI_Irecv(in, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &requests[0]);
        MPI_Isend(out, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &requests[1]);
        MPI_Waitall(2, requests, statuses);
        for (int tag = 77; tag < 79; tag++)
            MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        for (int k = 0; k < 4; k++)
            MPI_Comm_rank(MPI_COMM_WORLD, &number);
        if (i % 100 == 0)
            MPI_Sendrecv(out, 1, MPI_INT, next, 6, in, 1, MPI_INT, prev, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Comm_size(MPI_COMM_WORLD, &number);
    }
    long before = peak_kb();
    MPI_Finalize();
    printf("rank %d before %ld after %ld\n", rank, before, peak_kb());
    return 0;
}
