/* A world that starts two others of two ranks each, one after the other, and exchanges messages with each, on the
 * intercommunicator and on the one that is merged from it. With an argument it is a started one. 25 messages cross the border
 * in either direction, for each started rank and each communicator. */
#include "check.h"
#include <unistd.h>

#define ROUNDS 25

/* Everyone with everyone: ranks of `comm` from `first` on, `others` of them, are the other side's. */
static void exchange(MPI_Comm comm, int first, int others, int mine, int tag)
{
    for (int i = 0; i < ROUNDS; i++)
        for (int other = 0; other < others; other++) {
            int in = -1, out = 100 * i + mine;
            MPI_Sendrecv(&out, 1, MPI_INT, first + other, tag + i, &in, 1, MPI_INT, first + other, tag + i, comm,
                         MPI_STATUS_IGNORE);
            CHECK(in == 100 * i + other);
        }
}

static void meet(MPI_Comm inter, int high)
{
    MPI_Comm merged;
    int others, all;
    MPI_Comm_remote_size(inter, &others);
    exchange(inter, 0, others, rank, 0);
    MPI_Intercomm_merge(inter, high, &merged);
    MPI_Comm_size(merged, &all);
    CHECK(all == others + size);
    exchange(merged, high ? 0 : size, others, rank, 1000);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&inter);
}

int main(int argc, char **argv)
{
    char *arguments[] = {"started", NULL};
    MPI_Comm other;
    if (argc > 1)
        unsetenv("TALLY_DIR"); /* the tally is that of the first world */
    begin(&argc, &argv);
    if (argc > 1) {
        MPI_Comm_get_parent(&other);
        CHECK(other != MPI_COMM_NULL);
        meet(other, 1);
        MPI_Finalize();
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        if (rank > 0)
            usleep(400000); /* the root starts processes before the others have come */
        MPI_Comm_spawn(argv[0], arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
        meet(other, 0);
    }
    return end();
}
