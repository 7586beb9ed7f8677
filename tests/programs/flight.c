/* Messages over a long run whose beginning is given up by the recorder: `flight ROUNDS`. Each round sends one message to each
 * neighbour in the ring, on a communicator and of a datatype that are made before the first one; how long a message is follows
 * from the round, so that an arrow between halves that do not belong together shows. Every fiftieth round receives with
 * a request that has been under way for as long. `flight ROUNDS kill` kills itself behind the last one. */
#include "check.h"
#include <signal.h>
#include <unistd.h>

static int out[400], in[400], late[400];

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    long rounds = argc > 1 ? atol(argv[1]) : 1000;
    MPI_Comm ring;
    MPI_Datatype pair;
    MPI_Comm_dup(MPI_COMM_WORLD, &ring);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Request pending;
    for (long i = 0; i < rounds; i++) {
        int pairs = 1 + i % 199;
        MPI_Status status;
        MPI_Request request;
        int number;
        if (i % 50 == 0)
            MPI_Irecv(late, 200, pair, prev, 2, ring, &pending);
        MPI_Isend(out, pairs, pair, next, 1, ring, &request);
        MPI_Recv(in, 200, pair, prev, 1, ring, &status);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Get_count(&status, pair, &number);
        CHECK(number == pairs);
        if (i % 50 == 49 || i == rounds - 1) {
            MPI_Send(out, pairs, pair, next, 2, ring);
            MPI_Wait(&pending, MPI_STATUS_IGNORE);
        }
    }
    if (argc > 2) {
        sleep(1); /* Who dies first takes the others with it: all are to have come here. */
        raise(SIGKILL);
    }
    MPI_Type_free(&pair);
    MPI_Comm_free(&ring);
    return end();
}
