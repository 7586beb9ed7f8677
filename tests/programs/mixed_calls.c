/* Calls of mixed kinds between neighbours in a ring, argv[1] on each rank in all (40 000 if it says nothing): point-to-point in its
   blocking and nonblocking forms, a collective call, and local ones. Prints for each rank the ns of a call, by how much MPI_Finalize
   raises the peak of its memory, in MB, and the processor time in ms that MPI_Finalize takes. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

/* Calls of a round. */
#define ROUND 11
#define BYTES 64

static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static double peak_mb(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss / 1024.0;
}

int main(int argc, char **argv)
{
    long calls = argc > 1 ? atol(argv[1]) : 40000;
    int rank, size, number, zero = 0, sum;
    char out[BYTES] = { 0 }, in[BYTES];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    double begun = processor_time();
    for (long round = 0; round < calls / ROUND; round++) {
        MPI_Irecv(in, BYTES, MPI_CHAR, from, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, BYTES, MPI_CHAR, to, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, statuses);
        MPI_Get_count(&statuses[0], MPI_CHAR, &number);
        MPI_Sendrecv(out, BYTES, MPI_CHAR, to, 2, in, BYTES, MPI_CHAR, from, 2, MPI_COMM_WORLD, &statuses[0]);
        MPI_Comm_rank(MPI_COMM_WORLD, &number);
        MPI_Type_size(MPI_CHAR, &number);
        if (size == 1 || round % 16 == 0)
            MPI_Allreduce(&zero, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        else
            MPI_Comm_size(MPI_COMM_WORLD, &number);
        MPI_Irecv(in, BYTES, MPI_CHAR, from, 3, MPI_COMM_WORLD, &requests[0]);
        MPI_Send(out, BYTES, MPI_CHAR, to, 3, MPI_COMM_WORLD);
        MPI_Wait(&requests[0], &statuses[0]);
    }
    double called = processor_time();
    double peak = peak_mb();
    MPI_Finalize();
    double ended = processor_time();
    char line[120];
    snprintf(line, sizeof line, "rank %d: %.1f ns a call, memory + %.1f MB, MPI_Finalize %.2f ms\n", rank,
             (called - begun) / calls * 1e9, peak_mb() - peak, (ended - called) * 1e3);
    fputs(line, stdout);
    return 0;
}
