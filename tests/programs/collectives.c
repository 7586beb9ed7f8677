/* MPI 5.0 chapter 6, blocking: every collective, the v and w forms, MPI_IN_PLACE, a user operation, inter-communicators. */
#include "check.h"

static void sum_of_squares(void *in, void *inout, count_t *length, MPI_Datatype *type)
{
    (void)type;
    for (count_t i = 0; i < *length; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void rooted(int root)
{
    int value = rank == root ? 42 : 0, mine = rank + 1, *all = malloc(size * sizeof *all), total = -1;
    MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
    CHECK(value == 42);
    MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD);
    if (rank == root)
        for (int i = 0; i < size; i++)
            CHECK(all[i] == i + 1);
    MPI_Scatter(all, 1, MPI_INT, &value, 1, MPI_INT, root, MPI_COMM_WORLD);
    CHECK(value == rank + 1);
    MPI_Reduce(&mine, &total, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    CHECK(rank != root || total == size * (size + 1) / 2);

    /* MPI_IN_PLACE at the root */
    if (rank == root) {
        all[root] = mine;
        MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, root, MPI_COMM_WORLD);
        MPI_Scatter(all, 1, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
        total = mine;
        MPI_Reduce(MPI_IN_PLACE, &total, 1, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
        CHECK(total == size);
    } else {
        MPI_Gather(&mine, 1, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
        MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, &value, 1, MPI_INT, root, MPI_COMM_WORLD);
        MPI_Reduce(&mine, NULL, 1, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
        CHECK(value == rank + 1);
    }
    free(all);
}

/* Rank i contributes i + 1 elements (the v forms), arrays being significant only at the root. */
static void varying(int root)
{
    count_t *counts = malloc(size * sizeof *counts);
    disp_t *displs = malloc(size * sizeof *displs);
    int total = size * (size + 1) / 2, *all = calloc(total, sizeof *all), *mine = malloc((rank + 1) * sizeof *mine);
    for (int i = 0, at = 0; i < size; at += ++i) {
        counts[i] = i + 1;
        displs[i] = at;
    }
    for (int i = 0; i <= rank; i++)
        mine[i] = 100 * rank + i;
    if (rank == root)
        MPI_Gatherv(mine, rank + 1, MPI_INT, all, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
    else
        MPI_Gatherv(mine, rank + 1, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
    CHECK(rank != root || all[total - 1] == 100 * (size - 1) + size - 1);
    memset(mine, 0, (rank + 1) * sizeof *mine);
    if (rank == root)
        MPI_Scatterv(all, counts, displs, MPI_INT, mine, rank + 1, MPI_INT, root, MPI_COMM_WORLD);
    else
        MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, mine, rank + 1, MPI_INT, root, MPI_COMM_WORLD);
    CHECK(mine[rank] == 101 * rank);
    memset(all, 0, total * sizeof *all);
    MPI_Allgatherv(mine, rank + 1, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD);
    CHECK(all[total - 1] == 101 * (size - 1));
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, displs, MPI_INT, MPI_COMM_WORLD);
    CHECK(all[displs[rank]] == 100 * rank);

    int *sums = calloc(size, sizeof *sums);
    for (int i = 0; i < total; i++)
        all[i] = i;
    MPI_Reduce_scatter(all, sums, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sums[0] == size * (int)displs[rank]);
    free(sums), free(counts), free(displs), free(all), free(mine);
}

static void everybody(void)
{
    int mine = rank + 1, value = -1, *from = malloc(size * sizeof *from), *to = malloc(size * sizeof *to);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allgather(&mine, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(from[size - 1] == size);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, from, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &value, 1, MPI_INT, MPI_PROD, MPI_COMM_WORLD);
    int factorial = 1;
    for (int i = 2; i <= size; i++)
        factorial *= i;
    CHECK(value == factorial);
    value = mine;
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(value == size * (size + 1) / 2);
    MPI_Scan(&mine, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(value == (rank + 1) * (rank + 2) / 2);
    MPI_Exscan(&mine, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(rank == 0 || value == rank * (rank + 1) / 2);
    for (int i = 0; i < size; i++)
        to[i] = 10 * rank + i;
    MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(from[size - 1] == 10 * (size - 1) + rank);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, from, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(from[size - 1] == 10 * rank + size - 1);
    MPI_Reduce_scatter_block(to, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(value == 10 * size * (size - 1) / 2 + size * rank);

    struct { double value; int index; } pair = {rank == size / 2 ? 9.0 : 1.0, rank}, best;
    MPI_Allreduce(&pair, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    CHECK(best.index == size / 2);

    MPI_Op op;
    int commutes;
    MPI_Op_create((void *)sum_of_squares, 1, &op);
    MPI_Op_commutative(op, &commutes);
    CHECK(commutes);
    MPI_Allreduce(&mine, &value, 1, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(value == size * (size + 1) / 2);
    int one = 1;
    MPI_Reduce_local(&one, &value, 1, MPI_INT, MPI_SUM);
    CHECK(value == size * (size + 1) / 2 + 1);
    MPI_Op_free(&op);
    free(from), free(to);
}

static void all_to_all(void)
{
    count_t *counts = malloc(size * sizeof *counts);
    disp_t *displs = malloc(size * sizeof *displs), *offsets = malloc(size * sizeof *offsets);
    MPI_Datatype *types = malloc(size * sizeof *types);
    int *out = malloc(2 * size * sizeof *out), *in = malloc(2 * size * sizeof *in);
    for (int i = 0; i < size; i++) {
        counts[i] = 2;
        displs[i] = 2 * i;
        offsets[i] = 2 * i * (disp_t)sizeof *out; /* the w form's are bytes */
        types[i] = MPI_INT;
        out[2 * i] = rank, out[2 * i + 1] = i;
    }
    MPI_Alltoallv(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, MPI_COMM_WORLD);
    CHECK(in[2 * size - 2] == size - 1 && in[2 * size - 1] == rank);
    memset(in, 0, 2 * size * sizeof *in);
    MPI_Alltoallw(out, counts, offsets, types, in, counts, offsets, types, MPI_COMM_WORLD);
    CHECK(in[2 * size - 2] == size - 1 && in[2 * size - 1] == rank);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, counts, displs, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, in, counts, offsets, types, MPI_COMM_WORLD);
    CHECK(in[2 * size - 2] == size - 1);
    free(counts), free(displs), free(offsets), free(types), free(out), free(in);
}

/* Even against odd ranks: MPI_ROOT, MPI_PROC_NULL and arrays as long as the remote group. */
static void between_groups(void)
{
    MPI_Comm half, inter;
    int local, remote, value = -1;
    if (size < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 77, &inter);
    MPI_Comm_size(inter, &local);
    MPI_Comm_remote_size(inter, &remote);
    CHECK(local + remote == size);
    int root = rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    if (rank == 0)
        value = 31;
    MPI_Bcast(&value, 1, MPI_INT, root, inter);
    CHECK(rank != 0 && rank % 2 == 0 ? value == -1 : value == 31);
    int *list = malloc(remote * sizeof *list);
    MPI_Allgather(&rank, 1, MPI_INT, list, 1, MPI_INT, inter);
    for (int i = 0; i < remote; i++)
        CHECK(list[i] == 2 * i + 1 - rank % 2);
    count_t *counts = malloc(remote * sizeof *counts);
    disp_t *displs = malloc(remote * sizeof *displs);
    for (int i = 0; i < remote; i++)
        counts[i] = 1, displs[i] = i;
    if (root == MPI_ROOT)
        MPI_Gatherv(NULL, 0, MPI_INT, list, counts, displs, MPI_INT, root, inter);
    else
        MPI_Gatherv(&rank, 1, MPI_INT, NULL, NULL, NULL, MPI_INT, root, inter);
    int sum = 0, expected = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
    for (int i = 0; i < remote; i++)
        expected += 2 * i + 1 - rank % 2;
    CHECK(sum == expected);
    MPI_Barrier(inter);
    free(list), free(counts), free(displs);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (int root = 0; root < size; root++) {
        rooted(root);
        varying(root);
    }
    everybody();
    all_to_all();
    between_groups();
    return end();
}
