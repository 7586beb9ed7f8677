/*
 * Accesses to one file of each kind: explicit, individual and shared pointers, blocking, nonblocking and split, alone and
 * together, through a view whose pieces lie between those of the other ranks.
 *
 *   accesses FILE [N]      and N more writes of 8 bytes
 */
#include "check.h"

enum { PIECE = 4096, PIECES = 16, BYTES = PIECE * PIECES };

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    char *buffer = malloc(BYTES), *back = malloc(BYTES);
    memset(buffer, 'a' + rank, BYTES);

    MPI_File file;
    CHECK(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    MPI_File_write_at(file, (MPI_Offset)rank * BYTES, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(file, (MPI_Offset)((rank + 1) % size) * BYTES, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    CHECK(back[0] == 'a' + (rank + 1) % size && back[BYTES - 1] == back[0]);

    MPI_Datatype pieces;
    MPI_Type_vector(PIECES, PIECE, PIECE * size, MPI_BYTE, &pieces);
    MPI_Type_commit(&pieces);
    MPI_File_set_view(file, (1 << 20) + rank * PIECE, MPI_BYTE, pieces, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_write(file, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_write_all_begin(file, buffer, BYTES, MPI_BYTE);
    MPI_File_write_all_end(file, buffer, MPI_STATUS_IGNORE);

    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_Request requests[3];
    for (int i = 0; i < 3; i++)
        MPI_File_iwrite_at(file, (4 << 20) + (MPI_Offset)(rank * 3 + i) * BYTES, buffer, BYTES, MPI_BYTE, &requests[i]);
    MPI_Status statuses[3];
    MPI_Waitall(3, requests, statuses);
    for (int i = 0; argc > 2 && i < atoi(argv[2]); i++)
        MPI_File_write_at(file, 8 * (MPI_Offset)(i * size + rank), buffer, 8, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_write_ordered(file, buffer, 500, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);

    MPI_Type_free(&pieces);
    free(buffer);
    free(back);
    return end();
}
