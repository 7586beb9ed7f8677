// Regions of C++: scopes, also those that an exception leaves.
#include <mpi.h>
#include "../../include/trace.h"

static void thrower(int i)
{
    TRACE_SCOPE("left by throw");
    trace::scope other("inner");
    if (i % 2)
        throw i;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 5; i++) {
        try {
            thrower(i);
        } catch (int) {
        }
    }
    MPI_Finalize();
    return 0;
}
