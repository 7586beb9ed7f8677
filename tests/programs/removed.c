/* The ten names of MPI 1 that MPI 3 removed. MPICH still declares them; Open MPI hides them unless asked. */
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0
#include "check.h"

static int calls;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    calls++;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int data[8], in[8], lengths[2] = {1, 2};
    MPI_Aint start, displs[2] = {0, 8}, extent, lb, ub;
    MPI_Datatype type, types[2] = {MPI_INT, MPI_INT};
    MPI_Errhandler errhandler, old;
    for (int i = 0; i < 8; i++)
        data[i] = 10 * rank + i;

    MPI_Address(data, &start);
    CHECK((char *)start == (char *)data);
    MPI_Type_extent(MPI_INT, &extent);
    CHECK(extent == 4);
    MPI_Type_hvector(2, 1, 8, MPI_INT, &type);
    MPI_Type_lb(type, &lb);
    MPI_Type_ub(type, &ub);
    CHECK(lb == 0 && ub == 12);
    MPI_Type_free(&type);
    MPI_Type_hindexed(2, lengths, displs, MPI_INT, &type);
    MPI_Type_free(&type);
    MPI_Type_struct(2, lengths, displs, types, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(data, 1, type, next, 0, in, 1, type, prev, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in[3] == 10 * prev + 3);
    MPI_Type_free(&type);

    MPI_Errhandler_create(handler, &errhandler);
    MPI_Errhandler_get(MPI_COMM_SELF, &old);
    MPI_Errhandler_set(MPI_COMM_SELF, errhandler);
    MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER);
    CHECK(calls == 1);
    MPI_Errhandler_set(MPI_COMM_SELF, old);
    MPI_Errhandler_free(&errhandler);
    return end();
}
