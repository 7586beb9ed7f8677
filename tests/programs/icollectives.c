/* MPI 5.0 section 6.12 and 6.13: nonblocking and persistent collectives, several under way at once. */
#include "check.h"

static int *out, *in, *gathered;
static count_t *counts;
static disp_t *displs, *offsets;
static MPI_Datatype *types;
static int value, total, scanned, exscanned, scattered, block, one;

static void check(void)
{
    CHECK(value == 5);
    CHECK(total == size * (size + 1) / 2);
    CHECK(scanned == (rank + 1) * (rank + 2) / 2);
    CHECK(rank == 0 || exscanned == rank * (rank + 1) / 2);
    CHECK(in[size - 1] == 10 * (size - 1) + rank);
}

static void prepare(void)
{
    one = rank + 1;
    value = rank == 0 ? 5 : 0;
    total = scanned = exscanned = scattered = block = -1;
    for (int i = 0; i < size; i++) {
        out[i] = 10 * rank + i;
        in[i] = -1;
    }
}

static void nonblocking(void)
{
    MPI_Request request[8];
    MPI_Status status;
    prepare();
    MPI_Ibarrier(MPI_COMM_WORLD, &request[0]);
    MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request[1]);
    MPI_Iallreduce(&one, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[2]);
    MPI_Iscan(&one, &scanned, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[3]);
    MPI_Iexscan(&one, &exscanned, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[4]);
    MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, &request[5]);
    MPI_Ireduce_scatter(out, &scattered, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[6]);
    MPI_Ireduce_scatter_block(out, &block, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[7]);
    MPI_Waitall(8, request, MPI_STATUSES_IGNORE);
    check();
    CHECK(scattered == block && block == 10 * size * (size - 1) / 2 + size * rank);

    MPI_Igather(&one, 1, MPI_INT, gathered, 1, MPI_INT, 0, MPI_COMM_WORLD, &request[0]);
    MPI_Wait(&request[0], &status);
    CHECK(rank != 0 || gathered[size - 1] == size);
    MPI_Iscatter(gathered, 1, MPI_INT, &value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    CHECK(value == rank + 1);
    MPI_Igatherv(&one, 1, MPI_INT, gathered, counts, displs, MPI_INT, size - 1, MPI_COMM_WORLD, &request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Iscatterv(gathered, counts, displs, MPI_INT, &value, 1, MPI_INT, size - 1, MPI_COMM_WORLD, &request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Iallgather(&one, 1, MPI_INT, gathered, 1, MPI_INT, MPI_COMM_WORLD, &request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Iallgatherv(&one, 1, MPI_INT, gathered, counts, displs, MPI_INT, MPI_COMM_WORLD, &request[1]);
    MPI_Ireduce(&one, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request[2]);
    MPI_Waitall(2, &request[1], MPI_STATUSES_IGNORE);
    CHECK(gathered[size - 1] == size);
    MPI_Ialltoallv(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, MPI_COMM_WORLD, &request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Ialltoallw(out, counts, offsets, types, in, counts, offsets, types, MPI_COMM_WORLD, &request[0]);
    int flag = 0;
    while (!flag)
        MPI_Test(&request[0], &flag, MPI_STATUS_IGNORE);
    CHECK(in[size - 1] == 10 * (size - 1) + rank);
}

#if HAVE_PERSISTENT_COLLECTIVES
static void persistent(void)
{
    MPI_Request r[17];
    int n = 0;
    prepare();
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r[n++]);
    MPI_Bcast_init(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[n++]);
    MPI_Allreduce_init(&one, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[n++]);
    MPI_Scan_init(&one, &scanned, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[n++]);
    MPI_Exscan_init(&one, &exscanned, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[n++]);
    MPI_Alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &r[n++]);
    MPI_Reduce_scatter_init(out, &scattered, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[n++]);
    MPI_Reduce_scatter_block_init(out, &block, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[n++]);
    for (int round = 0; round < 2; round++) {
        prepare();
        MPI_Startall(n, r);
        MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
        check();
        CHECK(scattered == block);
    }
    for (int i = 0; i < n; i++)
        MPI_Request_free(&r[i]);

    n = 0;
    MPI_Gather_init(&one, 1, MPI_INT, gathered, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[n++]);
    MPI_Scatter_init(gathered, 1, MPI_INT, &value, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[n++]);
    MPI_Gatherv_init(&one, 1, MPI_INT, gathered, counts, displs, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[n++]);
    MPI_Scatterv_init(gathered, counts, displs, MPI_INT, &value, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[n++]);
    MPI_Allgather_init(&one, 1, MPI_INT, gathered, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &r[n++]);
    MPI_Allgatherv_init(&one, 1, MPI_INT, gathered, counts, displs, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &r[n++]);
    MPI_Alltoallv_init(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &r[n++]);
    MPI_Alltoallw_init(out, counts, offsets, types, in, counts, offsets, types, MPI_COMM_WORLD, MPI_INFO_NULL, &r[n++]);
    MPI_Reduce_init(&one, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[n++]);
    for (int i = 0; i < n; i++) {
        MPI_Start(&r[i]);
        MPI_Wait(&r[i], MPI_STATUS_IGNORE);
        MPI_Request_free(&r[i]);
    }
    CHECK(gathered[size - 1] == size && value == rank + 1);
}
#endif

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    out = malloc(size * sizeof *out);
    in = malloc(size * sizeof *in);
    gathered = malloc(size * sizeof *gathered);
    counts = malloc(size * sizeof *counts);
    displs = malloc(size * sizeof *displs);
    offsets = malloc(size * sizeof *offsets);
    types = malloc(size * sizeof *types);
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = i;
        offsets[i] = i * (disp_t)sizeof(int);
        types[i] = MPI_INT;
    }
    nonblocking();
#if HAVE_PERSISTENT_COLLECTIVES
    persistent();
#endif
    free(out), free(in), free(gathered), free(counts), free(displs), free(offsets), free(types);
    return end();
}
