/* MPI 5.0 sections 3.9 and 6.13: persistent point-to-point requests, started one by one and together. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int out[4], in[4];
    char buffer[sizeof(int) + MPI_BSEND_OVERHEAD], *detached;
    count_t bytes;
    MPI_Request receive[4], send[4], never;
    MPI_Status status[4];

    MPI_Buffer_attach(buffer, sizeof buffer);
    for (int i = 0; i < 4; i++)
        MPI_Recv_init(&in[i], 1, MPI_INT, i == 3 ? MPI_ANY_SOURCE : prev, i, MPI_COMM_WORLD, &receive[i]);
    MPI_Send_init(&out[0], 1, MPI_INT, next, 0, MPI_COMM_WORLD, &send[0]);
    MPI_Ssend_init(&out[1], 1, MPI_INT, next, 1, MPI_COMM_WORLD, &send[1]);
    MPI_Bsend_init(&out[2], 1, MPI_INT, next, 2, MPI_COMM_WORLD, &send[2]);
    MPI_Rsend_init(&out[3], 1, MPI_INT, next, 3, MPI_COMM_WORLD, &send[3]);
    MPI_Send_init(&out[0], 1, MPI_INT, next, 9, MPI_COMM_WORLD, &never);

    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 4; i++)
            out[i] = 100 * round + 10 * rank + i;
        MPI_Startall(4, receive);
        MPI_Barrier(MPI_COMM_WORLD); /* for the ready send */
        for (int i = 0; i < 4; i++)
            MPI_Start(&send[i]);
        if (round % 2) {
            MPI_Waitall(4, receive, status);
            for (int i = 0; i < 4; i++)
                CHECK(status[i].MPI_SOURCE == prev && status[i].MPI_TAG == i);
        } else {
            for (int i = 0; i < 4; i++)
                MPI_Wait(&receive[i], MPI_STATUS_IGNORE);
        }
        MPI_Waitall(4, send, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 4; i++) {
            CHECK(in[i] == 100 * round + 10 * prev + i);
            CHECK(send[i] != MPI_REQUEST_NULL && receive[i] != MPI_REQUEST_NULL);
        }
    }
    MPI_Wait(&never, &status[0]); /* inactive: returns at once with an empty status */
    CHECK(status[0].MPI_SOURCE == MPI_ANY_SOURCE);
    MPI_Request_free(&never);
    for (int i = 0; i < 4; i++) {
        MPI_Request_free(&send[i]);
        MPI_Request_free(&receive[i]);
        CHECK(send[i] == MPI_REQUEST_NULL);
    }
    MPI_Buffer_detach(&detached, &bytes);
    return end();
}
