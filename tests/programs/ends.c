/* A program that ends badly, at a moment that is told from outside. In a mapped file of its own each rank counts how often
 * each thread has begun and ended each MPI function, so that the counts outlive it: tests/src/failures/ compares them
 * with what the recorder kept.
 *
 *   ends WAY RANK MICROSECONDS THREADS FILES ROUNDS LOCAL
 *
 * RANK (-1: every rank; a number that no rank has: none) comes to its end by WAY that long after MPI_Init returned, or after
 * it entered MPI_Finalize for the ways that begin with "merge". Those for which memory runs out (merge-as, merge-data) have as
 * many KB left instead, from when they enter MPI_Finalize. THREADS of every rank call MPI, the others on communicators of their
 * own. FILES is 1 for accesses to a file, too. What does not end before calls MPI_Finalize after so many ROUNDS. In each of them a
 * rank also makes LOCAL messages to itself, which take no time of other ranks. The counts go to RANK.ends in the working
 * directory. */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define FUNCTIONS(F)                                                                                                       \
    F(MPI_Init_thread) F(MPI_Comm_rank) F(MPI_Comm_size) F(MPI_Sendrecv) F(MPI_Isend) F(MPI_Irecv) F(MPI_Waitall)          \
    F(MPI_Iprobe) F(MPI_Allreduce) F(MPI_Barrier) F(MPI_Comm_dup) F(MPI_Comm_free) F(MPI_Type_contiguous)                  \
    F(MPI_Type_commit) F(MPI_Type_free) F(MPI_File_open) F(MPI_File_write_at) F(MPI_File_close) F(MPI_Send) F(MPI_Abort)   \
    F(MPI_Finalize)

#define NUMBER(function) N_##function,
enum { FUNCTIONS(NUMBER) LENGTH, NAME = 32, THREADS = 8 };

struct count {
    unsigned long long begun, ended;
};

/* What the mapped file holds. */
struct map {
    unsigned long long functions, threads, pid;
    unsigned long long struck; /* 1 when the end has begun */
    char names[LENGTH][NAME];
    struct count counts[THREADS][LENGTH];
};

static volatile struct map *map;
static __thread int me; /* number of the thread */

static inline void enter(int function)
{
    map->counts[me][function].begun++;
}
static inline int leave(int function, int code)
{
    map->counts[me][function].ended++;
    return code;
}
#define CALL(function, ...) (enter(N_##function), leave(N_##function, function(__VA_ARGS__)))

static const char *way;
static long moment;
static int strikes; /* whether this rank is to end */

static void pass(long microseconds)
{
    struct timespec t = {microseconds / 1000000, microseconds % 1000000 * 1000};
    nanosleep(&t, NULL);
}

static int way_is(const char *name)
{
    const char *plain = strncmp(way, "merge-", 6) == 0 ? way + 6 : way;
    return strcmp(plain, name) == 0;
}

/* Ends the process from a thread that never calls MPI. What only a thread that does can do is left to the main one. */
static void *fate(void *unused)
{
    (void)unused;
    pass(moment);
    map->struck = 1;
    if (way_is("kill"))
        kill(getpid(), SIGKILL);
    if (way_is("term"))
        kill(getpid(), SIGTERM);
    if (way_is("stop"))
        kill(getpid(), SIGSTOP);
    if (way_is("segv"))
        *(volatile int *)8 = 0;
    if (way_is("abort"))
        abort();
    if (way_is("quick"))
        _exit(7);
    if (way_is("quick-exit"))
        quick_exit(7);
    if (way_is("exit-thread"))
        exit(7);
    /* What only the main thread can do, and nothing else. */
    if (!way_is("mpi-abort") && !way_is("mpi-error") && !way_is("exit") && !way_is("stop"))
        _exit(2);
    return NULL;
}

/* From now on this process gets no more than `moment` KB of address space, or of data. */
static void limit_memory(void)
{
    unsigned long kilobytes = 0, found;
    char line[256];
    int is_data = way_is("data");
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, is_data ? "VmData: %lu" : "VmSize: %lu", &found) == 1)
            kilobytes = found;
    if (!status || !kilobytes)
        exit(2);
    fclose(status);
    struct rlimit most = {(kilobytes + moment) << 10, (kilobytes + moment) << 10};
    if (setrlimit(is_data ? RLIMIT_DATA : RLIMIT_AS, &most) != 0)
        exit(2);
}

static void prepare_fate(void)
{
    pthread_t thread;
    if (strikes && pthread_create(&thread, NULL, fate, NULL) != 0)
        exit(2);
}

