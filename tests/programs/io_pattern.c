/* Ways to reach a file through MPI-IO. Every byte written is the mark of its rank and call, so that whoever looks into the
 * buffer of a transfer (truth.c) sees whose data it carries: 1 + rank + 8 * (n % 31) for a rank's n-th call that writes
 * bytes to the file of that name.
 *
 *   io_pattern [HINT=VALUE ...] [PATTERN ...]      all patterns if none is named; up to 8 ranks */
#include <mpi.h>
#include <pthread.h>
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

static int rank, size;
static MPI_Info hints;
static const int create = MPI_MODE_CREATE | MPI_MODE_RDWR;

/* --- Marked data --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    char name[64];
    int calls;
} files[256];
static void *kept[1 << 16];
static int keeps;

/* Memory that lives until the pattern ends. */
static void *keep(long bytes)
{
    void *memory = malloc(bytes + 1);
    pthread_mutex_lock(&lock);
    CHECK(keeps < 1 << 16);
    kept[keeps++] = memory;
    pthread_mutex_unlock(&lock);
    return memory;
}

static void forget(void)
{
    while (keeps > 0)
        free(kept[--keeps]);
}

/* Data for this rank's next call that writes to the file: as many bytes, all with its mark. */
static unsigned char *data(const char *name, long bytes)
{
    unsigned char *memory = keep(bytes);
    int f = 0;
    pthread_mutex_lock(&lock);
    while (files[f].name[0] && strcmp(files[f].name, name) != 0)
        f++;
    CHECK(f < 255);
    snprintf(files[f].name, sizeof files[f].name, "%s", name);
    int n = files[f].calls++;
    pthread_mutex_unlock(&lock);
    memset(memory, 1 + rank + 8 * (n % 31), bytes);
    return memory;
}

/* --- Files, views --- */

static MPI_File opened(MPI_Comm comm, const char *name, int mode)
{
    MPI_File file;
    DO(MPI_File_open(comm, name, mode, hints, &file));
    return file;
}

static void view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype type)
{
    DO(MPI_Type_commit(&type));
    DO(MPI_File_set_view(file, displacement, etype, type, "native", hints));
    MPI_Type_free(&type);
}

/* `blocks` blocks of a type, one for each of `parts` ranks in turn. */
static MPI_Datatype turns(int parts, int block, int blocks, MPI_Datatype element)
{
    MPI_Datatype type, whole;
    MPI_Aint lb, extent;
    MPI_Type_get_extent(element, &lb, &extent);
    MPI_Type_vector(blocks, block, block * parts, element, &type);
    MPI_Type_create_resized(type, 0, extent * block * parts * blocks, &whole);
    MPI_Type_free(&type);
    return whole;
}

/* Blocks of bytes dealt out to the ranks in turn. */
static void deal(MPI_File file, MPI_Offset displacement, int block, int blocks)
{
    view(file, displacement + (MPI_Offset) rank * block, MPI_BYTE, turns(size, block, blocks, MPI_BYTE));
}

/* A file of so many zeros. Libraries that read, change and write back write whatever is in their memory where the file has
 * no bytes yet; that cannot be told from data. */
