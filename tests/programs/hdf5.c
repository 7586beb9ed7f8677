/* A parallel HDF5 program as users write it: every rank writes its row of a dataset collectively and reads it back. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, bad = 0;
    double out[100], in[100];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 100; i++)
        out[i] = rank + i / 100.0;

    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t file = H5Fcreate("rows.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hsize_t whole[2] = {size, 100}, start[2] = {rank, 0}, row[2] = {1, 100};
    hid_t space = H5Screate_simple(2, whole, NULL), memory = H5Screate_simple(2, row, NULL);
    hid_t data = H5Dcreate2(file, "rows", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, row, NULL);
    bad |= H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, space, transfer, out) < 0;
    bad |= H5Dread(data, H5T_NATIVE_DOUBLE, memory, space, transfer, in) < 0;
    for (int i = 0; i < 100; i++)
        bad |= in[i] != out[i];
    H5Pclose(transfer), H5Dclose(data), H5Sclose(memory), H5Sclose(space);
    bad |= H5Fclose(file) < 0;
    H5Pclose(access);
    MPI_Finalize();
    if (rank == 0 && !bad)
        printf("ok\n");
    return bad;
}
