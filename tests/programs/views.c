/* Views of every kind of filetype. Prints for each what the file must show of it: displacement, size of the etype, extent,
 * size, and the pieces of a filetype in the order of its type map. The pieces come from MPI_Pack: which bytes it takes, in
 * which order. Positions of the individual pointer are printed before each access by it. */
#include "check.h"

static MPI_File file;

/* Offset of each byte of a type in the order of its type map, by packing buffers that hold parts of their own addresses. */
static long *map_of(MPI_Datatype type, long *bytes)
{
    byte_t lb, span;
    count_t size;
    MPI_Type_size(type, &size);
    MPI_Type_get_true_extent(type, &lb, &span);
    *bytes = size;
    long *map = calloc(size + 1, sizeof *map);
    unsigned char *all = malloc(span + 1), *packed = malloc(size + 1);
    for (int shift = 0; shift < 32; shift += 8) {
        for (long i = 0; i < (long) span; i++)
            all[i] = (unsigned long) i >> shift;
        count_t at = 0;
        MPI_Pack(all - lb, 1, type, packed, size, &at, MPI_COMM_SELF);
        for (long i = 0; i < (long) size; i++)
            map[i] |= (long) packed[i] << shift;
    }
    for (long i = 0; i < (long) size; i++)
        map[i] += lb;
    free(all);
    free(packed);
    return map;
}

static void show(MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype type)
{
    byte_t lb, extent;
    count_t unit;
    long bytes, *map = map_of(type, &bytes);
    MPI_Type_size(etype, &unit);
    MPI_Type_get_extent(type, &lb, &extent);
    printf("VIEW %lld %lld %lld %ld", (long long) displacement, (long long) unit, (long long) extent, bytes);
    long pieces = 0;
    for (long i = 0, first = 0; i < bytes; i++)
        if (i + 1 == bytes || map[i + 1] != map[i] + 1) {
            if (pieces++ < 100)
                printf(" %ld+%ld", map[first], i + 1 - first);
            first = i + 1;
        }
    printf(" pieces %ld\n", pieces);
    free(map);
}

static void view(MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype type)
{
    MPI_Type_commit(&type);
    CHECK(MPI_File_set_view(file, displacement, etype, type, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    show(displacement, etype, type);
}

/* Sets a view of the type and frees it. */
static void once(MPI_Datatype etype, MPI_Datatype type)
{
    static MPI_Offset displacement = 8;
    view(displacement, etype, type);
    displacement += 24;
    MPI_Type_free(&type);
}

/* Sets a view of integers of a type with a lower bound, and frees the type. What MPI places elsewhere, or refuses, is shown as unknown. */
static void bounded(MPI_Offset displacement, MPI_Datatype type)
{
    byte_t lb, extent;
    count_t bytes;
    MPI_Offset first = -1;
    MPI_Type_commit(&type);
    MPI_Type_size(type, &bytes);
    MPI_Type_get_extent(type, &lb, &extent);
    if (MPI_File_set_view(file, displacement, MPI_INT, type, "native", MPI_INFO_NULL) != MPI_SUCCESS)
        printf("EXTENT 0 4 0 0 pieces 0\n");
    else if (MPI_File_get_byte_offset(file, 0, &first) == MPI_SUCCESS && first == displacement)
        show(displacement, MPI_INT, type);
    else
        printf("EXTENT %lld 4 %ld %ld pieces 0\n", (long long) displacement, (long) extent, (long) bytes);
    MPI_Type_free(&type);
}

static void constructors(void)
{
    MPI_Datatype type, old, fields[3] = {MPI_INT, MPI_DOUBLE, MPI_INT};
    count_t lengths[3] = {1, 0, 3}, displs[3] = {0, 4, 8};
    byte_t bytes[3] = {0, 16, 40};
    view(0, MPI_BYTE, MPI_BYTE);
    view(4, MPI_INT, MPI_INT);
    MPI_Type_contiguous(5, MPI_INT, &type);
    once(MPI_INT, type);
    MPI_Type_vector(3, 2, 4, MPI_INT, &type);
    once(MPI_INT, type);
    MPI_Type_vector(3, 2, 2, MPI_INT, &type);
    once(MPI_INT, type);
    MPI_Type_create_hvector(3, 2, 20, MPI_INT, &type);
    once(MPI_INT, type);
    MPI_Type_indexed(3, lengths, displs, MPI_INT, &type);
    once(MPI_INT, type);
    MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &type);
    once(MPI_INT, type);
    MPI_Type_create_indexed_block(3, 2, displs, MPI_INT, &type);
    once(MPI_INT, type);
    MPI_Type_create_hindexed_block(3, 2, bytes, MPI_INT, &type);
    once(MPI_INT, type);
    MPI_Type_create_struct(3, lengths, bytes, fields, &type);
    once(MPI_BYTE, type);
    for (int order = 0; order < 2; order++) {
        int way = order ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
        count_t sizes[3] = {4, 6, 5}, subsizes[3] = {2, 3, 4}, starts[3] = {1, 2, 0};
        MPI_Type_create_subarray(3, sizes, subsizes, starts, way, MPI_INT, &type);
        once(MPI_INT, type);
        count_t gsizes[3] = {7, 6, 11};
        int how[3] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC};
        int arguments[3] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG, 2}, processes[3] = {2, 1, 3};
        for (int mine = 0; mine < 6; mine++) {
            MPI_Type_create_darray(6, mine, 3, gsizes, how, arguments, processes, way, MPI_INT, &type);
            once(MPI_INT, type);
        }
    }
    MPI_Type_create_resized(MPI_INT, 0, 32, &type);
    once(MPI_INT, type);
