/* MPI 5.0 chapter 3, blocking: send modes, wildcards, MPI_PROC_NULL, probes, matched probes, send-receive. */
#include "check.h"

/* Every blocking send mode to the next rank, received with an exact envelope and a status. */
static void send_modes(void)
{
    int out = 100 + rank, in[4] = {0};
    count_t count;
    MPI_Request request[4];
    MPI_Status status[4];
    char buffer[4 * (sizeof(int) + MPI_BSEND_OVERHEAD)], *detached;
    count_t bytes = 0;

    for (int mode = 0; mode < 4; mode++)
        MPI_Irecv(&in[mode], 1, MPI_INT, prev, mode, MPI_COMM_WORLD, &request[mode]);
    MPI_Barrier(MPI_COMM_WORLD); /* the ready send below needs its receive posted */
    MPI_Buffer_attach(buffer, sizeof buffer);
    MPI_Send(&out, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
    MPI_Bsend(&out, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
    MPI_Rsend(&out, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
    MPI_Ssend(&out, 1, MPI_INT, next, 2, MPI_COMM_WORLD);
    MPI_Waitall(4, request, status);
    MPI_Buffer_detach(&detached, &bytes);
    CHECK(detached == buffer && bytes == (count_t)sizeof buffer);
    for (int mode = 0; mode < 4; mode++) {
        CHECK(in[mode] == 100 + prev);
        CHECK(status[mode].MPI_SOURCE == prev && status[mode].MPI_TAG == mode);
        MPI_Get_count(&status[mode], MPI_INT, &count);
        CHECK(count == 1);
    }
}

/* Messages to rank 0 from everybody, received with wildcards, some with the status ignored. */
static void wildcards(void)
{
    double value = rank + 0.5, sum = 0, got;
    if (rank != 0) {
        for (int tag = 10; tag < 13; tag++)
            MPI_Send(&value, 1, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        return;
    }
    for (int i = 1; i < size; i++) {
        MPI_Status status;
        MPI_Recv(&got, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, &status);
        CHECK(got == status.MPI_SOURCE + 0.5);
        sum += got;
        MPI_Recv(&got, 1, MPI_DOUBLE, status.MPI_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += got;
    }
    for (int i = 1; i < size; i++) {
        MPI_Recv(&got, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += got;
    }
    double expected = 0;
    for (int i = 1; i < size; i++)
        expected += 3 * (i + 0.5);
    CHECK(sum == expected);
    MPI_Barrier(MPI_COMM_WORLD); /* later messages would match the last wildcards too */
}

static void nowhere(void)
{
    int x = 7;
    count_t count = -1;
    MPI_Status status;
    MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Ssend(&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Recv(&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
    CHECK(x == 7 && status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 0);
    MPI_Sendrecv(&x, 1, MPI_INT, MPI_PROC_NULL, 0, &x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    MPI_Probe(MPI_PROC_NULL, 5, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
}

/* Probe, then receive what was announced. A probe that finds nothing comes first. */
static void probes(void)
{
    int flag = 1, out[5] = {rank, 1, 2, 3, 4}, in[5];
    count_t count;
    MPI_Request request;
    MPI_Status status;
    MPI_Message message;

    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, &status);
    CHECK(!flag);
    MPI_Improbe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, &message, &status);
    CHECK(!flag);

    MPI_Isend(out, 5, MPI_INT, next, 20, MPI_COMM_WORLD, &request);
    MPI_Probe(MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(status.MPI_SOURCE == prev && count == 5);
    MPI_Iprobe(prev, 20, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); /* just probed, so it is there */
    CHECK(flag);
    MPI_Recv(in, 5, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in[0] == prev && in[4] == 4);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    MPI_Isend(out, 3, MPI_INT, next, 21, MPI_COMM_WORLD, &request);
    MPI_Mprobe(MPI_ANY_SOURCE, 21, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(in, 3, MPI_INT, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL && status.MPI_SOURCE == prev && in[0] == prev);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    MPI_Isend(out, 2, MPI_INT, next, 22, MPI_COMM_WORLD, &request);
    MPI_Probe(prev, 22, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Improbe(prev, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
    CHECK(flag && status.MPI_TAG == 22);
    MPI_Request receive;
    MPI_Imrecv(in, 2, MPI_INT, &message, &receive);
    MPI_Wait(&receive, &status);
    CHECK(in[0] == prev && status.MPI_SOURCE == prev);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
    CHECK(message == MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

static void send_receive(void)
{
    long out = 1000 + rank, in = -1;
    MPI_Status status;
    MPI_Sendrecv(&out, 1, MPI_LONG, next, 30, &in, 1, MPI_LONG, prev, 30, MPI_COMM_WORLD, &status);
    CHECK(in == 1000 + prev && status.MPI_SOURCE == prev && status.MPI_TAG == 30);
    MPI_Sendrecv(&out, 1, MPI_LONG, next, 31, &in, 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(&out, 1, MPI_LONG, next, 32, prev, 32, MPI_COMM_WORLD, &status);
    CHECK(out == 1000 + prev && status.MPI_SOURCE == prev);
#if HAVE_ISENDRECV
    MPI_Request request;
    out = 2000 + rank;
    MPI_Isendrecv(&out, 1, MPI_LONG, next, 33, &in, 1, MPI_LONG, prev, 33, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in == 2000 + prev);
    MPI_Isendrecv_replace(&out, 1, MPI_LONG, next, 34, prev, 34, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(out == 2000 + prev);
#endif
}

/* Lengths around the switch from the eager to the rendezvous protocol, and none at all. */
static void lengths(void)
{
    static char out[1 << 18], in[1 << 18];
    memset(out, rank, sizeof out);
    for (int length = 0; length <= 1 << 18; length = length ? length * 8 : 1) {
        MPI_Status status;
        count_t count;
        MPI_Sendrecv(out, length, MPI_CHAR, next, 40, in, sizeof in, MPI_CHAR, prev, 40, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
        CHECK(count == length && (length == 0 || in[length - 1] == (char)prev));
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    send_modes();
    wildcards();
    nowhere();
    probes();
    send_receive();
    lengths();
    return end();
}
