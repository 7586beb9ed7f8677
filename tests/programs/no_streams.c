/* Runs without the standard streams that its arguments name (0, 1, 2), as a program that a daemon has started: whatever it opens
 * gets their numbers, and what it prints goes there. It prints while it is traced, and the file that has the number of standard
 * error must hold nothing but what the program has written. */
#include "check.h"
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, sum, data = -1;
    char name[40], text[100] = "";
    if (argv[0][0] != '-') {
        /* The streams are missing from the start, before any library is loaded. */
        char *again[] = {"-", argv[1], NULL};
        for (const char *stream = argv[1]; *stream; stream++)
            close(*stream - '0');
        execv("/proc/self/exe", again);
        return 2;
    }
    if (strchr(argv[1], '2')) {
        snprintf(name, sizeof name, "data.%d", getpid());
        while (data < 2)
            data = open(name, O_CREAT | O_RDWR | O_APPEND, 0600);
        CHECK(data == 2);
    }
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100; i++) {
        printf("rank %d, line %d\n", rank, i);
        fflush(stdout);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    if (data == 2) {
        long size = lseek(data, 0, SEEK_END);
        if (size > 0 && pread(data, text, sizeof text - 1, 0) > 0 && strstr(text, "trace:"))
            return 3;
    }
    return 0;
}
