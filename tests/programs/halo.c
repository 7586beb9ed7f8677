/* A halo exchange between ranks without computing, for `ci/bench overhead`: per step 4 receives, 4 sends, a Waitall and an
 * Allreduce. Prints microseconds per step, best of 5 times 4000 steps. */
#include <mpi.h>
#include <stdio.h>

enum { SIDES = 4, LENGTH = 100, STEPS = 4000, REPEATS = 5 };

int main(int argc, char **argv)
{
    static double out[SIDES][LENGTH], in[SIDES][LENGTH];
    int rank, size;
    double best = 1e30;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, prev = (rank + size - 1) % size;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (int step = 0; step < STEPS; step++) {
            MPI_Request request[2 * SIDES];
            double residual = step, largest;
            for (int side = 0; side < SIDES; side++)
                MPI_Irecv(in[side], LENGTH, MPI_DOUBLE, side % 2 ? next : prev, side, MPI_COMM_WORLD, &request[side]);
            for (int side = 0; side < SIDES; side++)
                MPI_Isend(out[side], LENGTH, MPI_DOUBLE, side % 2 ? prev : next, side, MPI_COMM_WORLD,
                          &request[SIDES + side]);
            MPI_Waitall(2 * SIDES, request, MPI_STATUSES_IGNORE);
            MPI_Allreduce(&residual, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        }
        double took = (MPI_Wtime() - start) * 1e6 / STEPS;
        best = took < best ? took : best;
    }
    if (rank == 0)
        printf("%.3f\n", best);
    MPI_Finalize();
    return 0;
}
