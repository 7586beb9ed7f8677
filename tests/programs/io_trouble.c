/* I/O in which ranks differ, get in each other's way, or fail. What `mpitrace io` says of a case must agree with what the program counts and with its own clock
 * readings. */
#include "io_cases.h"
#include <signal.h>
#include <sys/resource.h>

enum {
    BLOCK = 4 << 10,
    RECORD = 100, /* bytes of a small record */
    MANY = 200,
    ROUNDS = 8 /* so often a rank moves the same bytes, which takes longer than others' processors may be taken away */
};

static void sleep_ms(int ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000L };
    while (nanosleep(&t, &t) == -1 && errno == EINTR)
        ;
}

/* The last rank comes 20 ms late to each collective write. The time until it comes is what the others wait, where the write exchanges data. */
static void late(void)
{
    MPI_File file = common("late");
    for (int i = 0; i < 20; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == size - 1)
            sleep_ms(20);
        double begun = now(), last;
        MPI_File_write_at_all(file, ((MPI_Offset)i * size + rank) * BLOCK, data, BLOCK, MPI_BYTE, &status);
        MPI_Allreduce(&begun, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        seconds += last - begun;
        count++;
    }
    MPI_File_close(&file);
}

/* One rank writes fifteen times what the other does. */
static void unequal(void)
{
    int blocks = rank == 0 ? 60 : 4;
    MPI_File file = common("unequal");
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS * blocks; i++)
        CALL(MPI_File_write_at(file, (MPI_Offset)(rank * 60 + i % blocks) * LARGE, data, LARGE, MPI_BYTE, &status));
    MPI_File_close(&file);
}

/* One rank reads fifteen times what the other does. The file has a size but nobody has written it: beside a slow write the reads would cost nearly nothing. */
static void unequal_reads(void)
{
    int blocks = rank == 0 ? 60 : 4;
    MPI_File file = common("unequal_reads");
    MPI_File_set_size(file, BIG);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS * blocks; i++)
        CALL(MPI_File_read_at(file, (MPI_Offset)(rank * 60 + i % blocks) * LARGE, data, LARGE, MPI_BYTE, &status));
    MPI_File_close(&file);
}

/* Ranks read as much, but one of them by far more calls. Nobody writes: one slow write would be longer than all reads. */
static void slow(void)
{
    MPI_File file = common("slow");
    MPI_File_set_size(file, (MPI_Offset)size * LARGE);
    MPI_Barrier(MPI_COMM_WORLD);
    int bytes = rank == 2 ? 16 : LARGE;
    for (int at = 0; at < LARGE; at += bytes)
        CALL(MPI_File_read_at(file, (MPI_Offset)rank * LARGE + at, data, bytes, MPI_BYTE, &status));
    MPI_File_close(&file);
}

/* Two of three ranks share a file, and the second comes 50 ms late to each collective write: the first has no slow disk. */
static void waiting(void)
{
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 2, rank, &comm);
    char name[64];
    snprintf(name, sizeof name, "waiting.%d", rank == 2);
    MPI_File file = opened(comm, name, MPI_INFO_NULL);
    for (int i = 0; i < 10; i++) {
        MPI_Barrier(comm);
        if (rank == 1)
            sleep_ms(50);
        MPI_File_write_at_all(file, ((MPI_Offset)i * size + rank) * BLOCK, data, BLOCK, MPI_BYTE, &status);
    }
    MPI_File_close(&file);
    MPI_Comm_free(&comm);
}

/* Atomic mode, where nobody needs it. */
static void atomic(void)
{
    MPI_File file = common("atomic");
    MPI_File_set_atomicity(file, 1);
    for (int i = 0; i < MANY; i++)
        CALL(MPI_File_write_at(file, ((MPI_Offset)i * size + rank) * BLOCK, data, BLOCK, MPI_BYTE, &status));
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
        count += pwrite(file, data, BLOCK, (off_t)i * BLOCK) == -1;
    close(file);
    setrlimit(RLIMIT_FSIZE, &before);
}

