/* Programs with bad I/O, one a case, and well-behaved ones. What `mpitrace io` says a case cost must agree with the program's own clock readings. Cases that
 * end in `-better` do the same work as the advice says, and write the same file. */
#include "io_cases.h"

enum {
    FILES = 300,           /* made by each rank */
    SMALL = 8 << 10,       /* bytes of a small access */
    ODD = 10007,           /* bytes of a record that fits no block */
    RECORDS = 400,         /* records of each rank */
    READS = 800,           /* of each rank */
    MANY = 100,
    PIECE = 512,           /* bytes of a piece of a view with gaps */
    PIECES = 4000
};

/* The rank sees every so many bytes of a file, in turn with the other ranks. */
static void view(MPI_File file, int bytes, MPI_Info info)
{
    MPI_Datatype piece, mine;
    MPI_Type_contiguous(bytes, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)size * bytes, &mine);
    MPI_Type_commit(&mine);
    MPI_File_set_view(file, (MPI_Offset)rank * bytes, MPI_BYTE, mine, "native", info);
    MPI_Type_free(&mine);
    MPI_Type_free(&piece);
}

/* A file of so many bytes for each rank, which every rank fills with one access. */
static void filled(const char *name, size_t bytes)
{
    MPI_File file = common(name);
    MPI_File_write_at_all(file, rank * (MPI_Offset)bytes, data, (int)bytes, MPI_BYTE, &status);
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Many files for one small write each. The opens and closes are what they cost. */
static void files(void)
{
    char name[64];
    for (int i = 0; i < FILES; i++) {
        MPI_File file;
        snprintf(name, sizeof name, "many.%d.%d", rank, i);
        CALL(file = opened(MPI_COMM_SELF, name, MPI_INFO_NULL));
        MPI_File_write_at(file, 0, data, SMALL, MPI_BYTE, &status);
        CALL(MPI_File_close(&file));
    }
}

static void files_better(void)
{
    MPI_File file = common("one_for_all");
    MPI_File_write_at_all(file, (MPI_Offset)rank * FILES * SMALL, data, FILES * SMALL, MPI_BYTE, &status);
    MPI_File_close(&file);
}

/* Rank 0 writes all, and the others wait in a barrier until it comes. That is what it costs. */
static void one_rank(void)
{
    MPI_File file = common("by_one_rank");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_File_write_at(file, 0, data, BIG, MPI_BYTE, &status);
    double begun = now();
    MPI_Barrier(MPI_COMM_WORLD);
    waited_for_rank_0(begun);
    MPI_File_close(&file);
}

static void one_rank_better(void)
{
    MPI_File file = common("by_all_ranks");
    MPI_Offset part = BIG / size;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_write_at_all(file, rank * part, data, (int)part, MPI_BYTE, &status);
    MPI_File_close(&file);
}

/* Records that fit no block and stand between those of other ranks, one call for each. */
static void unaligned(void)
{
    MPI_File file = common("unaligned");
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < RECORDS; i++) {
        MPI_Offset at = ((MPI_Offset)i * size + rank) * ODD;
        CALL(MPI_File_write_at(file, at, data, ODD, MPI_BYTE, &status));
    }
    MPI_File_close(&file);
}

