/* MPI 5.0 chapter 14: every data access routine of MPI-IO, views, pointers, sizes. Files go to the working directory. */
#include "check.h"

#define N 4 /* ints per access */

static int out[N], in[N];
static MPI_File file;
static MPI_Status status;
static MPI_Request request;

static void fill(int tag)
{
    for (int i = 0; i < N; i++)
        out[i] = 1000 * tag + 10 * rank + i;
    memset(in, -1, sizeof in);
}

static void same(void)
{
    count_t count;
    CHECK(memcmp(in, out, sizeof in) == 0);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == N);
}

static void open_file(const char *name)
{
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
}

static void explicit_offsets(void)
{
    MPI_Offset at = rank * N; /* in etypes */
    open_file("explicit.data");
    fill(1);
    MPI_File_write_at(file, at, out, N, MPI_INT, &status);
    MPI_File_read_at(file, at, in, N, MPI_INT, &status);
    same();
    fill(2);
    MPI_File_write_at_all(file, at, out, N, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, at, in, N, MPI_INT, &status);
    same();
    fill(3);
    MPI_File_iwrite_at(file, at, out, N, MPI_INT, &request);
    MPI_Wait(&request, &status);
    MPI_File_iread_at(file, at, in, N, MPI_INT, &request);
    MPI_Wait(&request, &status);
    same();
    fill(4);
    MPI_File_iwrite_at_all(file, at, out, N, MPI_INT, &request);
    MPI_Wait(&request, &status);
    MPI_File_iread_at_all(file, at, in, N, MPI_INT, &request);
    MPI_Wait(&request, &status);
    same();
    fill(5);
    MPI_File_write_at_all_begin(file, at, out, N, MPI_INT);
    MPI_File_write_at_all_end(file, out, &status);
    MPI_File_read_at_all_begin(file, at, in, N, MPI_INT);
    MPI_File_read_at_all_end(file, in, &status);
    same();
    MPI_File_close(&file);
    CHECK(file == MPI_FILE_NULL);
}

static void individual_pointers(void)
{
    MPI_Offset position, bytes;
    open_file("individual.data");
#define BACK() MPI_File_seek(file, rank * N, MPI_SEEK_SET)
    BACK();
    fill(1);
    MPI_File_write(file, out, N, MPI_INT, &status);
    MPI_File_get_position(file, &position);
    CHECK(position == (rank + 1) * N);
    MPI_File_get_byte_offset(file, position, &bytes);
    CHECK(bytes == position * (MPI_Offset)sizeof(int));
    MPI_File_seek(file, -N, MPI_SEEK_CUR);
    MPI_File_read(file, in, N, MPI_INT, &status);
    same();
    BACK(), fill(2);
    MPI_File_write_all(file, out, N, MPI_INT, &status);
    BACK();
    MPI_File_read_all(file, in, N, MPI_INT, &status);
    same();
    BACK(), fill(3);
    MPI_File_iwrite(file, out, N, MPI_INT, &request);
    MPI_Wait(&request, &status);
    BACK();
    MPI_File_iread(file, in, N, MPI_INT, &request);
    MPI_Wait(&request, &status);
    same();
    BACK(), fill(4);
    MPI_File_iwrite_all(file, out, N, MPI_INT, &request);
    MPI_Wait(&request, &status);
    BACK();
    MPI_File_iread_all(file, in, N, MPI_INT, &request);
    MPI_Wait(&request, &status);
    same();
    BACK(), fill(5);
    MPI_File_write_all_begin(file, out, N, MPI_INT);
    MPI_File_write_all_end(file, out, &status);
    BACK();
    MPI_File_read_all_begin(file, in, N, MPI_INT);
    MPI_File_read_all_end(file, in, &status);
    same();
    MPI_File_close(&file);
}

static void shared_pointer(void)
{
    MPI_Offset position;
    open_file("shared.data");
    fill(1);
    MPI_File_write_ordered(file, out, N, MPI_INT, &status);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_position_shared(file, &position);
    CHECK(position == size * N);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_read_ordered(file, in, N, MPI_INT, &status);
    same();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    fill(2);
    MPI_File_write_ordered_begin(file, out, N, MPI_INT);
    MPI_File_write_ordered_end(file, out, &status);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_read_ordered_begin(file, in, N, MPI_INT);
    MPI_File_read_ordered_end(file, in, &status);
    same();

    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    fill(3); /* each rank reads what any rank wrote: only the number of elements is known */
    count_t count;
    MPI_File_write_shared(file, out, N, MPI_INT, &status);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_read_shared(file, in, N, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == N && in[0] / 1000 == 3);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_iwrite_shared(file, out, N, MPI_INT, &request);
    MPI_Wait(&request, &status);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_iread_shared(file, in, N, MPI_INT, &request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == N);
    MPI_File_close(&file);
}