#ifdef OPEN_MPI
    MPI_Type_create_resized(MPI_INT, -8, 32, &type);
    once(MPI_INT, type);
#else
    /* ROMIO may put data elsewhere than at their places in the type, and keeps a part of a view that it refuses: such views are not known. */
    MPI_Type_create_resized(MPI_INT, 8, 32, &type);
    bounded(40, type);
    MPI_Type_vector(2, 1, 5, MPI_INT, &old);
    MPI_Type_create_resized(old, -8, 40, &type);
    bounded(40, type);
    MPI_Type_free(&old);
#endif
    MPI_Type_contiguous(2, MPI_DOUBLE, &old);
    MPI_Type_dup(old, &type);
    once(MPI_DOUBLE, type);
    MPI_Type_free(&old);
    /* nested: a grid of resized structs of vectors */
    MPI_Type_vector(2, 1, 3, MPI_SHORT, &old);
    MPI_Datatype parts[2] = {MPI_INT, old}, whole;
    byte_t at[2] = {4, 16};
    count_t two[2] = {1, 2};
    MPI_Type_create_struct(2, two, at, parts, &whole);
    MPI_Type_free(&old);
    MPI_Type_create_resized(whole, 0, 64, &old);
    MPI_Type_free(&whole);
    MPI_Type_vector(2, 2, 3, old, &type);
    MPI_Type_free(&old);
    MPI_Type_dup(type, &old);
    MPI_Type_free(&type);
    once(MPI_BYTE, old);
    /* pairs, one of which has a hole */
    MPI_Type_contiguous(2, MPI_SHORT_INT, &type);
    once(MPI_BYTE, type);
    MPI_Type_contiguous(2, MPI_DOUBLE_INT, &type);
    once(MPI_BYTE, type);
    MPI_Type_create_f90_integer(9, &old);
    MPI_Type_vector(2, 1, 3, old, &type);
    once(MPI_BYTE, type);
    /* dense, however often repeated */
    MPI_Type_contiguous(1 << 20, MPI_INT, &type);
    once(MPI_INT, type);
}

/* Blocks of one and two bytes by turns, with gaps of one byte: no two neighbours are alike. */
static MPI_Datatype uneven(int count)
{
    static count_t lengths[65537], offsets[65537];
    for (int i = 0, at = 0; i < count; i++) {
        lengths[i] = 1 + i % 2;
        offsets[i] = at;
        at += lengths[i] + 1;
    }
    MPI_Datatype type;
    MPI_Type_indexed(count, lengths, offsets, MPI_BYTE, &type);
    return type;
}

