/* Loops of single file calls for `ci/bench posix`: function (pwrite, pread), file, and where they are made: outside MPI, in an
 * error handler that MPI_Comm_call_errhandler calls, in one that MPI_File_call_errhandler calls. 8 bytes each, 200 000 calls,
 * best of 5. Prints ns per call. Ends without MPI_Finalize: no merge is to be measured. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CALLS 200000
#define REPEATS 5

static int fd, writes;
static double best = 1e30;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static void loop(void)
{
    char buffer[8] = "8 bytes";
    double start = now();
    if (writes)
        for (int i = 0; i < CALLS; i++)
            pwrite(fd, buffer, sizeof buffer, 0);
    else
        for (int i = 0; i < CALLS; i++)
            pread(fd, buffer, sizeof buffer, 0);
    double took = (now() - start) / CALLS;
    best = took < best ? took : best;
}

static void in_comm(MPI_Comm *comm, int *error, ...)
{
    loop();
}

static void in_file(MPI_File *file, int *error, ...)
{
    loop();
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    MPI_File file;
    if (argc < 4)
        return 2;
    MPI_Init(&argc, &argv);
    writes = strcmp(argv[1], "pwrite") == 0;
    fd = open(argv[2], O_RDWR | O_CREAT, 0600);
    pwrite(fd, "8 bytes", 8, 0);
    if (strcmp(argv[3], "comm") == 0) {
        MPI_Comm_create_errhandler(in_comm, &handler);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    } else if (strcmp(argv[3], "file") == 0) {
        if (MPI_File_open(MPI_COMM_SELF, "loops.data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS)
            return 3;
        MPI_File_create_errhandler(in_file, &handler);
        MPI_File_set_errhandler(file, handler);
    }
    for (int i = 0; i < REPEATS; i++) {
        if (strcmp(argv[3], "comm") == 0)
            MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER);
        else if (strcmp(argv[3], "file") == 0)
            MPI_File_call_errhandler(file, MPI_ERR_OTHER);
        else
            loop();
    }
    printf("%.2f\n", best);
    fflush(stdout);
    _exit(0);
}
