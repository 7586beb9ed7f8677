/* Each byte written through MPI-IO tells its rank, its call and its offset in the file: a byte at `offset` is
 * `hash(offset) ^ owner`, where the owner is 1 + rank + 4 * n for a rank's n-th call that writes to the file, and the hash has
 * the highest bit set. Whoever sees the bytes of a system call can therefore tell which call each of them belongs to.
 * In the patterns ranks overwrite each other, requests of one rank overlap, and views have more pieces than a trace lists.
 *
 *   owned_bytes [HINT=VALUE ...] [PATTERN ...]      all patterns if none is named; up to 4 ranks
 *
 * Which bytes each call asks for is written to claims.RANK, a line for each call: file, owner, OFFSET+LENGTH of each piece. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                        \
    do {                                                                                        \
        if (!(condition)) {                                                                     \
            fprintf(stderr, "%s:%d: rank %d: failed: %s\n", __FILE__, __LINE__, rank, #condition); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                       \
        }                                                                                       \
    } while (0)
#define DO(call) CHECK((call) == MPI_SUCCESS)

static int rank, size, calls;
static MPI_Info hints;
static FILE *claims;
static const char *name;
static MPI_File file;

struct piece {
    long offset, length;
};

/* What a call is to write: pieces of the file, and their bytes. */
struct access {
    struct piece *pieces;
    int count;
    long bytes;
    unsigned char *data;
};

static unsigned char hash(long offset)
{
    unsigned long x = (unsigned long) offset * 0x9E3779B97F4A7C15ul;
    return 128 | (x >> 57);
}

/* --- Files --- */

static void begin(const char *pattern)
{
    static char text[64];
    snprintf(text, sizeof text, "owned.%s", pattern);
    name = text;
    calls = 0;
    if (rank == 0) {
        FILE *made = fopen(name, "w");
        CHECK(made && ftruncate(fileno(made), 4 << 20) == 0);
        fclose(made);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    DO(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, hints, &file));
}

