/* MPI_Init and MPI_Finalize are called by a thread that is not the program's first. */
#include "check.h"
#include <pthread.h>

static void *all(void *unused)
{
    begin(NULL, NULL);
    int in = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 0, &in, 1, MPI_INT, prev, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in == prev);
    end();
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, all, NULL);
    pthread_join(thread, NULL);
    return 0;
}
