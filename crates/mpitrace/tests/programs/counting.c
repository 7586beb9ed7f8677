/* A program that dies by SIGKILL in the middle of its calls, on all ranks and threads. Each thread counts in a mapped file
 * how many MPI calls it has begun and how many are done: what was recorded must lie between. */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct counts {
    unsigned long long begun, done, padding[6];
};

static volatile struct counts *counts; /* one for each thread */
static int threads, fatal_call;

#define COUNT(call) (counts[me].begun++, (call), counts[me].done++)

static void *work(void *argument)
{
    int me = (int)(long)argument, rank, flag, in;
    COUNT(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    for (int i = 1;; i++) {
        COUNT(MPI_Iprobe(0, me, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
        COUNT(MPI_Sendrecv(&i, 1, MPI_INT, 0, me, &in, 1, MPI_INT, 0, me, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        if (in != i)
            abort();
        if (i == fatal_call && rank == 1 && me == threads - 1)
            kill(getpid(), SIGKILL);
        if (i == 2 * fatal_call) /* the launcher kills this rank: wait for it */
            pause();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const char *rank = getenv("PMI_RANK");
    if (!rank)
        rank = getenv("OMPI_COMM_WORLD_RANK");
    if (argc < 3 || !rank)
        return 2;
    threads = atoi(argv[1]);
    fatal_call = atoi(argv[2]);
    char name[64];
    snprintf(name, sizeof name, "%s.counts", rank);
    int file = open(name, O_RDWR | O_CREAT, 0600), got, me = 0;
    if (file < 0 || ftruncate(file, threads * sizeof *counts) != 0)
        return 2;
    counts = mmap(NULL, threads * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (counts == MAP_FAILED)
        return 2;
    COUNT(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &got));
    if (got < MPI_THREAD_MULTIPLE && threads > 1)
        return 2;
    COUNT(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 1; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, (void *)(long)i) != 0)
            return 2;
    }
    work((void *)0);
    return 0;
}
