/* Collective calls that move data from rank to rank, for mpitrace verify. The first argument says what does not fit; the number of ranks is 3.
 *
 *   none        all calls fit, also where data is in place, datatypes differ, or counts are different on each rank, and where a reduction
 *               of the program calls MPI
 *   gatherv     in one call of MPI_Gatherv the root, which is rank 1, expects an integer more of rank 2 than that one sends
 *   alltoallv   in two calls of MPI_Alltoallv all ranks expect an integer more of rank 0 than they get
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { RANKS = 3, ROOM = 64, ROOT = 1 };

static int rank;

/* A reduction of the program, which calls MPI itself. */
static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int bytes;
    MPI_Type_size(*type, &bytes);
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static int give[ROOM], take[ROOM];

/* Counts 1, 2, 3, and where they begin. */
static int rising[RANKS] = {1, 2, 3}, rising_at[RANKS] = {0, 1, 3};

static void with_root(MPI_Datatype pair)
{
    MPI_Gather(give, 2, MPI_INT, take, 1, pair, ROOT, MPI_COMM_WORLD);
    MPI_Scatter(give, 1, pair, take, 2, MPI_INT, ROOT, MPI_COMM_WORLD);
    MPI_Gatherv(give, rank + 1, MPI_INT, take, rising, rising_at, MPI_INT, ROOT, MPI_COMM_WORLD);
    MPI_Scatterv(give, rising, rising_at, MPI_INT, take, rank + 1, MPI_INT, ROOT, MPI_COMM_WORLD);
    const void *own = rank == ROOT ? MPI_IN_PLACE : give;
    MPI_Gather(own, 2, MPI_INT, take, 2, MPI_INT, ROOT, MPI_COMM_WORLD);
    MPI_Gatherv(own, rank + 1, MPI_INT, take, rising, rising_at, MPI_INT, ROOT, MPI_COMM_WORLD);
    void *stays = rank == ROOT ? MPI_IN_PLACE : take;
    MPI_Scatter(give, 2, MPI_INT, stays, 2, MPI_INT, ROOT, MPI_COMM_WORLD);
    MPI_Scatterv(give, rising, rising_at, MPI_INT, stays, rank + 1, MPI_INT, ROOT, MPI_COMM_WORLD);
}

static void without_root(MPI_Datatype pair)
{
    int alike[RANKS], alike_at[RANKS], bytes_at[RANKS];
    MPI_Datatype types[RANKS];
    for (int i = 0; i < RANKS; i++) {
        alike[i] = rank + 1;
        alike_at[i] = i * RANKS;
        bytes_at[i] = i * RANKS * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    MPI_Allgather(give, 2, MPI_INT, take, 1, pair, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, take, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgatherv(give, rank + 1, MPI_INT, take, rising, rising_at, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, take, rising, rising_at, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(give, 1, pair, take, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, take, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallv(give, alike, alike_at, MPI_INT, take, rising, rising_at, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallw(give, alike, bytes_at, types, take, rising, bytes_at, types, MPI_COMM_WORLD);
    MPI_Reduce_scatter(give, take, rising, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(give, take, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Op own;
    MPI_Op_create(add, 1, &own);
    MPI_Allreduce(give, take, 2, MPI_INT, own, MPI_COMM_WORLD);
    MPI_Op_free(&own);
    MPI_Request request;
    MPI_Iallgatherv(give, rank + 1, MPI_INT, take, rising, rising_at, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Igatherv(give, rank + 1, MPI_INT, take, rising, rising_at, MPI_INT, ROOT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* In an intercommunicator of ranks 0 and 1 with rank 2: each side gathers from the other, where counts belong to the other side. */
static void between_groups(void)
{
    int is_alone = rank == 2;
    int counts[2] = {is_alone ? 1 : 3, 2};
    int at[2] = {0, 4};
    MPI_Comm side, both;
    MPI_Comm_split(MPI_COMM_WORLD, is_alone, rank, &side);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, is_alone ? 0 : 2, 9, &both);
    MPI_Allgatherv(give, is_alone ? 3 : rank + 1, MPI_INT, take, counts, at, MPI_INT, both);
    MPI_Comm_free(&both);
    MPI_Comm_free(&side);
}

/* On a communicator of its own, whose ranks are in the opposite order: three messages of 24 bytes together. To its collective operations ranks send 20
 * (MPI_Bcast), 24, 72, 36, 12 and 12 bytes, and receive 40, 24, 72, 36, 12 and 12. */
static void known_bytes(void)
{
    MPI_Comm known;
    MPI_Request request;
    int own;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &known);
    MPI_Comm_set_name(known, "known bytes");
    MPI_Comm_rank(known, &own);
    MPI_Sendrecv(give, own + 1, MPI_INT, (own + 1) % RANKS, 3, take, ROOM, MPI_INT, (own + 2) % RANKS, 3, known, MPI_STATUS_IGNORE);
    MPI_Bcast(give, 5, MPI_INT, ROOT, known);
    MPI_Gather(give, 2, MPI_INT, take, 2, MPI_INT, ROOT, known);
    MPI_Alltoall(give, 2, MPI_INT, take, 2, MPI_INT, known);
    MPI_Allreduce(give, take, 3, MPI_INT, MPI_SUM, known);
    MPI_Scan(give, take, 1, MPI_INT, MPI_SUM, known);
    MPI_Iallreduce(give, take, 1, MPI_INT, MPI_SUM, known, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(known);
    MPI_Comm_free(&known);
}

int main(int argc, char **argv)
{
    const char *fault = argc > 1 ? argv[1] : "none";
    int ranks;
    MPI_Datatype pair;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != RANKS) {
        fprintf(stderr, "collective_sizes: it takes %d ranks\n", RANKS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    with_root(pair);
    without_root(pair);
    between_groups();
    known_bytes();
    if (!strcmp(fault, "gatherv")) {
        int more[RANKS] = {1, 2, 4};
        MPI_Gatherv(give, rank + 1, MPI_INT, take, more, rising_at, MPI_INT, ROOT, MPI_COMM_WORLD);
    } else if (!strcmp(fault, "alltoallv")) {
        int one[RANKS] = {1, 1, 1}, more[RANKS] = {2, 1, 1};
        for (int i = 0; i < 2; i++)
            MPI_Alltoallv(give, one, rising_at, MPI_INT, take, more, rising_at, MPI_INT, MPI_COMM_WORLD);
    }
    MPI_Type_free(&pair);
    MPI_Finalize();
    return 0;
}
