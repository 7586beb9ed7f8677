/* Parallel HDF5: each rank has some of the columns of a table, so that the rows of the file belong to all of them.
 * `hdf5_columns independent` accesses them without collective calls. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 256, COLUMNS = 64 }; /* of each rank */

int main(int argc, char **argv)
{
    int rank, size, bad = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *out = malloc(ROWS * COLUMNS * sizeof *out), *in = malloc(ROWS * COLUMNS * sizeof *in);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        out[i] = rank * 1e6 + i;

    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t file = H5Fcreate("columns.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hsize_t whole[2] = {ROWS, COLUMNS * size}, start[2] = {0, COLUMNS * rank}, part[2] = {ROWS, COLUMNS};
    hid_t space = H5Screate_simple(2, whole, NULL), memory = H5Screate_simple(2, part, NULL);
    hid_t data = H5Dcreate2(file, "columns", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(transfer, argc > 1 ? H5FD_MPIO_INDEPENDENT : H5FD_MPIO_COLLECTIVE);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, part, NULL);
    bad |= H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, space, transfer, out) < 0;
    bad |= H5Dread(data, H5T_NATIVE_DOUBLE, memory, space, transfer, in) < 0;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        bad |= in[i] != out[i];
    H5Pclose(transfer), H5Dclose(data), H5Sclose(memory), H5Sclose(space);
    bad |= H5Fflush(file, H5F_SCOPE_GLOBAL) < 0;
    bad |= H5Fclose(file) < 0;
    H5Pclose(access);
    MPI_Finalize();
    if (rank == 0 && !bad)
        printf("ok\n");
    return bad;
}
