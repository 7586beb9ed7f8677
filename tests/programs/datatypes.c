/* MPI 5.0 chapter 5: every constructor, queries, decoding, packing, and messages of such types. */
#include "check.h"

/* One element of the committed type to the next rank and back into a second buffer; what arrives is returned. */
static void round_trip(MPI_Datatype type, void *out, void *in)
{
    MPI_Status status;
    count_t count;
    MPI_Sendrecv(out, 1, type, next, 1, in, 1, type, prev, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, type, &count);
    CHECK(count == 1);
}

static void sized(MPI_Datatype type, long long expected)
{
    count_t bytes;
    byte_t lb, extent;
    MPI_Count xbytes, xlb, xextent;
    MPI_Type_size(type, &bytes);
    CHECK(bytes == expected);
    MPI_Type_size_x(type, &xbytes);
    CHECK(xbytes == expected);
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_extent_x(type, &xlb, &xextent);
    CHECK(lb == xlb && extent == xextent);
    MPI_Type_get_true_extent(type, &lb, &extent);
    MPI_Type_get_true_extent_x(type, &xlb, &xextent);
    CHECK(lb == xlb && extent == xextent);
}

static void constructors(void)
{
    int out[64], in[64];
    MPI_Datatype type, other;
    count_t lengths[3] = {1, 2, 3}, displs[3] = {0, 4, 8};
    byte_t bytes[3] = {0, 16, 32};
    MPI_Datatype types[3] = {MPI_INT, MPI_FLOAT, MPI_INT};
    for (int i = 0; i < 64; i++)
        out[i] = rank * 64 + i;
#define TRY(expected)                                                                           \
    MPI_Type_commit(&type);                                                                     \
    sized(type, expected);                                                                      \
    memset(in, -1, sizeof in);                                                                  \
    round_trip(type, out, in);                                                                  \
    MPI_Type_free(&type);                                                                       \
    CHECK(type == MPI_DATATYPE_NULL)

    MPI_Type_contiguous(5, MPI_INT, &type);
    TRY(20);
    CHECK(in[4] == prev * 64 + 4 && in[5] == -1);
    MPI_Type_vector(3, 2, 4, MPI_INT, &type);
    TRY(24);
    CHECK(in[9] == prev * 64 + 9 && in[2] == -1);
    MPI_Type_create_hvector(3, 2, 16, MPI_INT, &type);
    TRY(24);
    MPI_Type_indexed(3, lengths, displs, MPI_INT, &type);
    TRY(24);
    CHECK(in[10] == prev * 64 + 10 && in[1] == -1);
    MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &type);
    TRY(24);
    MPI_Type_create_indexed_block(3, 2, displs, MPI_INT, &type);
    TRY(24);
    MPI_Type_create_hindexed_block(3, 2, bytes, MPI_INT, &type);
    TRY(24);
    MPI_Type_create_struct(3, lengths, bytes, types, &type);
    TRY(24);
    count_t sizes[2] = {4, 6}, subsizes[2] = {2, 3}, starts[2] = {1, 2};
    MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &type);
    TRY(24);
    CHECK(in[8] == prev * 64 + 8 && in[0] == -1);
    count_t gsizes[2] = {4, 6};
    int distribution[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE};
    int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, processes[2] = {1, 1};
    MPI_Type_create_darray(1, 0, 2, gsizes, distribution, arguments, processes, MPI_ORDER_C, MPI_INT, &type);
    TRY(96);
    MPI_Type_create_resized(MPI_INT, 0, 32, &type);
    TRY(4);
    MPI_Type_contiguous(2, MPI_DOUBLE, &other);
    MPI_Type_dup(other, &type);
    MPI_Type_free(&other);
    TRY(16);
    MPI_Type_create_f90_integer(5, &type); /* predefined: neither committed nor freed */
    MPI_Type_create_f90_real(6, 30, &type);
    MPI_Type_create_f90_complex(6, 30, &type);
    MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 8, &type);
    count_t bytes8;
    MPI_Type_size(type, &bytes8);
    CHECK(bytes8 == 8);
}

static void decoding(void)
{
    MPI_Datatype type, inner[1];
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Type_vector(3, 2, 4, MPI_INT, &type);
    MPI_Type_set_name(type, "rows");
    MPI_Type_get_name(type, name, &length);
    CHECK(strcmp(name, "rows") == 0);
#ifndef LARGE_COUNT /* the large forms have further parameters */
    int integers, addresses, types, combiner, number[3];
    MPI_Aint address[1];
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    CHECK(integers == 3 && addresses == 0 && types == 1 && combiner == MPI_COMBINER_VECTOR);
    MPI_Type_get_contents(type, 3, 1, 1, number, address, inner);
    CHECK(number[0] == 3 && number[1] == 2 && number[2] == 4 && inner[0] == MPI_INT);
#else
    MPI_Count integers, addresses, larges, types, number[3];
    int combiner, small[3];
    MPI_Aint address[1];
    PLAIN(MPI_Type_get_envelope_c)(type, &integers, &addresses, &larges, &types, &combiner);
    CHECK(types == 1);
    PLAIN(MPI_Type_get_contents_c)(type, 3, 1, 3, 1, small, address, number, inner);
#endif
    MPI_Type_free(&type);
}

static void packing(void)
{
    char buffer[256];
    int a = rank, b = -1;
    double x = rank + 0.25, y = -1;
    count_t position = 0, need;
    MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &need);
    CHECK(need >= 4);
    MPI_Pack(&a, 1, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Pack(&x, 1, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Sendrecv_replace(buffer, position, MPI_PACKED, next, 2, prev, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    position = 0;
    MPI_Unpack(buffer, sizeof buffer, &position, &b, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(buffer, sizeof buffer, &position, &y, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    CHECK(b == prev && y == prev + 0.25);

    byte_t at = 0, bytes;
    MPI_Pack_external_size("external32", 1, MPI_DOUBLE, &bytes);
    CHECK(bytes == 8);
    MPI_Pack_external("external32", &x, 1, MPI_DOUBLE, buffer, sizeof buffer, &at);
    CHECK(at == 8);
    at = 0;
    MPI_Unpack_external("external32", buffer, sizeof buffer, &at, &y, 1, MPI_DOUBLE);
    CHECK(x == y);
}

static void elements(void)
{
    MPI_Datatype pair;
    MPI_Status status;
    int out[3] = {1, 2, 3}, in[4];
    count_t count, parts;
    MPI_Count xparts;
    MPI_Aint where, where2;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Sendrecv(out, 3, MPI_INT, next, 3, in, 2, pair, prev, 3, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, pair, &count);
    MPI_Get_elements(&status, pair, &parts);
    MPI_Get_elements_x(&status, pair, &xparts);
    CHECK(count == MPI_UNDEFINED && parts == 3 && xparts == 3);
    MPI_Status_set_elements_x(&status, MPI_INT, 12);
    MPI_Get_elements_x(&status, MPI_INT, &xparts);
    CHECK(xparts == 12);
    MPI_Type_free(&pair);

    MPI_Get_address(&out[0], &where);
    MPI_Get_address(&out[2], &where2);
    CHECK(MPI_Aint_diff(where2, where) == 8 && MPI_Aint_add(where, 8) == where2);
    MPI_Datatype absolute;
    count_t one = 1;
    byte_t at = where;
    MPI_Type_create_hindexed(1, &one, &at, MPI_INT, &absolute);
    MPI_Type_commit(&absolute);
    MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, MPI_COMM_WORLD);
    CHECK(out[0] == 1);
    MPI_Type_free(&absolute);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    constructors();
    decoding();
    packing();
    elements();
    return end();
}
