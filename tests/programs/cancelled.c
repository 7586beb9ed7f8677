/* Threads that are cancelled while they make calls of MPI_Comm_rank, which is no place at which a cancelled thread ends: each makes all its calls, those of
 * its cleanup handler too, and ends in pthread_testcancel. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <semaphore.h>

enum { THREADS = 4, CALLS = 10000 };

static sem_t is_cancelled;
static int made_all, cleaned_up;

static void clean_up(void *unused)
{
    int n;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    __atomic_fetch_add(&cleaned_up, 1, __ATOMIC_SEQ_CST);
}

static void *run(void *unused)
{
    int old, r;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    sem_wait(&is_cancelled);
    pthread_cleanup_push(clean_up, NULL);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    for (int i = 0; i < CALLS; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &r);
    __atomic_fetch_add(&made_all, 1, __ATOMIC_SEQ_CST);
    pthread_testcancel();
    pthread_cleanup_pop(0);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sem_init(&is_cancelled, 0, 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        void *result = NULL;
        pthread_create(&thread, NULL, run, NULL);
        pthread_cancel(thread);
        sem_post(&is_cancelled);
        pthread_join(thread, &result);
        CHECK(result == PTHREAD_CANCELED);
    }
    CHECK(made_all == THREADS);
    CHECK(cleaned_up == THREADS);
    return end();
}
