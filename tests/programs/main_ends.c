/* The main thread has ended when another one calls MPI_Finalize: the system tells no more what the program is called. */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

static void *finalize(void *unused)
{
    (void)unused;
    usleep(100000);
    end();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(pthread_create(&thread, NULL, finalize, NULL) == 0);
    pthread_exit(NULL);
}
