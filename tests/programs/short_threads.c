/* A thousand threads that come and go, eight at a time, and make a few calls each; half of them leave by pthread_exit. The
 * destructor of a thread's own data calls MPI too. */
#include "check.h"
#include <pthread.h>

#define AT_A_TIME 8
#define WAVES 125

static MPI_Comm comms[AT_A_TIME];
static pthread_key_t key;

/* What a library that cleans up after its threads may do. */
static void last_words(void *argument)
{
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 12345, *(MPI_Comm *)argument, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
}

static void *work(void *argument)
{
    long t = (long)argument;
    int out = (int)t, in = -1;
    pthread_setspecific(key, &comms[t]);
    MPI_Sendrecv(&out, 1, MPI_INT, next, 1, &in, 1, MPI_INT, prev, 1, comms[t], MPI_STATUS_IGNORE);
    CHECK(in == out);
    if (t % 2)
        pthread_exit(NULL);
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    pthread_t thread[AT_A_TIME];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size, prev = (rank + size - 1) % size;
    CHECK(level == MPI_THREAD_MULTIPLE);
    pthread_key_create(&key, last_words);
    for (int t = 0; t < AT_A_TIME; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    for (int wave = 0; wave < WAVES; wave++) {
        for (long t = 0; t < AT_A_TIME; t++)
            CHECK(pthread_create(&thread[t], NULL, work, (void *)t) == 0);
        for (int t = 0; t < AT_A_TIME; t++)
            pthread_join(thread[t], NULL);
    }
    for (int t = 0; t < AT_A_TIME; t++)
        MPI_Comm_free(&comms[t]);
    return end();
}