/* Many pieces: however many at equal distances, a limited number of others. */
static void many(void)
{
    MPI_Datatype type;
    MPI_Type_vector(200000, 1, 2, MPI_BYTE, &type);
    once(MPI_BYTE, type);
    count_t sizes[] = {300, 300, 4}, parts[] = {280, 260, 2}, starts[] = {3, 5, 1};
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_SHORT, &type);
    once(MPI_SHORT, type);
    once(MPI_BYTE, uneven(65536));
    type = uneven(65537);
    MPI_Type_commit(&type);
    MPI_File_set_view(file, 16, MPI_BYTE, type, "native", MPI_INFO_NULL);
    printf("EXTENT 16 1 163841 98305 0+163841 pieces 1\n");
    MPI_Type_free(&type);
}

static void positions(void)
{
    MPI_Datatype type;
    MPI_Status status;
    MPI_Request request;
    MPI_Offset at;
    int data[8] = {0};
    MPI_Type_vector(2, 2, 4, MPI_INT, &type);
    view(16, MPI_INT, type);
    MPI_Type_free(&type);
#define AT(access)                                                                              \
    MPI_File_get_position(file, &at);                                                           \
    printf("POSITION %lld\n", (long long) at);                                                  \
    access
    AT(MPI_File_write(file, data, 8, MPI_INT, &status));
    AT(MPI_File_write_all(file, data, 3, MPI_INT, &status));
    MPI_File_seek(file, -5, MPI_SEEK_CUR);
    AT(MPI_File_read(file, data, 4, MPI_INT, &status));
    MPI_File_seek(file, 2, MPI_SEEK_SET);
    AT(MPI_File_read_all(file, data, 4, MPI_INT, &status));
    AT(MPI_File_iwrite(file, data, 1, MPI_INT, &request));
    MPI_Wait(&request, &status);
    AT(MPI_File_iread(file, data, 1, MPI_INT, &request));
    MPI_Wait(&request, &status);
    AT(MPI_File_write_all_begin(file, data, 2, MPI_INT));
    MPI_File_write_all_end(file, data, &status);
    AT(MPI_File_read_all_begin(file, data, 2, MPI_INT));
    MPI_File_read_all_end(file, data, &status);
    /* pieces that end in the middle of a copy, and where nothing is left to read */
    for (int i = 1; i < 8; i++) {
        AT(MPI_File_write(file, data, i, MPI_INT, &status));
    }
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_commit(&type);
    AT(MPI_File_write(file, data, 2, type, MPI_STATUS_IGNORE));
    AT(MPI_File_read(file, data, 1, type, MPI_STATUS_IGNORE));
    MPI_Type_free(&type);
    MPI_File_set_size(file, 1000);
    MPI_File_seek(file, 0, MPI_SEEK_END);
    AT(MPI_File_read(file, data, 8, MPI_INT, &status));
    AT(MPI_File_write(file, data, 1, MPI_INT, &status));
    MPI_File_seek(file, 3, MPI_SEEK_SET);
    AT(MPI_File_write(file, data, 0, MPI_INT, &status));
    AT(MPI_File_write(file, data, 1, MPI_INT, &status));
    MPI_File_seek(file, -1000, MPI_SEEK_CUR); /* fails, and moves nothing */
    AT(MPI_File_write(file, data, 1, MPI_INT, &status));
    /* says itself where it begins */
    MPI_File_write_at(file, 0, data, 1, MPI_INT, &status);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    CHECK(size == 1);
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    CHECK(MPI_File_open(MPI_COMM_WORLD, "views.data", mode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    MPI_File_set_size(file, 1000); /* Open MPI 4 waits for ever for bytes behind the end */
    constructors();
    many();
    positions();
    MPI_File_close(&file);
    return end();
}
