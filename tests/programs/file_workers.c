/* Threads that never call MPI work with files: some write and read one each, many others are interrupted by a signal in the
 * middle of the allocator, and the handler makes their first call on a file; one only uses a pipe. Prints how many calls of
 * each kind were made. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "check.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum { WORKERS = 3, PIECES = 500, INTERRUPTED = 200 };

static char *folder;
static int log_file, channel[2];
static _Atomic int handled;
static _Thread_local volatile int was_here;

static void *worker(void *which)
{
    char name[300], piece[64], back[64];
    snprintf(name, sizeof name, "%s/worker.%ld", folder, (long) which);
    int fd = open(name, O_CREAT | O_TRUNC | O_RDWR, 0644);
    CHECK(fd >= 0);
    for (int i = 0; i < PIECES; i++) {
        memset(piece, i, sizeof piece);
        CHECK(write(fd, piece, sizeof piece) == sizeof piece);
        CHECK(pread(fd, back, sizeof back, 64 * i) == sizeof back && back[5] == piece[5]);
    }
    CHECK(close(fd) == 0);
    return NULL;
}

static void handler(int number)
{
    int saved = errno;
    (void) number;
    CHECK(write(log_file, "tick", 4) == 4);
    handled++;
    was_here = 1;
    errno = saved;
}

static void *interrupted(void *ready)
{
    void *some[64] = {0};
    *(_Atomic int *) ready = 1;
    for (unsigned i = 0; !was_here; i++) {
        free(some[i % 64]);
        some[i % 64] = malloc(16 + i % 5000);
    }
    for (int i = 0; i < 64; i++)
        free(some[i]);
    return NULL;
}

static void *reader(void *nothing)
{
    char byte;
    while (read(channel[0], &byte, 1) == 1)
        ;
    return nothing;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    folder = argv[1];
    pthread_t threads[WORKERS], other;
    CHECK(pipe(channel) == 0);
    pthread_create(&other, NULL, reader, NULL);
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, worker, (void *) i);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);

    char name[300];
    snprintf(name, sizeof name, "%s/log", folder);
    log_file = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR2, &action, NULL);
    for (int i = 0; i < INTERRUPTED; i++) {
        _Atomic int ready = 0;
        pthread_t thread;
        pthread_create(&thread, NULL, interrupted, &ready);
        while (!ready)
            ;
        pthread_kill(thread, SIGUSR2);
        pthread_join(thread, NULL);
    }
    close(log_file);
    CHECK(write(channel[1], "end", 3) == 3);
    close(channel[1]);
    pthread_join(other, NULL);
    printf("open %d\nwrite %d\npread %d\nclose %d\n", WORKERS + 1, WORKERS * PIECES + handled, WORKERS * PIECES, WORKERS + 1);
    MPI_Finalize();
    return 0;
}
