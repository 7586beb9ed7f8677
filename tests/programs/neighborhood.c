/* MPI 5.0 section 8.6: neighborhood collectives on a ring as cartesian, graph and distributed graph communicator. */
#include "check.h"

/* Left and right neighbor, in the order in which the communicator lists them. On graph communicators both are listed in
 * the order given at creation. */
static void exchange(MPI_Comm comm)
{
    int mine = rank, from[2] = {-1, -1}, to[2] = {rank, rank};
    count_t counts[2] = {1, 1};
    disp_t displs[2] = {0, 1};
    MPI_Aint offsets[2] = {0, sizeof(int)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Request request;
#define EXPECT() CHECK(from[0] == prev && from[1] == next); from[0] = from[1] = -1
    MPI_Neighbor_allgather(&mine, 1, MPI_INT, from, 1, MPI_INT, comm);
    EXPECT();
    MPI_Neighbor_allgatherv(&mine, 1, MPI_INT, from, counts, displs, MPI_INT, comm);
    EXPECT();
    MPI_Neighbor_alltoall(to, 1, MPI_INT, from, 1, MPI_INT, comm);
    EXPECT();
    MPI_Neighbor_alltoallv(to, counts, displs, MPI_INT, from, counts, displs, MPI_INT, comm);
    EXPECT();
    MPI_Neighbor_alltoallw(to, counts, offsets, types, from, counts, offsets, types, comm);
    EXPECT();
#define FINISH() MPI_Wait(&request, MPI_STATUS_IGNORE); EXPECT()
    MPI_Ineighbor_allgather(&mine, 1, MPI_INT, from, 1, MPI_INT, comm, &request);
    FINISH();
    MPI_Ineighbor_allgatherv(&mine, 1, MPI_INT, from, counts, displs, MPI_INT, comm, &request);
    FINISH();
    MPI_Ineighbor_alltoall(to, 1, MPI_INT, from, 1, MPI_INT, comm, &request);
    FINISH();
    MPI_Ineighbor_alltoallv(to, counts, displs, MPI_INT, from, counts, displs, MPI_INT, comm, &request);
    FINISH();
    MPI_Ineighbor_alltoallw(to, counts, offsets, types, from, counts, offsets, types, comm, &request);
    FINISH();
#if HAVE_PERSISTENT_COLLECTIVES
    MPI_Info no = MPI_INFO_NULL;
#define RUN() MPI_Start(&request); FINISH(); MPI_Request_free(&request)
    MPI_Neighbor_allgather_init(&mine, 1, MPI_INT, from, 1, MPI_INT, comm, no, &request);
    RUN();
    MPI_Neighbor_allgatherv_init(&mine, 1, MPI_INT, from, counts, displs, MPI_INT, comm, no, &request);
    RUN();
    MPI_Neighbor_alltoall_init(to, 1, MPI_INT, from, 1, MPI_INT, comm, no, &request);
    RUN();
    MPI_Neighbor_alltoallv_init(to, counts, displs, MPI_INT, from, counts, displs, MPI_INT, comm, no, &request);
    RUN();
    MPI_Neighbor_alltoallw_init(to, counts, offsets, types, from, counts, offsets, types, comm, no, &request);
    RUN();
#endif
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Comm comm;
    int ring[1] = {size}, wrap[1] = {1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, ring, wrap, 0, &comm);
    exchange(comm);
    MPI_Comm_free(&comm);

    int *index = malloc(size * sizeof *index), *edges = malloc(2 * size * sizeof *edges);
    for (int i = 0; i < size; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + size - 1) % size;
        edges[2 * i + 1] = (i + 1) % size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
    exchange(comm);
    MPI_Comm_free(&comm);
    free(index), free(edges);

    int sides[2] = {prev, next};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sides, MPI_UNWEIGHTED, 2, sides, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &comm);
    exchange(comm);
    MPI_Comm_free(&comm);
    return end();
}
