/* What include/trace.h declares, weak: CallIDs inside and outside calls, recording switched off and on. Without the recorder
 * the functions are not there. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include "../../include/trace.h"

#pragma weak trace_callid
#pragma weak trace_on
#pragma weak trace_off
#pragma weak trace_is_on
#pragma weak trace_version

static uint64_t inside[2];
static int calls, wrong;

#define CHECK(what) do { if (!(what)) { wrong++; printf("line %d: %s\n", __LINE__, #what); } } while (0)

/* Runs inside MPI_Allreduce, in the thread that called it. */
static void operation(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void) length, (void) type;
    if (trace_callid)
        inside[calls & 1] = trace_callid();
    calls++;
    *(int *) inout += *(int *) in;
}

int main(int argc, char **argv)
{
    int rank, one = 1, sum;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op_create(operation, 1, &op);
    if (trace_callid) {
        CHECK(trace_version() == TRACE_VERSION);
        CHECK(trace_is_on());
        CHECK(trace_callid() == 0);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
        if (calls) { /* not every rank has to compute */
            uint64_t first = inside[(calls - 1) & 1];
            int before = calls;
            CHECK(first != 0);
            CHECK(first >> 40 == (uint64_t) rank);
            MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
            if (calls > before)
                CHECK(inside[(calls - 1) & 1] > first);
        } else {
            MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
        }
        CHECK(trace_callid() == 0);
        trace_off();
        CHECK(!trace_is_on());
    } else {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    }
    /* Made while recording is off, used while it is on. */
    MPI_Comm copy;
    MPI_Datatype pair;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    if (trace_on)
        trace_on();
    int data[2] = {1, 2}, size;
    MPI_Comm_size(copy, &size);
    if (rank == 0)
        for (int to = 1; to < size; to++)
            MPI_Send(data, 1, pair, to, 5, copy);
    else
        MPI_Recv(data, 1, pair, 0, 5, copy, MPI_STATUS_IGNORE);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    MPI_Comm_free(&copy);
    int all;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        puts(all ? "wrong" : "ok");
    MPI_Finalize();
    return all != 0;
}
