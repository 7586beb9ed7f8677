/* Accesses to a file, and as many messages of 64 bytes from each rank to the next as the second argument says. */
#include "check.h"

int main(int argc, char **argv)
{
    char out[64] = {0}, in[64];
    MPI_File file;
    begin(&argc, &argv);
    CHECK(argc == 3);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    for (int i = 0; i < 20; i++) {
        MPI_File_write_at(file, 64 * (size * i + rank), out, 64, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_write_at_all(file, 64 * (size * i + rank), out, 64, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_read_at(file, 64 * (size * i + rank), in, 64, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
    for (int i = 0; i < atoi(argv[2]); i++)
        MPI_Sendrecv(out, 64, MPI_BYTE, next, i, in, 64, MPI_BYTE, prev, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return end();
}
