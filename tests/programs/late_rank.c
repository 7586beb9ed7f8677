/* One rank that is late: all ranks compute, pass a message round in every other step, and meet; one computes four times as long
 * as the others, and in the middle of the run writes to a file in small pieces as well. What a summary of the trace has to name.
 *
 * Arguments: the late rank, steps, milliseconds of computing in a step. */
#include "check.h"
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

/* Computes for so many seconds. */
static double compute(double seconds)
{
    double end = now() + seconds, sum = 0;
    while (now() < end)
        for (int i = 1; i < 1000; i++)
            sum += 1.0 / i;
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size, late = argc > 1 ? atoi(argv[1]) : 1, steps = argc > 2 ? atoi(argv[2]) : 10;
    double seconds = (argc > 3 ? atof(argv[3]) : 5) / 1000, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(late < size);
    for (int step = 0; step < steps; step++) {
        double total = 0, token[16] = {0};
        sum += compute(rank == late ? 4 * seconds : seconds);
        if (rank == late && step == steps / 2) {
            MPI_File file;
            CHECK(MPI_File_open(MPI_COMM_SELF, "late_rank.data", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file)
                  == MPI_SUCCESS);
            for (int piece = 0; piece < 50; piece++)
                MPI_File_write_at(file, 100 * piece, token, sizeof token, MPI_BYTE, MPI_STATUS_IGNORE);
            MPI_File_close(&file);
        }
        if (step % 2)
            MPI_Sendrecv_replace(token, 16, MPI_DOUBLE, (rank + 1) % size, 7, (rank + size - 1) % size, 7, MPI_COMM_WORLD,
                                 MPI_STATUS_IGNORE);
        MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        CHECK(total > 0);
    }
    MPI_Finalize();
    return 0;
}
