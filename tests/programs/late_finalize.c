/* MPI_Finalize in a handler of atexit, and one rank that exchanges nothing with any other. */
#include "check.h"

static void finalize(void)
{
    MPI_Finalize();
    if (rank == 0)
        printf("ok\n");
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    atexit(finalize);
    if (size > 1 && rank == size - 1)
        return 0;
    MPI_Comm comm;
    MPI_Group all, some;
    int last = size - 1, sum = 0, one = 1;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_excl(all, size > 1, &last, &some);
    MPI_Comm_create_group(MPI_COMM_WORLD, some, 3, &comm);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == (size > 1 ? size - 1 : 1));
    MPI_Comm_free(&comm);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    exit(0);
}