static void end(void)
{
    DO(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* --- Accesses --- */

static struct access none(int most)
{
    return (struct access){calloc(most, sizeof(struct piece)), 0, 0, NULL};
}

static void add(struct access *access, long offset, long length)
{
    access->pieces[access->count++] = (struct piece){offset, length};
    access->bytes += length;
}

static struct access one(long offset, long length)
{
    struct access access = none(1);
    add(&access, offset, length);
    return access;
}

static struct access strided(long offset, long length, int count, long stride)
{
    struct access access = none(count);
    for (int i = 0; i < count; i++)
        add(&access, offset + i * stride, length);
    return access;
}

/* Bytes of this rank's next call. */
static void *bytes(struct access *access)
{
    int owner = 1 + rank + 4 * calls++;
    CHECK(owner < 128);
    access->data = malloc(access->bytes + 1);
    long at = 0;
    fprintf(claims, "%s %d", name, owner);
    for (int i = 0; i < access->count; i++) {
        struct piece piece = access->pieces[i];
        fprintf(claims, " %ld+%ld", piece.offset, piece.length);
        for (long j = 0; j < piece.length; j++)
            access->data[at++] = hash(piece.offset + j) ^ owner;
    }
    fprintf(claims, "\n");
    return access->data;
}

/* A view that shows just these pieces. */
static void view(const struct access *access)
{
    int *lengths = calloc(access->count, sizeof *lengths);
    MPI_Aint *offsets = calloc(access->count, sizeof *offsets);
    for (int i = 0; i < access->count; i++) {
        lengths[i] = access->pieces[i].length;
        offsets[i] = access->pieces[i].offset;
    }
    MPI_Datatype type;
    DO(MPI_Type_create_hindexed(access->count, lengths, offsets, MPI_BYTE, &type));
    DO(MPI_Type_commit(&type));
    DO(MPI_File_set_view(file, 0, MPI_BYTE, type, "native", hints));
    MPI_Type_free(&type);
    free(lengths);
    free(offsets);
}

static void no_view(void)
{
    DO(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", hints));
}

/* One collective access in a view of its own. What it wrote must not be read, changed and written back by the next one. */
static void write_viewed(struct access access)
{
    view(&access);
    DO(MPI_File_write_at_all(file, 0, bytes(&access), access.bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void write_one(long offset, long length)
{
    struct access access = one(offset, length);
    DO(MPI_File_write_at_all(file, offset, bytes(&access), length, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* --- Patterns --- */

/* Contiguous ranges that reach into the next rank's. */
static void chain(void)
{
    write_one(400 * rank, 1000);
}

/* The same range on all ranks. */
static void same(void)
{
    write_one(20000, 900);
    write_viewed(strided(200000, 32, 40, 96));
}

/* Each range inside the one of the rank before. */
static void nested(void)
{
    write_one(30000 + 100 * rank, 2000 - 200 * rank);
}

/* Rank 0 overlaps nobody, the others each other. */
static void apart(void)
{
    write_one(rank == 0 ? 50000 : 51000 + 10 * rank, 500);
}

/* Rank 1 writes a bit of what rank 0 writes; the others are apart. */
static void inside(void)
{
    write_one(rank == 0 ? 60000 : rank == 1 ? 60500 : 64000 + 4000 * rank, rank == 0 ? 4000 : rank == 1 ? 100 : 4000);
}

/* Blocks that reach into the next rank's. */
static void blocks(void)
{
    write_viewed(strided(1000 + 40 * rank, 60, 20, 40 * size + 100));
    /* the last rank's fill a gap */
    write_viewed(strided(50000 + 100 * rank, rank == size - 1 ? 100 : 120, 50, 100 * size));
}

/* More pieces than a list of runs has. */
static void many_blocks(void)
{
    write_viewed(strided(1000 + 8 * rank, 12, 66000 / size, 8 * size + 16));
}

/* Overlapping is legal in atomic mode. */
static void atomic_mode(void)
{
    DO(MPI_File_set_atomicity(file, 1));
    write_one(300 * rank, 500);
    for (int i = 0; i < 3; i++) {
        struct access access = one(10000 + 200 * rank, 700);
        DO(MPI_File_write_at(file, 10000 + 200 * rank, bytes(&access), 700, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    struct access access = strided(30000 + 40 * rank, 60, 20, 40 * size + 100);
    view(&access);
    DO(MPI_File_write_at(file, 0, bytes(&access), access.bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    write_viewed(strided(60000 + 40 * rank, 60, 20, 40 * size + 100));
}

/* Requests of one rank that are outstanding together and overlap. */
static void requests(void)
{
    MPI_Request request[3];
    MPI_Status status[3];
    struct access access[3];
    for (int i = 0; i < 3; i++) {
        long at = 10000 * rank + 300 * i;
        access[i] = one(at, 1000);
        DO(MPI_File_iwrite_at(file, at, bytes(&access[i]), 1000, MPI_BYTE, &request[i]));
    }
    MPI_Waitall(3, request, status);
    MPI_Barrier(MPI_COMM_WORLD);
    /* the same bytes twice */
    for (int i = 0; i < 2; i++) {
        access[i] = strided(100000 + 100000 * rank, 16, 200, 64);
        view(&access[i]);
        DO(MPI_File_iwrite_at(file, 0, bytes(&access[i]), access[i].bytes, MPI_BYTE, &request[i]));
    }
    MPI_Waitall(2, request, status);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The same, collective. */
static void collective_requests(void)
{
    MPI_Request request[2];
    MPI_Status status[2];
    struct access access[2];
    for (int i = 0; i < 2; i++) {
        access[i] = strided(50 * rank + 1000 * i, 50, 100, 50 * size);
        view(&access[i]);
        DO(MPI_File_iwrite_at_all(file, 0, bytes(&access[i]), access[i].bytes, MPI_BYTE, &request[i]));
    }
    MPI_Waitall(2, request, status);
    MPI_Barrier(MPI_COMM_WORLD);
    no_view();
    for (int i = 0; i < 2; i++) {
        access[i] = one(100000 + 300 * rank, 500);
        DO(MPI_File_iwrite_at_all(file, 100000 + 300 * rank, bytes(&access[i]), 500, MPI_BYTE, &request[i]));
    }
    MPI_Waitall(2, request, status);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void split(void)
{
    struct access access = strided(1000 + 40 * rank, 60, 20, 40 * size + 100);
    view(&access);
    void *data = bytes(&access);
    DO(MPI_File_write_at_all_begin(file, 0, data, access.bytes, MPI_BYTE));
    DO(MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Ranks that ask for nothing, and one that writes into what another one has. */
static void few(void)
{
    write_one(1000 + 500 * rank, rank == 0 ? 2000 : rank == size - 1 ? 200 : 0);
}

static void few_blocks(void)
{
    write_viewed(rank == 0 ? one(10000, 30000) : rank == size - 1 ? strided(10100, 100, 20, 300) : none(1));
}

/* Pieces of unequal lengths at unequal distances, each rank's between those of the others: their list is too long for a trace. */
enum { PIECES = 66000 };
static struct access irregular(long offset, int more, int count)
{
    struct access access = none(count);
    for (int i = 0; i < count; i++) {
        long length = 1 + (i * 7 + i / 3) % 3;
        add(&access, offset + (long) i * 4 * size + 4 * rank + i % 2 * (length < 3), length + more);
    }
    return access;
}

static void irregular_view(void)
{
    write_viewed(irregular(100, 0, PIECES));
}

/* One rank for itself, and accesses that stop in the middle of such a view. */
static void irregular_alone(void)
{
    struct access all = irregular(100, 0, PIECES);
    view(&all);
    struct access first = none(10);
    for (int i = 0; i < 10; i++)
        add(&first, all.pieces[i].offset, all.pieces[i].length);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1)
        DO(MPI_File_write_at(file, 0, bytes(&first), first.bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void irregular_overlap(void)
{
    write_viewed(irregular(100, 3, PIECES));
}

static const struct {
    const char *name;
    void (*run)(void);
} patterns[] = {
    {"chain", chain},
    {"same", same},
    {"nested", nested},
    {"apart", apart},
    {"inside", inside},
    {"blocks", blocks},
    {"many_blocks", many_blocks},
    {"atomic", atomic_mode},
    {"requests", requests},
    {"collective_requests", collective_requests},
    {"split", split},
    {"few", few},
    {"few_blocks", few_blocks},
    {"irregular", irregular_view},
    {"irregular_alone", irregular_alone},
    {"irregular_overlap", irregular_overlap},
};

int main(int argc, char **argv)
{
    char text[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= 4);
    snprintf(text, sizeof text, "claims.%d", rank);
    claims = fopen(text, "w");
    CHECK(claims);
    MPI_Info_create(&hints);
    int named = 0;
    for (int i = 1; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        named += !value;
        if (value) {
            *value = 0;
            MPI_Info_set(hints, argv[i], value + 1);
            argv[i] = "";
        }
    }
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        int wanted = !named;
        for (int i = 1; i < argc; i++)
            wanted |= strcmp(argv[i], patterns[p].name) == 0;
        if (!wanted)
            continue;
        begin(patterns[p].name);
        patterns[p].run();
        end();
    }
    fclose(claims);
    MPI_Info_free(&hints);
    MPI_Finalize();
    if (rank == 0)
        printf("ok\n");
    return 0;
}
