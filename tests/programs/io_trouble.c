/* I/O in which ranks differ, get in each other's way, or fail. `io_trouble CASE...` runs the cases in the working directory.
 *
 * Each rank keeps its own clock readings of what a case costs, or the bytes or times it counts, and prints them at the end: case, rank, number,
 * seconds. What `mpitrace io` says of a case must agree. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    BLOCK = 4 << 10,
    LARGE = 1 << 20,
    BIG = 64 << 20,
    RECORD = 100, /* bytes of a small record */
    MANY = 200
};

static int rank, size;
static char *data;
static long number;
static double seconds;
static MPI_Status status;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

#define TIMED(call)                                                                             \
    do {                                                                                        \
        double before = now();                                                                  \
        call;                                                                                   \
        seconds += now() - before;                                                              \
    } while (0)

static MPI_File opened(const char *name, MPI_Info info)
{
    MPI_File file;
    if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return file;
}

static void sleep_ms(int ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000L };
    while (nanosleep(&t, &t) == -1 && errno == EINTR)
        ;
}

/* The last rank comes 20 ms late to each collective write. The time until it comes is what the others wait, where the write exchanges data. */
static void late(void)
{
    MPI_File file = opened("late", MPI_INFO_NULL);
    for (int i = 0; i < 20; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == size - 1)
            sleep_ms(20);
        double begun = now(), last;
        MPI_File_write_at_all(file, ((MPI_Offset)i * size + rank) * BLOCK, data, BLOCK, MPI_BYTE, &status);
        MPI_Allreduce(&begun, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        seconds += last - begun;
        number++;
    }
    MPI_File_close(&file);
}

/* One rank writes three times what the other does. */
static void unequal(void)
{
    int blocks = rank == 0 ? 48 : 16;
    MPI_File file = opened("unequal", MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < blocks; i++)
        TIMED(MPI_File_write_at(file, (MPI_Offset)(rank * 48 + i) * LARGE, data, LARGE, MPI_BYTE, &status));
    number = (long)blocks * LARGE;
    MPI_File_close(&file);
}

/* Ranks read as much, but one of them by far more calls. */
static void slow(void)
{
    MPI_File file = opened("slow", MPI_INFO_NULL);
    MPI_File_write_at(file, (MPI_Offset)rank * LARGE, data, LARGE, MPI_BYTE, &status);
    MPI_Barrier(MPI_COMM_WORLD);
    int bytes = rank == 2 ? 64 : LARGE;
    for (int at = 0; at < LARGE; at += bytes)
        TIMED(MPI_File_read_at(file, (MPI_Offset)rank * LARGE + at, data, bytes, MPI_BYTE, &status));
    number = LARGE;
    MPI_File_close(&file);
}

/* Two of three ranks share a file, and the second comes 50 ms late to each collective write: the first has no slow disk. */
static void waiting(void)
{
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 2, rank, &comm);
    MPI_File file;
    char name[64];
    snprintf(name, sizeof name, "waiting.%d", rank == 2);
    if (MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < 10; i++) {
        MPI_Barrier(comm);
        if (rank == 1)
            sleep_ms(50);
        MPI_File_write_at_all(file, ((MPI_Offset)i * size + rank) * BLOCK, data, BLOCK, MPI_BYTE, &status);
    }
    number = 10 * BLOCK;
    MPI_File_close(&file);
    MPI_Comm_free(&comm);
}

/* Atomic mode, where nobody needs it. */
static void atomic(void)
{
    MPI_File file = opened("atomic", MPI_INFO_NULL);
    MPI_File_set_atomicity(file, 1);
    for (int i = 0; i < MANY; i++)
        TIMED(MPI_File_write_at(file, ((MPI_Offset)i * size + rank) * BLOCK, data, BLOCK, MPI_BYTE, &status));
    number = MANY;
    MPI_File_close(&file);
}

/* The limit for the size of files makes writes fail, and the one that goes beyond it short. */
static void failing(void)
{
    struct rlimit before, limit;
    char name[64];
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 10 * BLOCK + RECORD;
    setrlimit(RLIMIT_FSIZE, &limit);
    snprintf(name, sizeof name, "failing.%d", rank);
    int file = open(name, O_WRONLY | O_CREAT, 0666);
    for (int i = 0; i < 20; i++)
        number += pwrite(file, data, BLOCK, (off_t)i * BLOCK) == -1;
    close(file);
    setrlimit(RLIMIT_FSIZE, &before);
}

/* All ranks write the same bytes in one collective call. */
static void overwriting(void)
{
    MPI_File file = opened("overwriting", MPI_INFO_NULL);
    MPI_File_write_at_all(file, 0, data, LARGE, MPI_BYTE, &status);
    number = LARGE;
    MPI_File_close(&file);
}

