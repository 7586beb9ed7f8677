/* Ranks wait for some of the others: for neighbours in a topology, for the other side of an intercommunicator, for who lets them access
 * a window; and in operations that were made before they are started. */
#include "waits.h"

/* A ring of all ranks: a rank gets data of both neighbours. */
static MPI_Comm ring(void)
{
    static MPI_Comm comm = MPI_COMM_NULL;
    if (comm == MPI_COMM_NULL) {
        int wraps = 1;
        MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &wraps, 0, &comm);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return comm;
}

static void neighbours(void)
{
    int in[2] = {1, 2}, out[2];
    MPI_Comm comm = ring();
    late_to(2);
    CALL(MPI_Neighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm));
}

static void neighbours_nonblocking(void)
{
    int in[2] = {1, 2}, out[2];
    MPI_Comm comm = ring();
    MPI_Request request;
    late_to(2);
    begins[round_number] = now();
    MPI_Ineighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, comm, &request);
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    ends[round_number] = now();
}

/* Each rank gets data of the one below it only. */
static void from_below(void)
{
    static MPI_Comm comm = MPI_COMM_NULL;
    int in = 1, out, below = (rank + size - 1) % size, above = (rank + 1) % size;
    if (comm == MPI_COMM_NULL) {
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &below, MPI_UNWEIGHTED, 1, &above, MPI_UNWEIGHTED,
                                       MPI_INFO_NULL, 0, &comm);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    late_to(2);
    CALL(MPI_Neighbor_allgather(&in, 1, MPI_INT, &out, 1, MPI_INT, comm));
}

/* The even ranks on one side, the odd ones on the other. */
static MPI_Comm both_halves(void)
{
    static MPI_Comm comm = MPI_COMM_NULL;
    if (comm == MPI_COMM_NULL) {
        MPI_Intercomm_create(own_half(), 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 7, &comm);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return comm;
}

static void inter_sender(void)
{
    MPI_Comm comm = both_halves();
    if (rank == 2) {
        compute(1);
        CALL(MPI_Send(big, 8, MPI_BYTE, 1, 3, comm));
    }
    if (rank == 3)
        CALL(MPI_Recv(big, 8, MPI_BYTE, 1, 3, comm, MPI_STATUS_IGNORE));
}

static void inter_barrier(void)
{
    MPI_Comm comm = both_halves();
    late_to(2);
    CALL(MPI_Barrier(comm));
}

/* Rank 2 sends to the odd ranks. */
static void inter_bcast(void)
{
    int data = 1, root = rank % 2 ? 1 : rank == 2 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Comm comm = both_halves();
    late_to(2);
    CALL(MPI_Bcast(&data, 1, MPI_INT, root, comm));
}

/* Rank 2 gets the sum of the odd ranks. */
static void inter_reduce(void)
{
    int in = 1, out, root = rank % 2 ? 1 : rank == 2 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Comm comm = both_halves();
    late_to(3);
    CALL(MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, root, comm));
}

