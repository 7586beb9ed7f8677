/* MPI 5.0 chapter 3, nonblocking: all start calls, all completion calls, many requests at once, free, cancel, reuse. */
#include "check.h"

#define MANY 4000

static void start_modes(void)
{
    int out = rank, in[4];
    MPI_Request send[4], receive[4];
    char buffer[sizeof(int) + MPI_BSEND_OVERHEAD], *detached;
    count_t bytes;
    MPI_Buffer_attach(buffer, sizeof buffer);
    for (int mode = 0; mode < 4; mode++)
        MPI_Irecv(&in[mode], 1, MPI_INT, prev, mode, MPI_COMM_WORLD, &receive[mode]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(&out, 1, MPI_INT, next, 0, MPI_COMM_WORLD, &send[0]);
    MPI_Issend(&out, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &send[1]);
    MPI_Ibsend(&out, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &send[2]);
    MPI_Irsend(&out, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &send[3]);
    MPI_Waitall(4, receive, MPI_STATUSES_IGNORE);
    MPI_Waitall(4, send, MPI_STATUSES_IGNORE);
    MPI_Buffer_detach(&detached, &bytes);
    for (int mode = 0; mode < 4; mode++)
        CHECK(in[mode] == prev && send[mode] == MPI_REQUEST_NULL);
}

/* One batch of receives completed by each of the array completion calls. What is completed with statuses must match. */
static void completions(void)
{
    enum { N = 8 };
    int out[N], in[N], index, flag, outcount, indices[N], left;
    MPI_Request send[N], receive[N];
    MPI_Status status, statuses[N];

    for (int way = 0; way < 8; way++) {
        for (int i = 0; i < N; i++) {
            out[i] = 10 * rank + i;
            in[i] = -1;
            MPI_Irecv(&in[i], 1, MPI_INT, way % 2 ? MPI_ANY_SOURCE : prev, i, MPI_COMM_WORLD, &receive[i]);
        }
        for (int i = 0; i < N; i++)
            MPI_Isend(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &send[i]);
        switch (way) {
        case 0:
            for (left = N; left > 0; left--) {
                MPI_Waitany(N, receive, &index, &status);
                CHECK(status.MPI_TAG == index && status.MPI_SOURCE == prev);
            }
            MPI_Waitany(N, receive, &index, MPI_STATUS_IGNORE);
            CHECK(index == MPI_UNDEFINED);
            break;
        case 1:
            for (left = N; left > 0; left -= outcount) {
                MPI_Waitsome(N, receive, &outcount, indices, statuses);
                for (int i = 0; i < outcount; i++)
                    CHECK(statuses[i].MPI_TAG == indices[i] && statuses[i].MPI_SOURCE == prev);
            }
            break;
        case 2:
            do
                MPI_Testall(N, receive, &flag, statuses);
            while (!flag);
            for (int i = 0; i < N; i++)
                CHECK(statuses[i].MPI_TAG == i);
            break;
        case 3:
            for (left = N; left > 0; left -= flag) {
                MPI_Testany(N, receive, &index, &flag, &status);
                CHECK(!flag || status.MPI_TAG == index);
            }
            break;
        case 4:
            for (left = N; left > 0; left -= outcount) {
                MPI_Testsome(N, receive, &outcount, indices, MPI_STATUSES_IGNORE);
                CHECK(outcount >= 0 && outcount <= left);
            }
            break;
        case 5:
            for (int i = N - 1; i >= 0; i--)
                MPI_Wait(&receive[i], &status);
            break;
        case 6:
            for (int i = 0; i < N; i++)
                do
                    MPI_Test(&receive[i], &flag, MPI_STATUS_IGNORE);
                while (!flag);
            break;
        case 7:
            MPI_Waitall(N, receive, statuses);
            for (int i = 0; i < N; i++)
                CHECK(statuses[i].MPI_TAG == i && statuses[i].MPI_SOURCE == prev);
            break;
        }
        MPI_Waitall(N, send, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++)
            CHECK(in[i] == 10 * prev + i && receive[i] == MPI_REQUEST_NULL);
    }
}

static void many(void)
{
    static int out[MANY], in[MANY];
    static MPI_Request request[2 * MANY];
    static MPI_Status status[2 * MANY];
    for (int i = 0; i < MANY; i++) {
        out[i] = rank * MANY + i;
        MPI_Irecv(&in[i], 1, MPI_INT, prev, i, MPI_COMM_WORLD, &request[i]);
    }
    for (int i = MANY - 1; i >= 0; i--)
        MPI_Isend(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &request[MANY + i]);
    MPI_Waitall(2 * MANY, request, status);
    for (int i = 0; i < MANY; i++)
        CHECK(in[i] == prev * MANY + i && status[i].MPI_TAG == i);
}

/* Requests that end otherwise: freed while active, cancelled, asked for their status, null or inactive ones. */
static void odd_ends(void)
{
    int out = rank, in = -1, flag = 0;
    count_t count = -1;
    MPI_Request request, receive;
    MPI_Status status;

    MPI_Irecv(&in, 1, MPI_INT, prev, 50, MPI_COMM_WORLD, &receive);
    MPI_Isend(&out, 1, MPI_INT, next, 50, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
    do
        MPI_Request_get_status(receive, &flag, &status);
    while (!flag);
    CHECK(receive != MPI_REQUEST_NULL && status.MPI_SOURCE == prev);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    CHECK(in == prev);
    MPI_Barrier(MPI_COMM_WORLD); /* the freed send is complete before its buffer goes */

    MPI_Irecv(&in, 1, MPI_INT, prev, 51, MPI_COMM_WORLD, &request); /* nobody sends this */
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);

    MPI_Wait(&request, MPI_STATUS_IGNORE); /* MPI_REQUEST_NULL is allowed */
    MPI_Test(&request, &flag, &status);
    CHECK(flag && status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);

    MPI_Isend(&out, 1, MPI_INT, MPI_PROC_NULL, 52, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Irecv(&in, 1, MPI_INT, MPI_PROC_NULL, 52, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status); /* MPICH 4.0 leaves the source of this status wrong; the count is right */
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 0);
}

/* The library gives the same handle out again and again; every use is a request of its own. */
static void reuse(void)
{
    for (int i = 0; i < 500; i++) {
        int out = i, in = -1;
        MPI_Request request[2];
        MPI_Status status[2];
        MPI_Irecv(&in, 1, MPI_INT, prev, i % 3, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(&out, 1, MPI_INT, next, i % 3, MPI_COMM_WORLD, &request[1]);
        MPI_Waitall(2, request, status);
        CHECK(in == i && status[0].MPI_TAG == i % 3);
    }
}

/* Called inside MPI_Wait, hence by PMPI_ names: calls within calls are not recorded and not tallied. */
static int query(void *state, MPI_Status *status)
{
    PMPI_Status_set_elements(status, MPI_INT, *(int *)state);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int release(void *state)
{
    *(int *)state = -1;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void generalized(void)
{
    int state = 3;
    count_t count = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Grequest_start(query, release, cancel, &state, &request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 3 && state == -1);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    start_modes();
    completions();
    many();
    odd_ends();
    reuse();
    generalized();
    MPI_Status status;
    int flag;
    MPI_Status_set_elements(&status, MPI_INT, 5);
    MPI_Status_set_cancelled(&status, 1);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    return end();
}
