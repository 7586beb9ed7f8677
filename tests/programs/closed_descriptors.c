/* Asks whether there is MPI, then closes all descriptors up to the number of its argument that it knows nothing of, as daemons do,
 * opens files of its own, and goes on with MPI. Nobody else may write to the files. */
#include "check.h"
#include <fcntl.h>
#include <unistd.h>

#define FILES 64

int main(int argc, char **argv)
{
    int rank, initialized, files[FILES], most = argc > 1 ? atoi(argv[1]) : 1024;
    /* MPICH's launcher passes a descriptor. */
    int least = getenv("PMI_FD") ? atoi(getenv("PMI_FD")) + 1 : 3;
    char text[16];
    MPI_Initialized(&initialized);
    for (int i = least; i < most; i++)
        close(i);
    for (int i = 0; i < FILES; i++) {
        char name[40];
        snprintf(name, sizeof name, "data.%d.%d", getpid(), i);
        files[i] = open(name, O_CREAT | O_RDWR, 0600);
        CHECK(files[i] >= 0 && write(files[i], "hello\n", 6) == 6);
    }
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 40000; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Finalize();
    for (int i = 0; i < FILES; i++)
        if (pread(files[i], text, sizeof text, 0) != 6 || memcmp(text, "hello\n", 6)) {
            fprintf(stderr, "another's bytes in a file of the program's\n");
            return 1;
        }
    if (rank == 0)
        puts("ok");
    return 0;
}