static void records_with_one_call(const char *name)
{
    MPI_File file = common(name);
    view(file, ODD, MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_write_all(file, data, RECORDS * ODD, MPI_BYTE, &status);
    MPI_File_close(&file);
}

static void unaligned_better(void)
{
    records_with_one_call("unaligned_better");
}

/* Small reads here and there. */
static void random_reads(void)
{
    int blocks = 16 * LARGE / SMALL;
    unsigned at = 12345u + 77u * (unsigned)rank;
    filled("random", 16 * LARGE);
    MPI_File file = common("random");
    for (int i = 0; i < READS; i++) {
        at = at * 1103515245u + 12345u;
        MPI_Offset block = rank * (MPI_Offset)blocks + (at >> 8) % (unsigned)blocks;
        CALL(MPI_File_read_at(file, block * SMALL, data, SMALL, MPI_BYTE, &status));
    }
    MPI_File_close(&file);
}

static int by_value(const void *a, const void *b)
{
    MPI_Aint first = *(const MPI_Aint *)a, second = *(const MPI_Aint *)b;
    return first < second ? -1 : first > second;
}

/* A block that is drawn twice is read once. */
static void random_reads_better(void)
{
    static MPI_Aint offsets[READS];
    int blocks = 16 * LARGE / SMALL, different = 0;
    unsigned at = 12345u + 77u * (unsigned)rank;
    MPI_Datatype mine;
    filled("random_better", 16 * LARGE);
    MPI_File file = common("random_better");
    for (int i = 0; i < READS; i++) {
        at = at * 1103515245u + 12345u;
        offsets[i] = (rank * (MPI_Aint)blocks + (at >> 8) % (unsigned)blocks) * SMALL;
    }
    qsort(offsets, READS, sizeof *offsets, by_value);
    for (int i = 0; i < READS; i++)
        if (i == 0 || offsets[i] != offsets[i - 1])
            offsets[different++] = offsets[i];
    MPI_Type_create_hindexed_block(different, SMALL, offsets, MPI_BYTE, &mine);
    MPI_Type_commit(&mine);
    MPI_File_set_view(file, 0, MPI_BYTE, mine, "native", MPI_INFO_NULL);
    MPI_File_read_all(file, data, different * SMALL, MPI_BYTE, &status);
    MPI_File_close(&file);
    MPI_Type_free(&mine);
}

/* Data in pieces between those of other ranks: a collective write, which a hint or a setting makes independent. */
static void pieces_with(const char *name, const char *hint)
{
    MPI_Info info;
    MPI_Info_create(&info);
    if (hint) {
        MPI_Info_set(info, "romio_cb_write", hint);
        MPI_Info_set(info, "romio_ds_write", "disable");
    }
    MPI_File file = opened(MPI_COMM_WORLD, name, info);
    view(file, PIECE, info);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++)
        CALL(MPI_File_write_all(file, data, PIECES * PIECE, MPI_BYTE, &status));
    MPI_File_close(&file);
    MPI_Info_free(&info);
}

static void hinted(void)
{
    pieces_with("hinted", "disable");
}

static void pieces(void)
{
    pieces_with("pieces", NULL);
}

/* The same data by independent calls. */
static void sieved(void)
{
    MPI_File file = common("sieved");
    view(file, PIECE, MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++)
        CALL(MPI_File_write(file, data, 64 * PIECE, MPI_BYTE, &status));
    MPI_File_close(&file);
}

