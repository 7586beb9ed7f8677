/*
 * Two phases on one file: each rank writes a segment of its own, then reads the segment of the next rank. Ranks take turns
 * with pauses in between, so that a picture shows which disk operation belongs to which call. What is read is checked.
 *
 *   segments FILE [BYTES]      BYTES of a segment, 1048576 if not said
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void pause_ms(int ms)
{
    struct timespec t = {ms / 1000, (ms % 1000) * 1000000L};
    nanosleep(&t, NULL);
}

static void must(int code, const char *what)
{
    if (code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int length;
        MPI_Error_string(code, text, &length);
        fprintf(stderr, "segments: %s: %s\n", what, text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static char byte_of(int rank, long i)
{
    return (char)(rank * 31 + i % 251);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2) {
        if (rank == 0)
            fprintf(stderr, "usage: segments FILE [BYTES]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int bytes = argc > 2 ? atoi(argv[2]) : 1 << 20;
    char *buffer = malloc(bytes);
    MPI_File file;
    MPI_Status status;

    for (long i = 0; i < bytes; i++)
        buffer[i] = byte_of(rank, i);
    must(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file), argv[1]);
    must(MPI_File_seek(file, (MPI_Offset)rank * bytes, MPI_SEEK_SET), "seek");
    MPI_Barrier(MPI_COMM_WORLD);
    pause_ms(10 * rank);
    must(MPI_File_write(file, buffer, bytes, MPI_CHAR, &status), "write");
    must(MPI_File_close(&file), "close");
    MPI_Barrier(MPI_COMM_WORLD);
    pause_ms(2);

    int other = (rank + 1) % size;
    must(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &file), argv[1]);
    must(MPI_File_seek(file, (MPI_Offset)other * bytes, MPI_SEEK_SET), "seek");
    MPI_Barrier(MPI_COMM_WORLD);
    pause_ms(10 * rank);
    must(MPI_File_read(file, buffer, bytes, MPI_CHAR, &status), "read");
    must(MPI_File_close(&file), "close");

    long wrong = 0;
    for (long i = 0; i < bytes; i++)
        wrong += buffer[i] != byte_of(other, i);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d of %d: wrote its %d bytes, read those of rank %d, %ld wrong\n", rank, size, bytes, other, wrong);
    free(buffer);
    MPI_Finalize();
    return wrong != 0;
}
