/* A million requests, ten thousand outstanding at a time on either of two ranks: rounds of 5000 receives and 5000 sends, as many
 * rounds as the argument says, 50 if it says nothing. Each rank sends to itself, so that neither waits for the other, which is what
 * takes the time in many_requests.c. They are completed in another order than they were made: one by one, some at a time or all
 * together. Each rank prints the most memory that it ever had resident, in kB, before MPI_Finalize and at the end. */
#include "check.h"

#define HALF 5000

static MPI_Request requests[2 * HALF], shuffled[2 * HALF];
static int out[HALF], in[HALF], order[2 * HALF], indices[2 * HALF];

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

static void shuffle(void)
{
    static unsigned state = 12345;
    for (int i = 0; i < 2 * HALF; i++)
        order[i] = i;
    for (int i = 2 * HALF - 1; i > 0; i--) {
        int k = (int)((state = state * 1664525 + 1013904223) >> 8) % (i + 1), t = order[i];
        order[i] = order[k], order[k] = t;
    }
    for (int i = 0; i < 2 * HALF; i++)
        shuffled[i] = requests[order[i]];
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 50;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < HALF; i++) {
            in[i] = -1, out[i] = HALF * round + i;
            MPI_Irecv(&in[i], 1, MPI_INT, 0, i % 100, MPI_COMM_SELF, &requests[i]);
        }
        for (int i = 0; i < HALF; i++)
            MPI_Isend(&out[i], 1, MPI_INT, 0, i % 100, MPI_COMM_SELF, &requests[HALF + i]);
        shuffle();
        if (round % 10 == 0) {
            for (int i = 0; i < 2 * HALF; i++)
                MPI_Wait(&shuffled[i], MPI_STATUS_IGNORE);
        } else if (round % 2) {
            MPI_Waitall(2 * HALF, shuffled, MPI_STATUSES_IGNORE);
        } else {
            for (int done = 0, some; done < 2 * HALF; done += some)
                MPI_Waitsome(2 * HALF, shuffled, &some, indices, MPI_STATUSES_IGNORE);
        }
        for (int i = 0; i < HALF; i++)
            CHECK(in[i] == out[i]);
    }
    long before = peak_kb();
    MPI_Finalize();
    printf("rank %d before %ld after %ld\n", rank, before, peak_kb());
    return 0;
}
