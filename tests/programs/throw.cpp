// An error handler that throws: the exception goes through the recorder's wrapper, and later calls are recorded as before.
#include <cstdio>
#include <mpi.h>

static void handler(MPI_Comm *, int *code, ...)
{
    throw *code;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Errhandler errhandler;
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
    int caught = 0, x = 0, rank, size;
    for (int on = 0; on < 2; on++) {
        MPI_Pcontrol(on);
        try {
            MPI_Send(&x, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD);
        } catch (int) {
            caught++;
        }
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        std::puts(caught == 2 ? "ok" : "not caught");
    MPI_Errhandler_free(&errhandler);
    MPI_Finalize();
}