static void sieved_better(void)
{
    MPI_File file = common("sieved_better");
    view(file, PIECE, MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_write_all(file, data, MANY * 64 * PIECE, MPI_BYTE, &status);
    MPI_File_close(&file);
}

/* One range read a hundred times. */
static void reread(void)
{
    filled("reread", LARGE);
    MPI_File file = common("reread");
    MPI_File_read_at(file, rank * (MPI_Offset)LARGE, data, LARGE, MPI_BYTE, &status);
    for (int i = 1; i < MANY; i++)
        CALL(MPI_File_read_at(file, rank * (MPI_Offset)LARGE, data, LARGE, MPI_BYTE, &status));
    MPI_File_close(&file);
}

static void reread_better(void)
{
    filled("reread_better", LARGE);
    MPI_File file = common("reread_better");
    MPI_File_read_at(file, rank * (MPI_Offset)LARGE, data, LARGE, MPI_BYTE, &status);
    MPI_File_close(&file);
}

/* One range written a hundred times. */
static void rewrite(void)
{
    MPI_File file = common("rewrite");
    MPI_File_write_at(file, rank * (MPI_Offset)LARGE, data, LARGE, MPI_BYTE, &status);
    for (int i = 1; i < MANY; i++)
        CALL(MPI_File_write_at(file, rank * (MPI_Offset)LARGE, data, LARGE, MPI_BYTE, &status));
    MPI_File_close(&file);
}

static void rewrite_better(void)
{
    MPI_File file = common("rewrite_better");
    MPI_File_write_at(file, rank * (MPI_Offset)LARGE, data, LARGE, MPI_BYTE, &status);
    MPI_File_close(&file);
}

/* All ranks read all of a file, each by itself. What those behind the first do is too much. */
static void same_reads(void)
{
    filled("same", 8 * LARGE);
    MPI_File file = common("same");
    for (int i = 0; i < size * 8 * 8; i++)
        CALL(MPI_File_read_at(file, i * (MPI_Offset)(LARGE / 8), data, LARGE / 8, MPI_BYTE, &status));
    MPI_File_close(&file);
}

static void same_reads_better(void)
{
    filled("same_better", 8 * LARGE);
    MPI_File file = common("same_better");
    for (int i = 0; i < size * 8 * 8; i++)
        MPI_File_read_at_all(file, i * (MPI_Offset)(LARGE / 8), data, LARGE / 8, MPI_BYTE, &status);
    MPI_File_close(&file);
}

static void same_reads_broadcast(void)
{
    filled("same_broadcast", 8 * LARGE);
    MPI_File file = common("same_broadcast");
    for (int i = 0; i < size * 8 * 8; i++) {
        if (rank == 0)
            MPI_File_read_at(file, i * (MPI_Offset)(LARGE / 8), data, LARGE / 8, MPI_BYTE, &status);
        MPI_Bcast(data, LARGE / 8, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    MPI_File_close(&file);
}

/* Computes for so long. */
static void compute(double time)
{
    double until = now() + time;
    while (now() < until)
        ;
}

/* Nonblocking accesses that are waited for at once. Where the system took the processor away between the two calls, it was not at once. */
static void at_once(void)
{
    MPI_File file = common("at_once");
    MPI_Request request;
    for (int i = 0; i < MANY; i++) {
        MPI_Offset at = ((MPI_Offset)rank * MANY + i) * LARGE / 4;
        double begin = now();
        MPI_File_iwrite_at(file, at, data, LARGE / 4, MPI_BYTE, &request);
        double middle = now();
        double then = now();
        MPI_Wait(&request, &status);
        double end = now();
        if (then - middle < 80e-6) {
            seconds += middle - begin + end - then;
            count++;
        }
        compute(1e-3);
    }
    MPI_File_close(&file);
}

static void at_once_better(void)
{
    MPI_File file = common("at_once_better");
    MPI_Request request;
    for (int i = 0; i < MANY; i++) {
        MPI_Offset at = ((MPI_Offset)rank * MANY + i) * LARGE / 4;
        MPI_File_iwrite_at(file, at, data, LARGE / 4, MPI_BYTE, &request);
        compute(1e-3);
        MPI_Wait(&request, &status);
    }
    MPI_File_close(&file);
}

/* A shared file pointer for small records. */
static void shared_pointer(void)
{
    MPI_File file = common("shared_pointer");
    for (int i = 0; i < MANY; i++)
        CALL(MPI_File_write_shared(file, data, SMALL, MPI_BYTE, &status));
    MPI_File_close(&file);
}

/* Ranks one behind the other, which they know from the first. */
static void shared_pointer_better(void)
{
    MPI_File file = common("shared_pointer_better");
    MPI_Offset bytes = MANY * SMALL, at = 0;
    MPI_Exscan(&bytes, &at, 1, MPI_OFFSET, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++)
        MPI_File_write_at(file, at + i * (MPI_Offset)SMALL, data, SMALL, MPI_BYTE, &status);
    MPI_File_close(&file);
}

/* A wait for the disk behind every write. */
static void syncs(void)
{
    MPI_File file = common("syncs");
    for (int i = 0; i < 20; i++) {
        MPI_File_write_at(file, ((MPI_Offset)i * size + rank) * LARGE, data, LARGE, MPI_BYTE, &status);
        CALL(MPI_File_sync(file));
    }
    MPI_File_close(&file);
}

static void syncs_better(void)
{
    MPI_File file = common("syncs_better");
    for (int i = 0; i < 20; i++)
        MPI_File_write_at(file, ((MPI_Offset)i * size + rank) * LARGE, data, LARGE, MPI_BYTE, &status);
    MPI_File_sync(file);
    MPI_File_close(&file);
}

/* Seeks and sizes, more than data. */
static void metadata(void)
{
    MPI_File file;
    MPI_Offset bytes;
    CALL(file = common("metadata"));
    for (int i = 0; i < MANY; i++) {
        CALL(MPI_File_set_size(file, (MPI_Offset)(i + 1) * SMALL));
        CALL(MPI_File_get_size(file, &bytes));
        CALL(MPI_File_seek(file, (MPI_Offset)rank * SMALL, MPI_SEEK_SET));
    }
    CALL(MPI_File_close(&file));
}

/* Ranks write the same bytes, each by itself. */
static void overlapping(void)
{
    MPI_File file = common("overlapping");
    CALL(MPI_File_write_at(file, 0, data, LARGE, MPI_BYTE, &status));
    MPI_File_close(&file);
}

/* Ranks share a file without MPI-IO. */
static void no_mpi_io(void)
{
    int file = open("no_mpi_io", O_RDWR | O_CREAT, 0666);
    for (int i = 0; i < RECORDS; i++) {
        off_t at = ((off_t)i * size + rank) * ODD;
        CALL(if (pwrite(file, data, ODD, at) != ODD) MPI_Abort(MPI_COMM_WORLD, 1));
    }
    close(file);
}

/* A collective access for each record, and one for all. */
static void no_mpi_io_collective(void)
{
    MPI_File file = common("no_mpi_io_collective");
    for (int i = 0; i < RECORDS; i++) {
        MPI_Offset at = ((MPI_Offset)i * size + rank) * ODD;
        MPI_File_write_at_all(file, at, data, ODD, MPI_BYTE, &status);
    }
    MPI_File_close(&file);
}

static void no_mpi_io_better(void)
{
    records_with_one_call("no_mpi_io_better");
}

/* A file that is open for long before it is used. */
static void early(void)
{
    MPI_File file = common("early");
    double until = now() + 1.3;
    while (now() < until)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    MPI_File_write_at(file, rank * (MPI_Offset)LARGE, data, LARGE, MPI_BYTE, &status);
    MPI_File_close(&file);
}

/* Well-behaved: one large collective write. */
static void good_collective(void)
{
    MPI_File file = common("good_collective");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_write_at_all(file, rank * (MPI_Offset)(BIG / 2), data, BIG / 2, MPI_BYTE, &status);
    MPI_File_close(&file);
}

/* Well-behaved: each rank fills a file of its own with large writes, one behind the other. */
static void good_own(void)
{
    char name[64];
    snprintf(name, sizeof name, "good_own.%d", rank);
    MPI_File file = opened(MPI_COMM_SELF, name, MPI_INFO_NULL);
    for (int i = 0; i < MANY; i++)
        MPI_File_write_at(file, i * (MPI_Offset)LARGE, data, LARGE, MPI_BYTE, &status);
    MPI_File_close(&file);
}

static const struct io_case CASES[] = {
    {"files", files},
    {"files-better", files_better},
    {"one-rank", one_rank},
    {"one-rank-better", one_rank_better},
    {"unaligned", unaligned},
    {"unaligned-better", unaligned_better},
    {"random-reads", random_reads},
    {"random-reads-better", random_reads_better},
    {"hinted", hinted},
    {"pieces", pieces},
    {"sieved", sieved},
    {"sieved-better", sieved_better},
    {"reread", reread},
    {"reread-better", reread_better},
    {"rewrite", rewrite},
    {"rewrite-better", rewrite_better},
    {"same-reads", same_reads},
    {"same-reads-better", same_reads_better},
    {"same-reads-broadcast", same_reads_broadcast},
    {"at-once", at_once},
    {"at-once-better", at_once_better},
    {"shared-pointer", shared_pointer},
    {"shared-pointer-better", shared_pointer_better},
    {"syncs", syncs},
    {"syncs-better", syncs_better},
    {"metadata", metadata},
    {"overlapping", overlapping},
    {"no-mpi-io", no_mpi_io},
    {"no-mpi-io-collective", no_mpi_io_collective},
    {"no-mpi-io-better", no_mpi_io_better},
    {"early", early},
    {"good-collective", good_collective},
    {"good-own", good_own},
};

int main(int argc, char **argv)
{
    return run_cases(argc, argv, CASES, sizeof CASES / sizeof *CASES);
}