/* Every rank sees each size-th block of N ints. */
static void views(void)
{
    MPI_Datatype column, etype, filetype;
    MPI_Offset displacement, bytes;
    byte_t extent;
    char representation[MPI_MAX_DATAREP_STRING];
    open_file("views.data");
    /* MPICH's MPI-IO takes no datatypes made by large-count constructors */
    PLAIN(MPI_Type_vector)(1, N, N, MPI_INT, &filetype);
    PLAIN(MPI_Type_create_resized)(filetype, 0, (MPI_Aint)(size * N * sizeof(int)), &column);
    MPI_Type_commit(&column);
    MPI_File_set_view(file, rank * N * sizeof(int), MPI_INT, column, "native", MPI_INFO_NULL);
    for (int block = 0; block < 3; block++) {
        fill(block);
        MPI_File_write_all(file, out, N, MPI_INT, MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&filetype);
    MPI_File_get_view(file, &displacement, &etype, &filetype, representation);
    CHECK(displacement == (MPI_Offset)(rank * N * sizeof(int)) && strcmp(representation, "native") == 0);
    MPI_Type_free(&filetype);
    MPI_File_get_type_extent(file, MPI_INT, &extent);
    CHECK(extent == 4);
    MPI_File_seek(file, N, MPI_SEEK_SET);
    fill(1);
    MPI_File_read_all(file, in, N, MPI_INT, &status);
    same();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(file, &bytes);
    CHECK(bytes == (MPI_Offset)(3 * size * N * sizeof(int)));
    MPI_Type_free(&column);
    MPI_File_close(&file);
}

static int representation_extent(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    (void)type, (void)state;
    *extent = 4;
    return MPI_SUCCESS;
}

static void the_rest(void)
{
    MPI_Offset bytes;
    MPI_Group group;
    MPI_Info info;
    int mode, n, atomic;
    MPI_Info_create(&info);
    MPI_Info_set(info, "striping_unit", "65536");
    CHECK(MPI_File_open(MPI_COMM_WORLD, "rest.data", MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) == MPI_SUCCESS);
    MPI_File_set_info(file, info);
    MPI_Info_free(&info);
    MPI_File_get_info(file, &info);
    MPI_Info_free(&info);
    MPI_File_get_amode(file, &mode);
    CHECK(mode == (MPI_MODE_CREATE | MPI_MODE_RDWR));
    MPI_File_get_group(file, &group);
    MPI_Group_size(group, &n);
    CHECK(n == size);
    MPI_Group_free(&group);
    MPI_File_preallocate(file, 4096);
    MPI_File_set_size(file, 1024);
    MPI_File_get_size(file, &bytes);
    CHECK(bytes == 1024);
    MPI_File_set_atomicity(file, 1);
    MPI_File_get_atomicity(file, &atomic);
    CHECK(atomic);
    MPI_File_sync(file);
    MPI_File_close(&file);
    if (rank == 0)
        CHECK(MPI_File_delete("rest.data", MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Register_datarep("ours", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, representation_extent, NULL);
    /* errors of files are returned unless asked otherwise */
    int class, code = MPI_File_open(MPI_COMM_SELF, "no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    CHECK(code != MPI_SUCCESS);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_NO_SUCH_FILE || class == MPI_ERR_FILE || class == MPI_ERR_IO);
}

/* Questions about places in a sequential file are errors, which end the program. */
static void sequential(void)
{
    MPI_Datatype ints;
    /* MPICH 4.0 takes no view of a datatype with large counts. */
    PLAIN(MPI_Type_create_resized)(MPI_INT, -4, 16, &ints);
    MPI_Type_commit(&ints);
    MPI_File_open(MPI_COMM_WORLD, "sequential.data", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &file);
    MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
    MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, ints, "native", MPI_INFO_NULL);
    MPI_File_write_shared(file, out, N, MPI_INT, &status);
    MPI_File_close(&file);
    MPI_Type_free(&ints);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    explicit_offsets();
    individual_pointers();
    shared_pointer();
    views();
    the_rest();
    sequential();
    return end();
}
