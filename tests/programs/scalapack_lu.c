/* ScaLAPACK: solves a dense system with an LU factorisation. `scalapack_lu N BLOCK [TIMES]`: order, and columns of a block; the ranks are one row of a grid. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void Cblacs_gridinfo(int context, int *rows, int *columns, int *row, int *column);
void Cblacs_gridexit(int context);
int numroc_(const int *n, const int *block, const int *at, const int *first, const int *size);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb, const int *row, const int *column, const int *context,
               const int *lld, int *info);
void pdgesv_(const int *n, const int *nrhs, double *a, const int *ia, const int *ja, const int *desca, int *pivots, double *b, const int *ib,
             const int *jb, const int *descb, int *info);

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1200, block = argc > 2 ? atoi(argv[2]) : 32, times = argc > 3 ? atoi(argv[3]) : 4;
    int size, context, rows, columns, row, column, info, zero = 0, one = 1, bad = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", 1, size);
    Cblacs_gridinfo(context, &rows, &columns, &row, &column);
    int own = numroc_(&n, &block, &column, &zero, &columns), lld = n, desc[9], right[9];
    double *a = malloc((size_t)n * (own + 1) * sizeof *a), *b = malloc(n * sizeof *b);
    int *pivots = malloc((n + block) * sizeof *pivots);
    descinit_(desc, &n, &n, &block, &block, &zero, &zero, &context, &lld, &info);
    descinit_(right, &n, &one, &block, &block, &zero, &zero, &context, &lld, &info);
    for (int time = 0; time < times; time++) {
        srand(column + 1);
        for (size_t i = 0; i < (size_t)n * own; i++)
            a[i] = rand() / (double)RAND_MAX - 0.5;
        for (int i = 0; i < n; i++)
            b[i] = i;
        pdgesv_(&n, &one, a, &one, &one, desc, pivots, b, &one, &one, right, &info);
        bad |= info;
    }
    Cblacs_gridexit(context);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Finalize();
    if (rank == 0 && !bad)
        printf("ok\n");
    return bad;
}