/* What the main thread does between two calls when it is time. */
static void end_here(void)
{
    if (way_is("mpi-abort"))
        CALL(MPI_Abort, MPI_COMM_WORLD, 3);
    if (way_is("mpi-error")) {
        int out = 0;
        CALL(MPI_Send, &out, 1, MPI_INT, 1 << 20, 0, MPI_COMM_WORLD); /* fatal by default */
    }
    if (way_is("exit"))
        exit(0);
}

static void to_itself(int i)
{
    int in = -1, flag;
    CALL(MPI_Iprobe, 0, me, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    CALL(MPI_Sendrecv, &i, 1, MPI_INT, 0, me, &in, 1, MPI_INT, 0, me, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    if (in != i)
        _exit(9);
}

static void *alone(void *number)
{
    me = (int)(long)number;
    for (int i = 0;; i++) {
        to_itself(i);
        /* Two cores are shared by all. */
        if (i % 64 == 0)
            pass(50);
    }
    return NULL;
}

static void exchange(int i, int rank, int size)
{
    int next = (rank + 1) % size, previous = (rank + size - 1) % size, in = -1, flag;
    CALL(MPI_Sendrecv, &i, 1, MPI_INT, next, 0, &in, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (in != i)
        _exit(9);
    CALL(MPI_Iprobe, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (i % 2 == 0) {
        MPI_Request requests[2];
        CALL(MPI_Irecv, &in, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, &requests[0]);
        CALL(MPI_Isend, &i, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[1]);
        CALL(MPI_Waitall, 2, requests, MPI_STATUSES_IGNORE);
    }
    if (i % 8 == 0)
        CALL(MPI_Allreduce, &i, &in, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (i % 32 == 0)
        CALL(MPI_Barrier, MPI_COMM_WORLD);
    if (i % 256 == 0) {
        MPI_Comm dup;
        MPI_Datatype type;
        CALL(MPI_Comm_dup, MPI_COMM_WORLD, &dup);
        CALL(MPI_Type_contiguous, 3, MPI_INT, &type);
        CALL(MPI_Type_commit, &type);
        CALL(MPI_Type_free, &type);
        CALL(MPI_Comm_free, &dup);
    }
}

int main(int argc, char **argv)
{
    const char *name = getenv("PMI_RANK");
    if (!name)
        name = getenv("OMPI_COMM_WORLD_RANK");
    if (argc < 8 || !name)
        return 2;
    way = argv[1];
    moment = atol(argv[3]);
    int threads = atoi(argv[4]), files = atoi(argv[5]), rounds = atoi(argv[6]), local = atoi(argv[7]);
    int got, rank, size;
    strikes = atoi(argv[2]) == -1 || atoi(argv[2]) == atoi(name);
    char path[64];
    snprintf(path, sizeof path, "%s.ends", name);
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (threads > THREADS || file < 0 || ftruncate(file, sizeof *map) != 0)
        return 2;
    map = mmap(NULL, sizeof *map, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map == MAP_FAILED)
        return 2;
    close(file);
#define KEEP_NAME(function) strcpy((char *)map->names[N_##function], #function);
    FUNCTIONS(KEEP_NAME)
    map->functions = LENGTH;
    map->threads = THREADS;
    map->pid = getpid();
    int in_merge = strncmp(way, "merge-", 6) == 0;
    if (way_is("init-kill")) {
        way = "kill";
        prepare_fate();
    }
    CALL(MPI_Init_thread, &argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &got);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &size);
    if (threads > 1 && got < MPI_THREAD_MULTIPLE)
        return 2;
    MPI_File data = MPI_FILE_NULL;
    if (files)
        CALL(MPI_File_open, MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &data);
    if (!in_merge && !way_is("hang"))
        prepare_fate();
    for (int i = 1; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, alone, (void *)(long)i) != 0)
            return 2;
    }
    for (int i = 0; i < rounds; i++) {
        exchange(i, rank, size);
        for (int j = 0; j < local; j++)
            to_itself(j);
        if (files && i % 4 == 0)
            CALL(MPI_File_write_at, data, 4096L * (i / 4 % 1024), &i, 1, MPI_INT, MPI_STATUS_IGNORE);
        if (map->struck)
            end_here();
    }
    if (files)
        CALL(MPI_File_close, &data);
    if (way_is("as") || way_is("data")) {
        if (strikes)
            limit_memory();
    } else if (in_merge)
        prepare_fate();
    if (way_is("hang") && strikes)
        for (;;)
            pause();
    CALL(MPI_Finalize);
    return 0;
}