static void zeros(const char *name, MPI_Offset bytes)
{
    if (rank == 0) {
        FILE *file = fopen(name, "w");
        CHECK(file && ftruncate(fileno(file), bytes) == 0);
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Parts of the file for each rank, one behind the other. */
static void segment(MPI_File file, MPI_Offset bytes)
{
    MPI_File_set_view(file, rank * bytes, MPI_BYTE, MPI_BYTE, "native", hints);
}

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* Random pieces of this rank alone: each of `cells` cells belongs to a random rank, or to none. */
static MPI_Datatype scattered(int cell, int cells, unsigned seed, int holes, long *bytes)
{
    int *lengths = calloc(cells, sizeof *lengths), n = 0;
    MPI_Aint *offsets = calloc(cells, sizeof *offsets);
    *bytes = 0;
    for (int i = 0; i < cells; i++) {
        int owner = next_random(&seed) % (size + holes), less = next_random(&seed) % (holes ? cell / 2 : 1);
        if (owner != rank)
            continue;
        lengths[n] = cell - less;
        offsets[n] = (MPI_Aint) i * cell;
        *bytes += lengths[n++];
    }
    MPI_Datatype type, whole;
    MPI_Type_create_hindexed(n, lengths, offsets, MPI_BYTE, &type);
    MPI_Type_create_resized(type, 0, (MPI_Aint) cell * cells, &whole);
    MPI_Type_free(&type);
    free(lengths);
    free(offsets);
    return whole;
}

/* --- Patterns: file name, communicator --- */

#define NAME(pattern) "pattern." pattern

static void interleaved(void)
{
    const char *name = NAME("interleaved");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    deal(file, 0, 64, 64);
    for (int i = 0; i < 3; i++)
        DO(MPI_File_write_all(file, data(name, 4096), 4096, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    for (int i = 0; i < 3; i++)
        DO(MPI_File_read_all(file, keep(4096), 4096, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

static void subarray(void)
{
    const char *name = NAME("subarray");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    int dims[2] = {0, 0}, whole[2], part[2], start[2];
    MPI_Dims_create(size, 2, dims);
    for (int d = 0; d < 2; d++) {
        part[d] = 12;
        whole[d] = part[d] * dims[d];
    }
    start[0] = rank / dims[1] * part[0];
    start[1] = rank % dims[1] * part[1];
    MPI_Datatype type;
    MPI_Type_create_subarray(2, whole, part, start, MPI_ORDER_C, MPI_DOUBLE, &type);
    view(file, 24, MPI_DOUBLE, type);
    DO(MPI_File_write_all(file, data(name, 144 * 8), 144, MPI_DOUBLE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at_all(file, 144, data(name, 144 * 8), 144, MPI_DOUBLE, MPI_STATUS_IGNORE));
    DO(MPI_File_read_at_all(file, 0, keep(144 * 8), 144, MPI_DOUBLE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

static void holes(void)
{
    const char *name = NAME("holes");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    MPI_Datatype type;
    MPI_Type_create_resized(MPI_DOUBLE, 0, 24 * (size + 1), &type);
    view(file, 24 * rank, MPI_DOUBLE, type);
    DO(MPI_File_write_all(file, data(name, 2400), 300, MPI_DOUBLE, MPI_STATUS_IGNORE));
    MPI_Type_create_resized(MPI_DOUBLE, 0, 24 * (size + 1), &type);
    view(file, 24 * rank + 8, MPI_DOUBLE, type);
    DO(MPI_File_write_all(file, data(name, 2400), 300, MPI_DOUBLE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at_all(file, 100, data(name, 800), 100, MPI_DOUBLE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

static void irregular(void)
{
    const char *name = NAME("irregular");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    for (int i = 0; i < 4; i++) {
        long bytes;
        MPI_Datatype type = scattered(48, 200, 7 + i, i % 2 * 2, &bytes);
        /* one rank has nothing to write */
        int writes = bytes > 0 && (size == 1 || rank != i % size);
        view(file, 10000 * i + 3, MPI_BYTE, type);
        DO(MPI_File_write_all(file, writes ? data(name, bytes) : NULL, writes ? bytes : 0, MPI_BYTE, MPI_STATUS_IGNORE));
        if (writes)
            DO(MPI_File_read_at(file, 0, keep(bytes), bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    DO(MPI_File_close(&file));
}

static void strided(void)
{
    const char *name = NAME("strided");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    deal(file, 0, 100, 50);
    DO(MPI_File_write_at(file, 0, data(name, 5000), 5000, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write(file, data(name, 2500), 2500, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at(file, 4950, data(name, 1000), 1000, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    DO(MPI_File_read_at(file, 50, keep(4900), 4900, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_read(file, keep(2500), 2500, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

/* Two files at once, one of them on part of the ranks in reverse order. */
static void two_files(void)
{
    const char *all = NAME("all"), *some = NAME("some");
    zeros(all, 1 << 20);
    zeros(some, 1 << 20);
    MPI_Comm part;
    MPI_File file = opened(MPI_COMM_WORLD, all, create), other = MPI_FILE_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
    int mine, parts;
    MPI_Comm_rank(part, &mine);
    MPI_Comm_size(part, &parts);
    deal(file, 0, 40, 30);
    if (rank % 2 == 0) {
        other = opened(part, some, create);
        view(other, mine * 40, MPI_BYTE, turns(parts, 40, 30, MPI_BYTE));
    }
    for (int i = 0; i < 2; i++) {
        DO(MPI_File_write_all(file, data(all, 1200), 1200, MPI_BYTE, MPI_STATUS_IGNORE));
        if (other != MPI_FILE_NULL)
            DO(MPI_File_write_all(other, data(some, 1200), 1200, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    MPI_Comm_free(&part);
    if (other != MPI_FILE_NULL) {
        DO(MPI_File_write_at_all(other, 2400, data(some, 1200), 1200, MPI_BYTE, MPI_STATUS_IGNORE));
        DO(MPI_File_close(&other));
    }
    DO(MPI_File_close(&file));
}

static void outstanding(void)
{
    const char *name = NAME("outstanding");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    deal(file, 0, 128, 16);
    MPI_Request requests[2];
    for (int i = 0; i < 2; i++)
        DO(MPI_File_iwrite_at_all(file, 2048 * i, data(name, 2048), 2048, MPI_BYTE, &requests[i]));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++)
        DO(MPI_File_iread_at_all(file, 2048 * i, keep(2048), 2048, MPI_BYTE, &requests[i]));
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++)
        DO(MPI_File_iwrite_all(file, data(name, 1000), 1000, MPI_BYTE, &requests[i]));
    for (int i = 0; i < 2; i++)
        for (int flag = 0; !flag;)
            MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
    DO(MPI_File_close(&file));
}

static void split(void)
{
    const char *name = NAME("split");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    deal(file, 5, 96, 20);
    void *first = data(name, 1920), *second = data(name, 1920);
    DO(MPI_File_write_all_begin(file, first, 1920, MPI_BYTE));
    MPI_Barrier(MPI_COMM_WORLD);
    DO(MPI_File_write_all_end(file, first, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at_all_begin(file, 1920, second, 1920, MPI_BYTE));
    DO(MPI_File_write_at_all_end(file, second, MPI_STATUS_IGNORE));
    void *back = keep(1920);
    DO(MPI_File_read_at_all_begin(file, 960, back, 1920, MPI_BYTE));
    DO(MPI_File_read_at_all_end(file, back, MPI_STATUS_IGNORE));
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    DO(MPI_File_read_all_begin(file, back, 1920, MPI_BYTE));
    DO(MPI_File_read_all_end(file, back, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

static void ordered(void)
{
    const char *name = NAME("ordered");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    for (int i = 0; i < 3; i++) {
        int bytes = 100 + 50 * ((rank + i) % 3);
        DO(MPI_File_write_ordered(file, data(name, bytes), bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    void *memory = data(name, 333);
    DO(MPI_File_write_ordered_begin(file, memory, 333, MPI_BYTE));
    DO(MPI_File_write_ordered_end(file, memory, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD); /* ROMIO does not wait for the other ranks to be as far */
    MPI_File_seek_shared(file, 64, MPI_SEEK_SET);
    DO(MPI_File_read_ordered(file, keep(200), 200, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_ordered(file, data(name, 10 * (rank + 1)), 10 * (rank + 1), MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

static void shared(void)
{
    const char *name = NAME("shared");
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    MPI_Request request;
    for (int i = 0; i < 4; i++)
        DO(MPI_File_write_shared(file, data(name, 100 + rank), 100 + rank, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_iwrite_shared(file, data(name, 500), 500, MPI_BYTE, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    DO(MPI_File_read_shared(file, keep(100), 100, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    DO(MPI_File_write_shared(file, data(name, 64), 64, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

static void iwrite_strided(void)
{
    const char *name = NAME("iwrite_strided");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    deal(file, 0, 72, 25);
    MPI_Request requests[3];
    DO(MPI_File_iwrite_at(file, 0, data(name, 1800), 1800, MPI_BYTE, &requests[0]));
    MPI_File_seek(file, 1800, MPI_SEEK_SET);
    DO(MPI_File_iwrite(file, data(name, 900), 900, MPI_BYTE, &requests[1]));
    DO(MPI_File_iwrite(file, data(name, 900), 900, MPI_BYTE, &requests[2]));
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    DO(MPI_File_iread_at(file, 36, keep(1800), 1800, MPI_BYTE, &requests[0]));
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    DO(MPI_File_close(&file));
}

/* Memory with gaps, the file without. */
static void memory(void)
{
    const char *name = NAME("memory");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    MPI_Datatype type, back;
    MPI_Request request;
    MPI_Type_vector(100, 8, 16, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    segment(file, 10000);
    DO(MPI_File_write(file, data(name, 1600), 1, type, MPI_STATUS_IGNORE));
    DO(MPI_File_write_all(file, data(name, 3200), 2, type, MPI_STATUS_IGNORE));
    DO(MPI_File_iwrite_at(file, 4000, data(name, 1600), 1, type, &request));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    DO(MPI_File_read_at(file, 0, keep(1600), 1, type, MPI_STATUS_IGNORE));
    /* going backwards */
    MPI_Aint offsets[3] = {0, -32, -64};
    int lengths[3] = {16, 8, 24};
    MPI_Type_create_hindexed(3, lengths, offsets, MPI_BYTE, &back);
    MPI_Type_commit(&back);
    DO(MPI_File_write_at_all(file, 6000, data(name, 128) + 64, 1, back, MPI_STATUS_IGNORE));
    deal(file, 100000, 12, 20);
    DO(MPI_File_write_all(file, data(name, 128) + 64, 1, back, MPI_STATUS_IGNORE));
    DO(MPI_File_write(file, data(name, 1600), 1, type, MPI_STATUS_IGNORE));
    MPI_Type_free(&type);
    MPI_Type_free(&back);
    DO(MPI_File_close(&file));
}

static void pointers(void)
{
    const char *name = NAME("pointers");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    view(file, 12 * rank, MPI_INT, turns(size, 3, 4, MPI_INT));
    DO(MPI_File_write_all(file, data(name, 400), 100, MPI_INT, MPI_STATUS_IGNORE));
    /* Between a collective access and one of a single rank: with Open MPI's vulcan a process writes back holes that it has
     * read before, and bytes that another rank has written there meanwhile are lost. */
    MPI_Barrier(MPI_COMM_WORLD);
    DO(MPI_File_write_at(file, 200, data(name, 40), 10, MPI_INT, MPI_STATUS_IGNORE)); /* moves nothing */
    DO(MPI_File_write(file, data(name, 20), 5, MPI_INT, MPI_STATUS_IGNORE));
    MPI_File_seek(file, 15, MPI_SEEK_CUR);
    DO(MPI_File_write_all(file, data(name, 200), 50, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek(file, -30, MPI_SEEK_CUR);
    DO(MPI_File_write(file, data(name, 40), 10, MPI_INT, MPI_STATUS_IGNORE));
    MPI_File_seek(file, 7, MPI_SEEK_SET);
    DO(MPI_File_write_all(file, data(name, 80), 20, MPI_INT, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

static void ends(void)
{
    const char *name = NAME("ends");
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    segment(file, 0);
    DO(MPI_File_write_at_all(file, 300 * rank, data(name, 300), 300, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek(file, 100 * rank, MPI_SEEK_END);
    MPI_Barrier(MPI_COMM_WORLD);
    DO(MPI_File_write(file, data(name, 100), 100, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

static void append(void)
{
    const char *name = NAME("append");
    for (int i = 0; i < 2; i++) {
        MPI_File file = opened(MPI_COMM_WORLD, name, create | MPI_MODE_APPEND);
        MPI_Offset at;
        MPI_File_get_position(file, &at);
        MPI_Barrier(MPI_COMM_WORLD);
        DO(MPI_File_seek(file, 150 * rank, MPI_SEEK_CUR));
        DO(MPI_File_write(file, data(name, 150), 150, MPI_BYTE, MPI_STATUS_IGNORE));
        MPI_Barrier(MPI_COMM_WORLD);
        DO(MPI_File_write_ordered(file, data(name, 10), 10, MPI_BYTE, MPI_STATUS_IGNORE));
        DO(MPI_File_close(&file));
    }
}

static void views(void)
{
    const char *name = NAME("views");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    DO(MPI_File_write_at_all(file, 50 * rank, data(name, 50), 50, MPI_BYTE, MPI_STATUS_IGNORE));
    deal(file, 1000, 16, 8);
    DO(MPI_File_write_all(file, data(name, 512), 512, MPI_BYTE, MPI_STATUS_IGNORE));
    deal(file, 10000, 24, 4);
    DO(MPI_File_write_all(file, data(name, 480), 480, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write(file, data(name, 48), 48, MPI_BYTE, MPI_STATUS_IGNORE));
    segment(file, 700);
    DO(MPI_File_write_at_all(file, 50000, data(name, 700), 700, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

static void etypes(void)
{
    const char *name = NAME("etypes");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    MPI_Datatype five, type;
    MPI_Type_contiguous(5, MPI_BYTE, &five);
    MPI_Type_commit(&five);
    view(file, 10 * rank, five, turns(size, 2, 10, five));
    DO(MPI_File_write_all(file, data(name, 500), 100, five, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at_all(file, 110, data(name, 150), 30, five, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at(file, 153, data(name, 35), 7, five, MPI_STATUS_IGNORE));
    MPI_Type_free(&five);
    view(file, 100000 + 64 * rank, MPI_DOUBLE, ({
             MPI_Type_create_resized(MPI_DOUBLE, 0, 64 * size, &type);
             type;
         }));
    DO(MPI_File_write_all(file, data(name, 160), 20, MPI_DOUBLE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at(file, 40, data(name, 80), 10, MPI_DOUBLE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

static void darray(void)
{
    const char *name = NAME("darray");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    int processes[2] = {0, 0}, sizes[2] = {30, 37}, bytes;
    int how[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, arguments[2] = {3, MPI_DISTRIBUTE_DFLT_DARG};
    MPI_Dims_create(size, 2, processes);
    for (int order = 0; order < 2; order++) {
        MPI_Datatype type;
        MPI_Type_create_darray(size, rank, 2, sizes, how, arguments, processes, order ? MPI_ORDER_FORTRAN : MPI_ORDER_C,
                               MPI_INT, &type);
        MPI_Type_size(type, &bytes);
        view(file, 20000 * order, MPI_INT, type);
        DO(MPI_File_write_all(file, bytes ? data(name, bytes) : NULL, bytes / 4, MPI_INT, MPI_STATUS_IGNORE));
        DO(MPI_File_read_at_all(file, 0, keep(bytes), bytes / 4, MPI_INT, MPI_STATUS_IGNORE));
    }
    DO(MPI_File_close(&file));
}

static void nested(void)
{
    const char *name = NAME("nested");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    MPI_Datatype inner, cell, type;
    /* a cell of 64 bytes for each rank, of which two parts are used */
    MPI_Type_vector(2, 3, 8, MPI_INT, &inner);
    int lengths[2] = {1, 4};
    MPI_Aint offsets[2] = {0, 48};
    MPI_Datatype types[2] = {inner, MPI_BYTE};
    MPI_Type_create_struct(2, lengths, offsets, types, &cell);
    MPI_Type_free(&inner);
    MPI_Type_create_resized(cell, 0, 64, &inner);
    MPI_Type_free(&cell);
    MPI_Type_create_hvector(5, 1, 64 * size, inner, &cell);
    MPI_Type_free(&inner);
    MPI_Type_create_resized(cell, 0, 5 * 64 * size + 32, &type);
    MPI_Type_free(&cell);
    view(file, 64 * rank + 4, MPI_BYTE, type);
    DO(MPI_File_write_all(file, data(name, 560), 560, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at(file, 570, data(name, 100), 100, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

static void far(void)
{
    const char *name = NAME("far");
    zeros(name, (MPI_Offset) 6 << 32);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    deal(file, (MPI_Offset) 5 << 32, 2000, 1);
    DO(MPI_File_write_all(file, data(name, 8000), 8000, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Datatype type;
    MPI_Type_create_resized(MPI_DOUBLE, 0, 300000, &type);
    view(file, 8 * rank, MPI_DOUBLE, type);
    DO(MPI_File_write_all(file, data(name, 64), 8, MPI_DOUBLE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at(file, 10, data(name, 24), 3, MPI_DOUBLE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_File_delete(name, MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Copies of a filetype that are begun and left in the middle. */
static void partial(void)
{
    const char *name = NAME("partial");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    deal(file, 7, 30, 6);
    int at = 0;
    for (int i = 0; i < 6; i++) {
        int bytes = 17 + 41 * i;
        if (i % 2)
            DO(MPI_File_write_at_all(file, at, data(name, bytes), bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        else
            DO(MPI_File_write_at(file, at, data(name, bytes), bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        at += bytes + (i == 3 ? 100 : 0);
    }
    DO(MPI_File_close(&file));
}

/* Ranks write different amounts at different places, contiguous. */
static void segments(void)
{
    const char *name = NAME("segments");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    segment(file, 70000);
    DO(MPI_File_write_all(file, data(name, 20000), 20000, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_all(file, data(name, 1000 * rank + 1), 1000 * rank + 1, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at(file, 40000, data(name, 30000), 30000, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_File_sync(file);
    DO(MPI_File_read_at_all(file, 0, keep(20000), 20000, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

static void atomic(void)
{
    const char *name = NAME("atomic");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    MPI_File_set_atomicity(file, 1);
    deal(file, 0, 50, 20);
    DO(MPI_File_write_at(file, 0, data(name, 1000), 1000, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at_all(file, 1000, data(name, 1000), 1000, MPI_BYTE, MPI_STATUS_IGNORE));
    segment(file, 300);
    DO(MPI_File_write_at(file, 20000, data(name, 300), 300, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_read_at(file, 20000, keep(300), 300, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

static void sizes(void)
{
    const char *name = NAME("sizes");
    MPI_File file = opened(MPI_COMM_WORLD, name, create | MPI_MODE_DELETE_ON_CLOSE);
    MPI_Offset bytes;
    segment(file, 500);
    DO(MPI_File_preallocate(file, 20000)); /* may write what is there once more, which is nobody's data access */
    DO(MPI_File_write_at_all(file, 0, data(name, 500), 500, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_get_size(file, &bytes));
    DO(MPI_File_set_size(file, 300));
    MPI_Barrier(MPI_COMM_WORLD);
    DO(MPI_File_write_at_all(file, 1000, data(name, 500), 500, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

static void zero(void)
{
    const char *name = NAME("zero");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    MPI_Request request;
    DO(MPI_File_write_at(file, 0, NULL, 0, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at_all(file, 0, NULL, 0, MPI_BYTE, MPI_STATUS_IGNORE));
    deal(file, 0, 10, 10);
    DO(MPI_File_write_all(file, rank == 0 ? data(name, 100) : NULL, rank == 0 ? 100 : 0, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_all(file, NULL, 0, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_iwrite(file, NULL, 0, MPI_BYTE, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    DO(MPI_File_write_all(file, data(name, 100), 100, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

/* All ranks open the same file, each by itself. */
static void self(void)
{
    const char *name = NAME("self");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_SELF, name, create);
    segment(file, 3000);
    DO(MPI_File_write_all(file, data(name, 1000), 1000, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at_all(file, 1500, data(name, 1000), 1000, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write(file, data(name, 100), 100, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void twice(void)
{
    const char *name = NAME("twice");
    zeros(name, 1 << 20);
    MPI_File one = opened(MPI_COMM_WORLD, name, create), other = opened(MPI_COMM_WORLD, name, create);
    deal(one, 0, 20, 30);
    deal(other, 100000, 30, 20);
    DO(MPI_File_write_all(one, data(name, 600), 600, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_all(other, data(name, 600), 600, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at(other, 600, data(name, 600), 600, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at_all(one, 600, data(name, 600), 600, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Request requests[2];
    DO(MPI_File_iwrite_at_all(one, 1200, data(name, 600), 600, MPI_BYTE, &requests[0]));
    DO(MPI_File_iwrite_at_all(other, 1200, data(name, 600), 600, MPI_BYTE, &requests[1]));
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    DO(MPI_File_close(&one));
    one = opened(MPI_COMM_WORLD, name, create);
    DO(MPI_File_write_at_all(one, 900000 + 10 * rank, data(name, 10), 10, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&one));
    DO(MPI_File_close(&other));
}

/* Types whose bounds are not those of their data. */
static void bounds(void)
{
    const char *name = NAME("bounds");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    MPI_Datatype part, type;
    MPI_Type_vector(3, 10, 20, MPI_BYTE, &part);
    MPI_Type_create_resized(part, -16, 60 * size, &type);
    MPI_Type_commit(&type);
    if (MPI_File_set_view(file, 1000 + 60 * rank, MPI_BYTE, type, "native", hints) != MPI_SUCCESS) {
        /* MPICH 4 does not take lower bounds below 0 */
        MPI_Type_free(&type);
        MPI_Type_create_resized(part, 0, 60 * size, &type);
        MPI_Type_commit(&type);
        DO(MPI_File_set_view(file, 1000 + 60 * rank, MPI_BYTE, type, "native", hints));
    }
    MPI_Type_free(&type);
    MPI_Type_free(&part);
    DO(MPI_File_write_all(file, data(name, 300), 300, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at(file, 305, data(name, 100), 100, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

static void write_only(void)
{
    const char *name = NAME("write_only");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    deal(file, 0, 25, 16);
    DO(MPI_File_write_all(file, data(name, 800), 800, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at(file, 800, data(name, 400), 400, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
    file = opened(MPI_COMM_WORLD, name, MPI_MODE_RDONLY);
    deal(file, 0, 25, 16);
    DO(MPI_File_read_all(file, keep(800), 800, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_read(file, keep(400), 400, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

/* Several megabytes, more than the buffers that libraries collect data in. */
static void large(void)
{
    const char *name = NAME("large");
    zeros(name, 64 << 20);
    const int bytes = 3 << 20;
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    deal(file, 0, 1 << 16, 16);
    DO(MPI_File_write_all(file, data(name, bytes), bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at(file, bytes, data(name, bytes / 2), bytes / 2, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    DO(MPI_File_read_at_all(file, 0, keep(bytes), bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

/* Waves of requests on two files, completed in another order than they were begun. */
static void waves(void)
{
    const char *both[2] = {NAME("waves0"), NAME("waves1")};
    MPI_File two[2];
    for (int f = 0; f < 2; f++) {
        two[f] = opened(MPI_COMM_WORLD, both[f], create);
        segment(two[f], 100000);
    }
    MPI_Request requests[10];
    for (int wave = 0; wave < 2; wave++) {
        for (int i = 0; i < 10; i++)
            DO(MPI_File_iwrite_at(two[i % 2], 10000 * wave + 700 * i, data(both[i % 2], 600), 600, MPI_BYTE, &requests[i]));
        for (int left = 10, done; left > 0; left--)
            MPI_Waitany(10, requests, &done, MPI_STATUS_IGNORE);
    }
    DO(MPI_File_iwrite(two[0], data(both[0], 90), 90, MPI_BYTE, &requests[0]));
    DO(MPI_File_iwrite(two[0], data(both[0], 90), 90, MPI_BYTE, &requests[1]));
    /* not MPI_Testall: MPICH 5 looks there into a status that ROMIO has left as it was in memory */
    for (int i = 1; i >= 0; i--)
        for (int flag = 0; !flag;)
            MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
    for (int f = 0; f < 2; f++)
        DO(MPI_File_close(&two[f]));
}

/* Random shares of a file for each of many calls. */
static void shuffled(void)
{
    const char *name = NAME("shuffled");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    for (int i = 0; i < 12; i++) {
        long bytes;
        int holes = i % 3;
        view(file, 0, MPI_BYTE, scattered(20 + 8 * i, 60, 100 + i, holes, &bytes));
        void *memory = bytes ? data(name, bytes) : NULL;
        if (i % 4 == 1)
            DO(MPI_File_write_at(file, 0, memory, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        else
            DO(MPI_File_write_at_all(file, 0, memory, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    DO(MPI_File_close(&file));
}

/* The shared pointer in a view with holes, which all ranks have in common. */
static void shared_strided(void)
{
    const char *name = NAME("shared_strided");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    view(file, 40, MPI_BYTE, turns(2, 20, 30, MPI_BYTE));
    for (int i = 0; i < 3; i++)
        DO(MPI_File_write_shared(file, data(name, 70 + 10 * rank), 70 + 10 * rank, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    DO(MPI_File_write_ordered(file, data(name, 55), 55, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_ordered(file, data(name, 15 + rank), 15 + rank, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

static void sequential(void)
{
    const char *name = NAME("sequential");
    MPI_File file = opened(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    DO(MPI_File_write_ordered(file, data(name, 30 + rank), 30 + rank, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    DO(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", hints));
    DO(MPI_File_write_shared(file, data(name, 80), 20, MPI_INT, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

/* A file that is deleted and made again, while another one of its inode number may be open. */
static void again(void)
{
    const char *name = NAME("again");
    for (int i = 0; i < 3; i++) {
        MPI_File file = opened(MPI_COMM_WORLD, name, create | MPI_MODE_EXCL);
        segment(file, 1000);
        DO(MPI_File_write_all(file, data(name, 1000), 1000, MPI_BYTE, MPI_STATUS_IGNORE));
        DO(MPI_File_close(&file));
        if (rank == 0)
            MPI_File_delete(name, MPI_INFO_NULL);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* As libraries for arrays do it: rank 0 alone writes small headers between collective accesses. */
static void headers(void)
{
    const char *name = NAME("headers");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    for (int i = 0; i < 9; i++) {
        deal(file, 1000 + 5000 * i, 50, 10);
        DO(MPI_File_write_at_all(file, 0, data(name, 500), 500, MPI_BYTE, MPI_STATUS_IGNORE));
        segment(file, 0);
        if (rank == 0)
            for (int j = 0; j < 3; j++)
                DO(MPI_File_write_at(file, 30 * j, data(name, 20 + i), 20 + i, MPI_BYTE, MPI_STATUS_IGNORE));
        MPI_File_sync(file);
    }
    DO(MPI_File_close(&file));
}

/* Structures with padding, in memory and in the file. */
static void structures(void)
{
    const char *name = NAME("structures");
    zeros(name, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    struct record {
        char kind;
        double value;
        short more[3];
    };
    int lengths[3] = {1, 1, 3};
    MPI_Aint offsets[3] = {0, 8, 16};
    MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT}, plain, record;
    MPI_Type_create_struct(3, lengths, offsets, types, &plain);
    MPI_Type_create_resized(plain, 0, sizeof(struct record), &record);
    MPI_Type_free(&plain);
    MPI_Type_commit(&record);
    view(file, sizeof(struct record) * rank, record, turns(size, 1, 10, record));
    DO(MPI_File_write_all(file, data(name, 40 * sizeof(struct record)), 40, record, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at(file, 45, data(name, 7 * sizeof(struct record)), 7, record, MPI_STATUS_IGNORE));
    DO(MPI_File_write(file, data(name, 3 * sizeof(struct record)), 3, record, MPI_STATUS_IGNORE));
    DO(MPI_File_read_at_all(file, 3, keep(5 * sizeof(struct record)), 5, record, MPI_STATUS_IGNORE));
    MPI_Type_free(&record);
    DO(MPI_File_close(&file));
}

/* Requests that are completed by whatever comes: other files, messages, sync, close. */
static void deferred(void)
{
    const char *name = NAME("deferred"), *second = NAME("deferred2");
    zeros(name, 1 << 20);
    zeros(second, 1 << 20);
    MPI_File file = opened(MPI_COMM_WORLD, name, create), other = opened(MPI_COMM_WORLD, second, create);
    deal(file, 0, 60, 10);
    deal(other, 0, 30, 10);
    MPI_Request requests[4];
    int sum;
    DO(MPI_File_iwrite_all(file, data(name, 600), 600, MPI_BYTE, &requests[0]));
    DO(MPI_File_iwrite_all(other, data(second, 300), 300, MPI_BYTE, &requests[1]));
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    DO(MPI_File_iwrite_at(file, 1800, data(name, 600), 600, MPI_BYTE, &requests[2]));
    DO(MPI_File_iwrite_at_all(other, 900, data(second, 300), 300, MPI_BYTE, &requests[3]));
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    DO(MPI_File_write_at_all(other, 1200, data(second, 300), 300, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_iwrite_at_all(file, 600, data(name, 600), 600, MPI_BYTE, &requests[0]));
    DO(MPI_File_iwrite_at_all(file, 1200, data(name, 600), 600, MPI_BYTE, &requests[1]));
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    DO(MPI_File_write_at_all(other, 1500, data(second, 300), 300, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    DO(MPI_File_close(&other));
    DO(MPI_File_close(&file));
}

/* Ranks write the same bytes in one collective access, so whose stay is not defined: whole, in pieces, one inside of another,
 * and in atomic mode. Barriers: what one access wrote must not be read and written back by the next. Open MPI's vulcan, which is
 * its default, and dynamic_gen2 destroy the heap in some of these, without a tracer as well. */
static void overlapping(void)
{
    const char *name = NAME("overlapping");
    zeros(name, 1 << 20);
#ifdef OPEN_MPI
    const char *way = getenv("OMPI_MCA_fcoll");
    if (!way || strcmp(way, "vulcan") == 0 || strcmp(way, "dynamic_gen2") == 0)
        return;
#endif
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    DO(MPI_File_write_at_all(file, 400 * rank, data(name, 1000), 1000, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    /* blocks of 60, each 40 behind that of the rank before */
    MPI_Datatype type, whole;
    MPI_Type_vector(20, 60, 40 * size + 100, MPI_BYTE, &type);
    MPI_Type_create_resized(type, 0, 20 * (40 * size + 100), &whole);
    MPI_Type_free(&type);
    view(file, 50000 + 40 * rank, MPI_BYTE, whole);
    DO(MPI_File_write_at_all(file, 0, data(name, 1200), 1200, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", hints);
    DO(MPI_File_write_at_all(file, 80000 + 100 * rank, data(name, 2000 - 200 * rank), 2000 - 200 * rank, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_atomicity(file, 1);
    DO(MPI_File_write_at_all(file, 90000 + 300 * rank, data(name, 500), 500, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

/* A view of more pieces than could be listed, alike and at equal distances; those of the ranks lie between each other. */
static void rows(void)
{
    const char *name = NAME("rows");
    enum { ROWS = 66000, BYTES = 4 };
    zeros(name, 1 << 21);
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    MPI_Datatype type, whole;
    MPI_Type_vector(ROWS, BYTES, size * BYTES, MPI_BYTE, &type);
    MPI_Type_create_resized(type, 0, (MPI_Aint) ROWS * size * BYTES, &whole);
    MPI_Type_free(&type);
    view(file, 100 + rank * BYTES, MPI_BYTE, whole);
    DO(MPI_File_write_at_all(file, 0, data(name, ROWS * BYTES), ROWS * BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    DO(MPI_File_write_at_all(file, 50000, data(name, 4000), 4000, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 12 && rank == size - 1; i++)
        DO(MPI_File_write_at(file, 1002 * i, data(name, 40), 40, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    DO(MPI_File_close(&file));
}

/* More is read than there is. */
static void behind_end(void)
{
    const char *name = NAME("behind_end");
    MPI_File file = opened(MPI_COMM_WORLD, name, create);
    segment(file, 1000);
    DO(MPI_File_write_at_all(file, 0, data(name, 1000), 1000, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) {
        DO(MPI_File_read_at(file, 900, keep(300), 300, MPI_BYTE, MPI_STATUS_IGNORE));
        DO(MPI_File_read_at(file, 5000, keep(300), 300, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    MPI_File_seek(file, 400, MPI_SEEK_SET);
    DO(MPI_File_read(file, keep(200), 200, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_close(&file));
}

/* Two threads, each with a file and a communicator of its own. A communicator of several ranks would not do: ROMIO keeps a
 * lock during a collective access, which another thread of another rank may be waiting for. */
static MPI_Comm comms[2];
static char names[2][64];

static void *thread(void *argument)
{
    int me = argument != NULL;
    const char *name = names[me];
    MPI_File file = opened(comms[me], name, create);
    view(file, 0, MPI_BYTE, turns(2, 32 + 16 * me, 20, MPI_BYTE));
    for (int i = 0; i < 5; i++) {
        int bytes = 20 * (32 + 16 * me);
        DO(MPI_File_write_all(file, data(name, bytes), bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        DO(MPI_File_write_at(file, 20000 + 5000 * i, data(name, 99), 99, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    DO(MPI_File_close(&file));
    return NULL;
}

static void threads(void)
{
    int level;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE)
        return;
    for (int i = 0; i < 2; i++) {
        MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
        snprintf(names[i], sizeof names[i], NAME("thread%d.%d"), i, rank);
        FILE *file = fopen(names[i], "w");
        CHECK(file && ftruncate(fileno(file), 1 << 20) == 0);
        fclose(file);
    }
    pthread_t other;
    pthread_create(&other, NULL, thread, comms);
    thread(NULL);
    pthread_join(other, NULL);
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&comms[i]);
}

#define PATTERN(name) {#name, name, 0}
#define NAMED(name) {#name, name, 1}
static const struct {
    const char *name;
    void (*run)(void);
    /* it takes long: run only when it is named */
    int only_named;
} patterns[] = {
    PATTERN(interleaved), PATTERN(subarray), PATTERN(holes),      PATTERN(irregular),      PATTERN(strided),
    PATTERN(two_files),   PATTERN(outstanding), PATTERN(split),   PATTERN(ordered),        PATTERN(shared),
    PATTERN(iwrite_strided), PATTERN(memory), PATTERN(pointers),  PATTERN(append), PATTERN(ends),         PATTERN(views),
    PATTERN(etypes),      PATTERN(darray),   PATTERN(nested),     PATTERN(far),            PATTERN(partial),
    PATTERN(segments),    PATTERN(atomic),   PATTERN(sizes),      PATTERN(zero),           PATTERN(self),
    PATTERN(twice),       PATTERN(bounds),   PATTERN(write_only), PATTERN(large),          PATTERN(waves),
    PATTERN(shuffled),    PATTERN(shared_strided), PATTERN(sequential), PATTERN(again), PATTERN(headers), PATTERN(structures),
    PATTERN(deferred),    PATTERN(overlapping), NAMED(rows), PATTERN(behind_end), PATTERN(threads),
};

int main(int argc, char **argv)
{
    int level, threaded = 0, ran = 0;
    for (int i = 1; i < argc; i++)
        threaded |= strcmp(argv[i], "threads") == 0;
    MPI_Init_thread(&argc, &argv, threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= 8);
    MPI_Info_create(&hints);
    for (int i = 1; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (value) {
            *value = 0;
            MPI_Info_set(hints, argv[i], value + 1);
            argv[i] = "";
        }
    }
    int named = 0;
    for (int i = 1; i < argc; i++)
        named += argv[i][0] != 0;
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        int wanted = !named && !patterns[p].only_named;
        for (int i = 1; i < argc; i++)
            wanted |= strcmp(argv[i], patterns[p].name) == 0;
        if (!wanted)
            continue;
        if (getenv("PATTERN_SHOW") && rank == 0)
            fprintf(stderr, "%s\n", patterns[p].name);
        patterns[p].run();
        forget();
        MPI_Barrier(MPI_COMM_WORLD);
        ran++;
    }
    CHECK(ran >= named);
    MPI_Info_free(&hints);
    MPI_Finalize();
    if (rank == 0)
        printf("ok\n");
    return 0;
}
