/* Messages that are longer than the room for them: the receive fails with MPI_ERR_TRUNCATE, and has used the message up all the same. Rank 1 sends to
 * rank 0, which prints the messages in the order in which its calls complete them, those that were cut short, too:
 *
 *     SOURCE TAG BYTES
 *
 * Bytes are the sender's. tests/tests/mpi/receive_order.rs compares. */
#include <mpi.h>
#include <stdio.h>

enum { ROOM = 10, TAG = 5, LARGEST = 200 };

static char in[3][LARGEST], out[LARGEST];

static void send(int bytes, int tag)
{
    MPI_Send(out, bytes, MPI_CHAR, 0, tag, MPI_COMM_WORLD);
}

static void tell(int bytes, int tag)
{
    printf("1 %d %d\n", tag, bytes);
}

/* A blocking receive of a message of so many bytes. */
static void receive(int source, int tag, int room, int bytes)
{
    int failed = MPI_Recv(in[0], room, MPI_CHAR, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    if (failed != (bytes > room)) MPI_Abort(MPI_COMM_WORLD, 1);
    tell(bytes, TAG);
}

static void blocking(int rank)
{
    if (rank == 1) {
        send(100, TAG), send(50, TAG), send(101, TAG), send(51, TAG), send(30, TAG);
    } else {
        receive(MPI_ANY_SOURCE, MPI_ANY_TAG, ROOM, 100);
        receive(1, TAG, LARGEST, 50);
        receive(1, TAG, ROOM, 101);
        receive(1, MPI_ANY_TAG, LARGEST, 51);
        receive(1, TAG, LARGEST, 30);
    }
}

/* What MPI_Sendrecv sends has been sent although its own receive fails. */
static void both_ways(int rank)
{
    if (rank == 1) {
        MPI_Sendrecv(out, 11, MPI_CHAR, 0, TAG, in[0], ROOM, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        send(12, TAG), send(13, TAG);
    } else {
        MPI_Send(out, 60, MPI_CHAR, 1, TAG, MPI_COMM_WORLD);
        receive(1, TAG, LARGEST, 11);
        receive(1, TAG, LARGEST, 12);
        receive(1, TAG, LARGEST, 13);
    }
}

static void posted(int rank)
{
    if (rank == 1) {
        send(102, TAG), send(52, TAG), send(31, TAG);
        return;
    }
    MPI_Request requests[2];
    MPI_Irecv(in[0], ROOM, MPI_CHAR, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in[1], LARGEST, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    tell(102, TAG);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    tell(52, TAG);
    receive(1, TAG, LARGEST, 31);
}

/* Completes three receives, of which the second fails, by one family of functions. Such a call may leave some under way. */
static void complete(int family, MPI_Request *requests)
{
    int number = 0, flag = 0, indices[3];
    MPI_Status statuses[3];
    switch (family) {
    case 0: MPI_Waitall(3, requests, statuses); break;
    case 1:
        for (int left = 3; left > 0; left -= number)
            MPI_Waitsome(3, requests, &number, indices, statuses);
        break;
    case 2:
        while (!flag)
            MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE);
        break;
    case 3:
        for (int nth = 0; nth < 3; nth++)
            MPI_Waitany(3, requests, &number, MPI_STATUS_IGNORE);
        break;
    case 4:
        for (int left = 3; left > 0; left -= flag)
            MPI_Testany(3, requests, &number, &flag, statuses);
        break;
    case 5:
        for (int left = 3; left > 0; left -= number)
            MPI_Testsome(3, requests, &number, indices, statuses);
        break;
    }
    for (int nth = 0; nth < 3; nth++)
        if (requests[nth] != MPI_REQUEST_NULL) MPI_Wait(&requests[nth], MPI_STATUS_IGNORE);
}

static void several(int rank, int family)
{
    const int bytes[3] = {20 + family, 150 + family, 40 + family};
    MPI_Request requests[3];
    for (int nth = 0; nth < 3; nth++)
        if (rank == 0) MPI_Irecv(in[nth], nth == 1 ? ROOM : LARGEST, MPI_CHAR, 1, nth, MPI_COMM_WORLD, &requests[nth]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int nth = 0; nth < 3; nth++)
        if (rank == 1) send(bytes[nth], nth);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) return;
    complete(family, requests);
    for (int nth = 0; nth < 3; nth++)
        tell(bytes[nth], nth);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    blocking(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    both_ways(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    posted(rank);
    for (int family = 0; family < 6; family++) {
        MPI_Barrier(MPI_COMM_WORLD);
        several(rank, family);
    }
    MPI_Finalize();
    return 0;
}
