/* Nonblocking writes of few bytes, four at a time: argument 1 is the file. Rank 0 prints how many bytes all ranks have written. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    enum { WAVES = 2000, AT_ONCE = 4, MOST = 1009 };
    static char data[MOST];
    int rank;
    long long mine = 0, all = 0;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Offset at = (MPI_Offset) rank * WAVES * AT_ONCE * MOST;
    for (int wave = 0; wave < WAVES; wave++) {
        MPI_Request requests[AT_ONCE];
        for (int i = 0; i < AT_ONCE; i++) {
            int bytes = 1 + (wave * 31 + i * 7) % MOST;
            MPI_File_iwrite_at(file, at, data, bytes, MPI_BYTE, &requests[i]);
            at += bytes;
            mine += bytes;
        }
        MPI_Waitall(AT_ONCE, requests, MPI_STATUSES_IGNORE);
    }
    MPI_File_close(&file);
    MPI_Reduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        printf("%lld\n", all);
    return 0;
}
