/* MPI 5.0 section 11.6: MPI_THREAD_MULTIPLE. Eight threads per rank, each with a communicator of its own, all at once. */
#include "check.h"
#include <pthread.h>

#define THREADS 8
#define ROUNDS 200

static MPI_Comm comms[THREADS];

static void *work(void *argument)
{
    int t = (int)(long)argument;
    for (int i = 0; i < ROUNDS; i++) {
        int out = 1000 * t + i, in = -1;
        MPI_Request request[2];
        MPI_Status status[2];
        MPI_Irecv(&in, 1, MPI_INT, prev, i, comms[t], &request[0]);
        MPI_Isend(&out, 1, MPI_INT, next, i, comms[t], &request[1]);
        MPI_Waitall(2, request, status);
        CHECK(in == out && status[0].MPI_TAG == i && status[0].MPI_SOURCE == prev);
        if (i % 50 == 0) {
            int sum = 0;
            MPI_Allreduce(&t, &sum, 1, MPI_INT, MPI_SUM, comms[t]);
            CHECK(sum == t * size);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    pthread_t thread[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size, prev = (rank + size - 1) % size;
    if (level < MPI_THREAD_MULTIPLE) {
        MPI_Finalize();
        if (rank == 0)
            printf("ok\n");
        return 0;
    }
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    for (long t = 1; t < THREADS; t++)
        pthread_create(&thread[t], NULL, work, (void *)t);
    work((void *)0L);
    for (int t = 1; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&comms[t]);
    return end();
}
