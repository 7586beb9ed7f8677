/* MPI-IO by every way to the disk that the libraries have: contiguous and strided views, independent, collective, nonblocking,
 * and split accesses, atomic mode, sizes, synchronisation. All files are named *.data and stand in the working directory.
 * Prints a sum of what was read. */
#include "check.h"

#define N 2000 /* ints per access */

static MPI_File file;
static int out[N], in[N];
static long sum;

static void read_back(void)
{
    for (int i = 0; i < N; i++)
        sum += in[i];
}

static void access_all(const char *name, int strided, int atomic)
{
    MPI_Datatype type = MPI_INT;
    MPI_Request request[2];
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    CHECK(MPI_File_open(MPI_COMM_WORLD, (char *) name, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    /* How far the file goes must not depend on who comes first: libraries read it before they write to parts of it. */
    MPI_File_set_size(file, 4L * N * 16 * size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strided) {
        MPI_Type_vector(N / 4, 4, 4 * size, MPI_INT, &type);
        MPI_Type_commit(&type);
    }
    MPI_File_set_view(file, strided ? 16 * rank : 16L * 4 * N * rank, MPI_INT, type, "native", MPI_INFO_NULL);
    MPI_File_set_atomicity(file, atomic);
    MPI_File_write(file, out, N, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_all(file, out, N, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_at(file, 3 * N, out, N, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_read(file, in, N, MPI_INT, MPI_STATUS_IGNORE);
    read_back();
    MPI_File_read_all(file, in, N, MPI_INT, MPI_STATUS_IGNORE);
    read_back();
    if (!atomic) { /* ROMIO does not do it otherwise */
        MPI_File_iwrite_at(file, 4 * N, out, N, MPI_INT, &request[0]);
        MPI_File_iwrite_at(file, 5 * N, out, N, MPI_INT, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        MPI_File_iread_at(file, 4 * N, in, N, MPI_INT, &request[0]);
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        read_back();
        MPI_File_write_at_all_begin(file, 6 * N, out, N, MPI_INT);
        MPI_File_write_at_all_end(file, out, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_preallocate(file, 4L * N * 16 * size);
    MPI_Offset bytes;
    MPI_File_get_size(file, &bytes);
    MPI_File_close(&file);
    if (strided)
        MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (int i = 0; i < N; i++)
        out[i] = rank + i;
    access_all("contiguous.data", 0, 0);
    access_all("strided.data", 1, 0);
    access_all("atomic.data", 0, 1);
    CHECK(MPI_File_open(MPI_COMM_SELF, "missing.data", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_File_delete("strided.data", MPI_INFO_NULL);
    printf("sum %ld\n", sum);
    return end();
}
