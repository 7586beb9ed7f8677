/* Functions of the program that MPI calls, and that call MPI in turn: reductions, copying and deleting of attributes, error
 * handlers, generalized requests, data representations. What they call is no call of the program's own: it is left out of
 * the tally, by the parentheses round the names. */
#include "check.h"

static int reductions, copies, deletions, errors, queries, frees, cancels, extents;

static void ask(MPI_Comm comm)
{
    int r = -1, n = -1;
    (MPI_Comm_rank)(comm, &r);
    (MPI_Comm_size)(comm, &n);
    CHECK(r >= 0 && r < n);
}

static void sum(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int bytes = 0;
    (MPI_Type_size)(*type, &bytes);
    CHECK(bytes == sizeof(int));
    ask(MPI_COMM_WORLD);
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
    reductions++;
}

static int copy(MPI_Comm comm, int keyval, void *extra, void *value, void *copied, int *flag)
{
    ask(comm);
    *(void **)copied = value;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    ask(comm);
    deletions++;
    return MPI_SUCCESS;
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0, class = 0;
    (MPI_Error_class)(*code, &class);
    (MPI_Error_string)(*code, text, &length);
    ask(*comm);
    CHECK(length > 0);
    errors++;
}

static int query(void *extra, MPI_Status *status)
{
    (MPI_Status_set_elements)(status, MPI_INT, 3);
    (MPI_Status_set_cancelled)(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED, status->MPI_TAG = MPI_UNDEFINED;
    queries++;
    return MPI_SUCCESS;
}

static int free_request(void *extra)
{
    ask(MPI_COMM_WORLD);
    frees++;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    ask(MPI_COMM_WORLD);
    cancels++;
    return MPI_SUCCESS;
}

static int extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    int bytes = 0;
    (MPI_Type_size)(type, &bytes);
    *extent = bytes;
    extents++;
    return MPI_SUCCESS;
}

static void reduce(void)
{
    MPI_Op op;
    int one[4] = {1, 1, 1, 1}, total[4];
    MPI_Op_create(sum, 1, &op);
    for (int i = 0; i < 50; i++) {
        MPI_Allreduce(one, total, 4, MPI_INT, op, MPI_COMM_WORLD);
        CHECK(total[3] == size);
        MPI_Scan(one, total, 4, MPI_INT, op, MPI_COMM_WORLD);
        CHECK(total[0] == rank + 1);
    }
    MPI_Op_free(&op);
    CHECK(size == 1 || reductions > 0);
}

static void attributes(void)
{
    int keyval;
    static int value = 7;
    MPI_Comm comm, again;
    MPI_Comm_create_keyval(copy, delete, &keyval, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_attr(comm, keyval, &value);
    MPI_Comm_dup(comm, &again);
    CHECK(copies == 1);
    MPI_Comm_delete_attr(again, keyval);
    MPI_Comm_free(&again);
    MPI_Comm_free(&comm);
    CHECK(deletions == 2);
    /* One that MPI_Finalize deletes. */
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &value);
}

static void handlers(void)
{
    MPI_Comm comm;
    MPI_Errhandler handler;
    int buffer = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    CHECK(MPI_Send(&buffer, 1, MPI_INT, size + 10, 0, comm) != MPI_SUCCESS);
    MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
    CHECK(errors == 2);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
}

static void generalized(void)
{
    MPI_Request request;
    MPI_Status status;
    int count = 0, flag = 0;
    MPI_Grequest_start(query, free_request, cancel, NULL, &request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 3 && queries >= 1 && frees == 1);
    MPI_Grequest_start(query, free_request, cancel, NULL, &request);
    MPI_Cancel(&request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(cancels == 1 && frees == 2);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    reduce();
    attributes();
    handlers();
    generalized();
    MPI_Register_datarep("tests/callbacks", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    int before = deletions;
    MPI_Finalize();
    if (deletions != before + 1)
        return 1;
    if (rank == 0)
        printf("ok\n");
    return 0;
}