/* A rank writes every second block with a hint for data sieving: what is between is read and written again. */
static void sieving(void)
{
    MPI_Datatype piece, mine;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_ds_write", "enable");
    MPI_File file = opened("sieving", info);
    MPI_File_write_at_all(file, (MPI_Offset)rank * LARGE, data, LARGE, MPI_BYTE, &status);
    MPI_Type_contiguous(RECORD, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, 2 * RECORD, &mine);
    MPI_Type_commit(&mine);
    MPI_File_set_view(file, (MPI_Offset)rank * LARGE, MPI_BYTE, mine, "native", info);
    TIMED(MPI_File_write_at(file, 0, data, LARGE / 2 / RECORD * RECORD, MPI_BYTE, &status));
    number = LARGE / 2 / RECORD;
    MPI_File_close(&file);
    MPI_Type_free(&mine);
    MPI_Type_free(&piece);
    MPI_Info_free(&info);
}

/* Collective calls for a record each. */
static void small_collectives(void)
{
    MPI_File file = opened("small_collectives", MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++)
        TIMED(MPI_File_write_at_all(file, ((MPI_Offset)i * size + rank) * RECORD, data, RECORD, MPI_BYTE, &status));
    number = MANY;
    MPI_File_close(&file);
}

/* Small records one behind the other, each rank in its part of the file. */
static void small_requests(void)
{
    MPI_File file = opened("small_requests", MPI_INFO_NULL);
    for (int i = 0; i < MANY; i++)
        TIMED(MPI_File_write_at(file, ((MPI_Offset)rank * MANY + i) * BLOCK, data, BLOCK, MPI_BYTE, &status));
    number = MANY;
    MPI_File_close(&file);
}

/* Small writes here and there. */
static void random_writes(void)
{
    unsigned at = 12345u + 77u * (unsigned)rank;
    MPI_File file = opened("random_writes", MPI_INFO_NULL);
    for (int i = 0; i < MANY; i++) {
        at = at * 1103515245u + 12345u;
        MPI_Offset block = rank * (MPI_Offset)2048 + (at >> 8) % 2048u;
        TIMED(MPI_File_write_at(file, block * BLOCK, data, BLOCK, MPI_BYTE, &status));
    }
    number = MANY;
    MPI_File_close(&file);
}

/* One rank reads all, and the others wait in a broadcast of its last byte. */
static void one_rank_reads(void)
{
    MPI_File file = opened("one_rank_reads", MPI_INFO_NULL);
    MPI_File_write_at_all(file, rank * (MPI_Offset)(BIG / size), data, BIG / size, MPI_BYTE, &status);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 0; i < 16; i++)
            MPI_File_read_at(file, i * (MPI_Offset)(BIG / 16), data + i * (BIG / 16), BIG / 16, MPI_BYTE, &status);
    if (rank == 0)
        MPI_Bcast(data, 1, MPI_BYTE, 0, MPI_COMM_WORLD);
    else
        TIMED(MPI_Bcast(data, 1, MPI_BYTE, 0, MPI_COMM_WORLD));
    number = BIG;
    MPI_File_close(&file);
}

/* Files of C's library, whose transfers are inside libc. */
static void stdio(void)
{
    char name[64];
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof name, "stdio.%d.%d", rank, i);
        FILE *file = fopen(name, "w");
        if (!file || fwrite(data, 1, LARGE, file) != LARGE)
            MPI_Abort(MPI_COMM_WORLD, 1);
        fclose(file);
        number++;
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"late", late},
    {"unequal", unequal},
    {"slow", slow},
    {"waiting", waiting},
    {"atomic", atomic},
    {"failing", failing},
    {"overwriting", overwriting},
    {"sieving", sieving},
    {"small-collectives", small_collectives},
    {"small-requests", small_requests},
    {"random-writes", random_writes},
    {"one-rank-reads", one_rank_reads},
    {"stdio", stdio},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    data = malloc(BIG);
    memset(data, rank + 1, BIG);
    for (int i = 1; i < argc; i++) {
        for (size_t nth = 0; nth < sizeof cases / sizeof *cases; nth++) {
            if (strcmp(argv[i], cases[nth].name))
                continue;
            number = 0, seconds = 0;
            MPI_Barrier(MPI_COMM_WORLD);
            cases[nth].run();
            double own[2] = {(double)number, seconds}, all[2 * 64];
            MPI_Gather(own, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
            for (int r = 0; rank == 0 && r < size; r++)
                printf("%s %d %.0f %.9f\n", argv[i], r, all[2 * r], all[2 * r + 1]);
        }
    }
    free(data);
    MPI_Finalize();
    return 0;
}
