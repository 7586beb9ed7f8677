/* PnetCDF: each rank has some of the columns of a table; written in a collective call, and once more by a nonblocking one. */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 256, COLUMNS = 64 }; /* of each rank */

int main(int argc, char **argv)
{
    int rank, size, file, dimensions[2], first, second, request, status, bad = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *out = malloc(ROWS * COLUMNS * sizeof *out), *in = malloc(ROWS * COLUMNS * sizeof *in);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        out[i] = rank * 1e6 + i;

    bad |= ncmpi_create(MPI_COMM_WORLD, "columns.nc", NC_CLOBBER, MPI_INFO_NULL, &file);
    bad |= ncmpi_def_dim(file, "rows", ROWS, &dimensions[0]);
    bad |= ncmpi_def_dim(file, "columns", (MPI_Offset) COLUMNS * size, &dimensions[1]);
    bad |= ncmpi_def_var(file, "first", NC_DOUBLE, 2, dimensions, &first);
    bad |= ncmpi_def_var(file, "second", NC_DOUBLE, 2, dimensions, &second);
    bad |= ncmpi_enddef(file);
    MPI_Offset start[2] = {0, (MPI_Offset) COLUMNS * rank}, count[2] = {ROWS, COLUMNS};
    bad |= ncmpi_put_vara_double_all(file, first, start, count, out);
    bad |= ncmpi_iput_vara_double(file, second, start, count, out, &request);
    bad |= ncmpi_wait_all(file, 1, &request, &status);
    bad |= ncmpi_get_vara_double_all(file, second, start, count, in);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        bad |= in[i] != out[i];
    bad |= ncmpi_close(file);
    MPI_Finalize();
    if (rank == 0 && !bad)
        printf("ok\n");
    return bad != 0;
}
