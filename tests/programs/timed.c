/* Times what it does, and asks for what is there: `timed ROUNDS`. Half of its calls read the clock, none of them in vain. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 1000, flag, me;
    double spent = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    for (int i = 0; i < rounds; i++) {
        double start = MPI_Wtime();
        MPI_Comm_rank(MPI_COMM_WORLD, &me);
        spent += MPI_Wtime() - start;
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(flag && me == rank);
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(flag);
    }
    CHECK(spent >= 0);
    return end();
}