static void persistent_allreduce(void)
{
#if HAVE_PERSISTENT_COLLECTIVES
    int in = 1, out;
    MPI_Request request;
    MPI_Allreduce_init(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    late_to(2);
    begins[round_number] = now();
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    ends[round_number] = now();
    MPI_Request_free(&request);
#endif
}

/* Two sends and a receive that are started together; the receiver of the second one is late. */
static void startall(void)
{
    MPI_Request requests[3];
    if (rank == 0) {
        MPI_Recv_init(big, 8, MPI_BYTE, 2, 5, MPI_COMM_WORLD, &requests[0]);
        MPI_Send_init(big, 8, MPI_BYTE, 2, 3, MPI_COMM_WORLD, &requests[1]);
        MPI_Send_init(big, BIG, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &requests[2]);
        /* What rank 2 sends is there before: nobody waits if that rank gets a core late. */
        MPI_Probe(2, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Startall(3, requests);
        CALL(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
        for (int at = 0; at < 3; at++)
            MPI_Request_free(&requests[at]);
    }
    if (rank == 1) {
        compute(1);
        CALL(MPI_Recv(big, BIG, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    if (rank == 2)
        MPI_Sendrecv(big, 8, MPI_BYTE, 0, 5, big + 8, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The sender has its data late, long after it has started to send. */
static void partitioned(void)
{
#if HAVE_PARTITIONED
    MPI_Request request;
    if (rank == 0) {
        MPI_Psend_init(big, 2, 4, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(0, request);
        compute(1);
        begins[round_number] = now();
        MPI_Pready(1, request);
        ends[round_number] = now();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
    if (rank == 1) {
        MPI_Precv_init(big, 2, 4, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
        MPI_Request_free(&request);
    }
#endif
}

/* A window of all ranks, and groups of one. */
static MPI_Win window;
static int *memory;

static MPI_Group group_of(int who)
{
    MPI_Group world, one;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &who, &one);
    MPI_Group_free(&world);
    return one;
}

static void make_window(void)
{
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 lets rank 1 access its memory, late. */
static void late_post(void)
{
    int data = 1;
    MPI_Group other = group_of(rank ? 0 : 1);
    make_window();
    if (rank == 0) {
        compute(1);
        begins[round_number] = now();
        MPI_Win_post(other, 0, window);
        ends[round_number] = now();
        MPI_Win_wait(window);
    }
    if (rank == 1) {
        begins[round_number] = now();
        MPI_Win_start(other, 0, window);
        MPI_Put(&data, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_complete(window);
        ends[round_number] = now();
    }
    MPI_Group_free(&other);
    MPI_Win_free(&window);
}

/* Rank 1 ends its accesses late. */
static void late_complete(void)
{
    int data = 1;
    MPI_Group other = group_of(rank ? 0 : 1);
    make_window();
    if (rank == 0) {
        MPI_Win_post(other, 0, window);
        CALL(MPI_Win_wait(window));
    }
    if (rank == 1) {
        MPI_Win_start(other, 0, window);
        MPI_Put(&data, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        compute(1);
        CALL(MPI_Win_complete(window));
    }
    MPI_Group_free(&other);
    MPI_Win_free(&window);
}

/* A rank has a lock of rank 2's memory when this returns. */
static void lock_memory(int type)
{
    int data = 1;
    MPI_Win_lock(type, 2, 0, window);
    MPI_Get(&data, 1, MPI_INT, 2, 0, 1, MPI_INT, window);
    MPI_Win_flush(2, window);
}

/* Shared locks are had together. */
static void shared_lock(void)
{
    make_window();
    if (rank < 2)
        lock_memory(MPI_LOCK_SHARED);
    MPI_Barrier(MPI_COMM_WORLD);
    late_to(0);
    if (rank < 2)
        CALL(MPI_Win_unlock(2, window));
    MPI_Win_free(&window);
}

/* A rank has locks of the memory of all when this returns. */
static void lock_memory_of_all(void)
{
    int data = 1;
    MPI_Win_lock_all(0, window);
    MPI_Get(&data, 1, MPI_INT, 2, 0, 1, MPI_INT, window);
    MPI_Win_flush(2, window);
}

/* Rank 0 has a lock of rank 2's memory, which rank 1 wants, or that of all. The times of rank 0 are those of the call that gives it back. */
static void wanted_lock(int all)
{
    make_window();
    if (rank == 0)
        lock_memory(MPI_LOCK_EXCLUSIVE);
    MPI_Barrier(MPI_COMM_WORLD);
    late_to(0);
    if (rank == 0)
        CALL(MPI_Win_unlock(2, window));
    if (rank == 1) {
        begins[round_number] = now();
        if (all) {
            lock_memory_of_all();
            MPI_Win_unlock_all(window);
        } else {
            lock_memory(MPI_LOCK_EXCLUSIVE);
            MPI_Win_unlock(2, window);
        }
        ends[round_number] = now();
    }
    MPI_Win_free(&window);
}

static void lock(void)
{
    wanted_lock(0);
}

static void lock_all(void)
{
    wanted_lock(1);
}

/* Locks of all are had together. */
static void shared_lock_all(void)
{
    make_window();
    if (rank < 2)
        lock_memory_of_all();
    MPI_Barrier(MPI_COMM_WORLD);
    late_to(0);
    if (rank < 2)
        CALL(MPI_Win_unlock_all(window));
    MPI_Win_free(&window);
}

/* The last rank is late to a communicator that is made meanwhile: whoever wants to use it waits. */
static void idup(void)
{
    MPI_Comm comm;
    MPI_Request request;
    late_to(3);
    CALL({
        MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
    MPI_Comm_free(&comm);
}

/* The even ranks make a communicator, by a call that is not for the others. */
static void create_group(void)
{
    MPI_Comm comm;
    MPI_Group world, even;
    if (rank % 2)
        return;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, (int[]){0, 2}, &even);
    late_to(2);
    CALL(MPI_Comm_create_group(MPI_COMM_WORLD, even, 5, &comm));
    MPI_Comm_free(&comm);
    MPI_Group_free(&even);
    MPI_Group_free(&world);
}

/* Both sides of an intercommunicator come together to make it. */
static void inter_create(void)
{
    MPI_Comm comm, half = own_half();
    MPI_Barrier(MPI_COMM_WORLD);
    late_to(3);
    CALL(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 9, &comm));
    MPI_Comm_free(&comm);
}

static const struct wait_case CASES[] = {
    {"idup", idup},
    {"create-group", create_group},
    {"inter-create", inter_create},
    {"neighbours", neighbours},
    {"neighbours-nonblocking", neighbours_nonblocking},
    {"from-below", from_below},
    {"inter-sender", inter_sender},
    {"inter-barrier", inter_barrier},
    {"inter-bcast", inter_bcast},
    {"inter-reduce", inter_reduce},
    {"persistent-allreduce", persistent_allreduce},
    {"startall", startall},
    {"partitioned", partitioned},
    {"late-post", late_post},
    {"late-complete", late_complete},
    {"lock", lock},
    {"shared-lock", shared_lock},
    {"lock-all", lock_all},
    {"shared-lock-all", shared_lock_all},
};

int main(int argc, char **argv)
{
    return run_cases(argc, argv, CASES, sizeof CASES / sizeof *CASES);
}