/* All ranks write the same bytes in one collective call. */
static void overwriting(void)
{
    MPI_File file = common("overwriting");
    MPI_File_write_at_all(file, 0, data, LARGE, MPI_BYTE, &status);
    MPI_File_close(&file);
}

/* A rank writes every second block with a hint for data sieving: what is between is read and written again. */
static void sieving(void)
{
    MPI_Datatype piece, mine;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_ds_write", "enable");
    MPI_File file = opened(MPI_COMM_WORLD, "sieving", info);
    MPI_File_write_at_all(file, (MPI_Offset)rank * LARGE, data, LARGE, MPI_BYTE, &status);
    MPI_Type_contiguous(RECORD, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, 2 * RECORD, &mine);
    MPI_Type_commit(&mine);
    MPI_File_set_view(file, (MPI_Offset)rank * LARGE, MPI_BYTE, mine, "native", info);
    CALL(MPI_File_write_at(file, 0, data, LARGE / 2 / RECORD * RECORD, MPI_BYTE, &status));
    MPI_File_close(&file);
    MPI_Type_free(&mine);
    MPI_Type_free(&piece);
    MPI_Info_free(&info);
}

/* Collective calls for a record each. */
static void small_collectives(void)
{
    MPI_File file = common("small_collectives");
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++)
        CALL(MPI_File_write_at_all(file, ((MPI_Offset)i * size + rank) * RECORD, data, RECORD, MPI_BYTE, &status));
    MPI_File_close(&file);
}

/* One rank writes for all, wherever they are. */
static void one_aggregator(void)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "1");
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_File file = opened(MPI_COMM_WORLD, "one_aggregator", info);
    for (int i = 0; i < 10; i++)
        CALL(MPI_File_write_at_all(file, ((MPI_Offset)i * size + rank) * LARGE, data, LARGE, MPI_BYTE, &status));
    MPI_File_close(&file);
    MPI_Info_free(&info);
}

/* Small records one behind the other, each rank in its part of the file. */
static void small_requests(void)
{
    MPI_File file = common("small_requests");
    for (int i = 0; i < MANY; i++)
        CALL(MPI_File_write_at(file, ((MPI_Offset)rank * MANY + i) * BLOCK, data, BLOCK, MPI_BYTE, &status));
    MPI_File_close(&file);
}

/* Small writes here and there. */
static void random_writes(void)
{
    unsigned at = 12345u + 77u * (unsigned)rank;
    MPI_File file = common("random_writes");
    for (int i = 0; i < MANY; i++) {
        at = at * 1103515245u + 12345u;
        MPI_Offset block = rank * (MPI_Offset)2048 + (at >> 8) % 2048u;
        CALL(MPI_File_write_at(file, block * BLOCK, data, BLOCK, MPI_BYTE, &status));
    }
    MPI_File_close(&file);
}

/* One rank reads all, and the others wait in a broadcast of its last byte until it comes. */
static void one_rank_reads(void)
{
    MPI_File file = common("one_rank_reads");
    MPI_File_write_at_all(file, rank * (MPI_Offset)(BIG / size), data, BIG / size, MPI_BYTE, &status);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 0; i < ROUNDS * 16; i++)
            MPI_File_read_at(file, i % 16 * (MPI_Offset)(BIG / 16), data + i % 16 * (BIG / 16), BIG / 16, MPI_BYTE, &status);
    double begun = now();
    MPI_Bcast(data, 1, MPI_BYTE, 0, MPI_COMM_WORLD);
    waited_for_rank_0(begun);
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
        count++;
    }
}

static const struct io_case CASES[] = {
    {"late", late},
    {"unequal", unequal},
    {"unequal-reads", unequal_reads},
    {"slow", slow},
    {"waiting", waiting},
    {"atomic", atomic},
    {"failing", failing},
    {"overwriting", overwriting},
    {"sieving", sieving},
    {"small-collectives", small_collectives},
    {"one-aggregator", one_aggregator},
    {"small-requests", small_requests},
    {"random-writes", random_writes},
    {"one-rank-reads", one_rank_reads},
    {"stdio", stdio},
};

int main(int argc, char **argv)
{
    return run_cases(argc, argv, CASES, sizeof CASES / sizeof *CASES);
}
