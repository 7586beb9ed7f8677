/* A communicator and a datatype that a function of the program makes while MPI calls it, and that are used afterwards; and such a function that an error
 * handler jumps back into, out of a call that failed. What it calls is left out of the tally, by the parentheses round the names. */
#include "check.h"
#include <setjmp.h>

static MPI_Comm inner = MPI_COMM_NULL;
static MPI_Datatype three;
static jmp_buf place;
static int jumps;

static int copy(MPI_Comm comm, int keyval, void *extra, void *value, void *copied, int *flag)
{
    /* In the other order of ranks. */
    (MPI_Comm_split)(MPI_COMM_WORLD, 0, -rank, &inner);
    (MPI_Type_contiguous)(3, MPI_INT, &three);
    (MPI_Type_commit)(&three);
    *flag = 0;
    return MPI_SUCCESS;
}

static void back(MPI_Comm *comm, int *code, ...)
{
    longjmp(place, 1);
}

static int copy_with_error(MPI_Comm comm, int keyval, void *extra, void *value, void *copied, int *flag)
{
    int r;
    if (setjmp(place) == 0)
        (MPI_Cart_rank)(*(MPI_Comm *)value, &r, &r);
    else
        jumps++;
    *flag = 0;
    return MPI_SUCCESS;
}

/* A message with tag 5 from rank 0 to rank 1 of a communicator. */
static void message(MPI_Comm comm, int count, MPI_Datatype type)
{
    int numbers[3] = {1, 2, 3}, mine;
    MPI_Comm_rank(comm, &mine);
    if (mine == 0)
        MPI_Send(numbers, count, type, 1, 5, comm);
    if (mine == 1)
        MPI_Recv(numbers, count, type, 0, 5, comm, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int keyval, erring;
    MPI_Comm base, first, again, failing;
    MPI_Errhandler jumping;
    begin(&argc, &argv);
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &base);
    MPI_Comm_set_attr(base, keyval, &keyval);
    /* Its handle may come again. */
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    message(first, 2, MPI_INT);
    MPI_Comm_free(&first);
    MPI_Comm_dup(base, &again);
    message(inner, 1, three);

    MPI_Comm_create_keyval(copy_with_error, MPI_COMM_NULL_DELETE_FN, &erring, NULL);
    MPI_Comm_create_errhandler(back, &jumping);
    MPI_Comm_dup(MPI_COMM_WORLD, &failing);
    MPI_Comm_set_errhandler(failing, jumping);
    MPI_Comm_set_attr(MPI_COMM_SELF, erring, &failing);
    MPI_Comm self;
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    CHECK(jumps == 1);
    message(base, 3, MPI_INT);

    MPI_Comm_delete_attr(MPI_COMM_SELF, erring);
    MPI_Comm_free(&self);
    MPI_Type_free(&three);
    MPI_Comm_free(&inner);
    MPI_Comm_free(&again);
    MPI_Comm_free(&base);
    return end();
}
