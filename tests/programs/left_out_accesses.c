/* Six collective writes of 16 blocks of 100 bytes each, those of the ranks in turn, so that no byte between them is nobody's. With "off"
 * rank 1 switches recording off for the third and the fourth. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size;
    char data[1600];
    MPI_File file;
    MPI_Datatype blocks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int switches = rank == 1 && argc > 1 && strcmp(argv[1], "off") == 0;
    memset(data, 'a' + rank, sizeof data);
    if (MPI_File_open(MPI_COMM_WORLD, "data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Type_vector(16, 100, 100 * size, MPI_BYTE, &blocks);
    MPI_Type_commit(&blocks);
    MPI_File_set_view(file, rank * 100, MPI_BYTE, blocks, "native", MPI_INFO_NULL);
    for (int i = 0; i < 6; i++) {
        if (switches && i == 2)
            MPI_Pcontrol(0);
        if (MPI_File_write_at_all(file, i * 1600, data, 1600, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 1);
        if (switches && i == 3)
            MPI_Pcontrol(1);
    }
    MPI_Type_free(&blocks);
    MPI_File_close(&file);
    MPI_Finalize();
    if (rank == 0)
        printf("ok\n");
    return 0;
}
