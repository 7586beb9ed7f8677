/* MPI 5.0 chapter 8: process topologies without their collectives. */
#include "check.h"

/* The last rank makes a communicator of its own out of one with a topology. It has none, but Open MPI 4.1 says otherwise, and divides by zero when
   asked for its neighbours. */
static void part_of(MPI_Comm whole)
{
    int last = size - 1;
    MPI_Group all, group;
    MPI_Comm part, copy;
    if (rank != last)
        return;
    MPI_Comm_group(whole, &all);
    MPI_Group_incl(all, 1, &last, &group);
    MPI_Comm_create_group(whole, group, 5, &part);
    MPI_Comm_dup(part, &copy);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&part);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
}

static void cartesian(void)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], got_dims[2], got_periods[2], n, me, source, dest, kind, place;
    int keep[2] = {0, 1};
    MPI_Comm grid, row;
    MPI_Dims_create(size, 2, dims);
    CHECK(dims[0] * dims[1] == size);
    MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &place);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Topo_test(grid, &kind);
    CHECK(kind == MPI_CART);
    MPI_Cartdim_get(grid, &n);
    CHECK(n == 2);
    MPI_Cart_get(grid, 2, got_dims, got_periods, coords);
    CHECK(got_dims[0] == dims[0] && got_periods[0] == 1 && got_periods[1] == 0);
    MPI_Cart_rank(grid, coords, &me);
    CHECK(me == rank);
    MPI_Cart_coords(grid, size - 1, 2, coords);
    CHECK(coords[0] == dims[0] - 1 && coords[1] == dims[1] - 1);
    MPI_Cart_shift(grid, 0, 1, &source, &dest);
    int in = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, dest, 1, &in, 1, MPI_INT, source, 1, grid, MPI_STATUS_IGNORE);
    CHECK(in == source);
    MPI_Cart_shift(grid, 1, 1, &source, &dest); /* not periodic: MPI_PROC_NULL at the borders */
    MPI_Sendrecv(&rank, 1, MPI_INT, dest, 2, &in, 1, MPI_INT, source, 2, grid, MPI_STATUS_IGNORE);
    MPI_Cart_sub(grid, keep, &row);
    MPI_Comm_size(row, &n);
    CHECK(n == dims[1]);
    MPI_Barrier(row);
    MPI_Comm_free(&row);
    part_of(grid);
    MPI_Comm_free(&grid);

    int line[1] = {(size + 1) / 2}, open[1] = {0}; /* fewer places than ranks: the rest get MPI_COMM_NULL */
    MPI_Cart_create(MPI_COMM_WORLD, 1, line, open, 1, &grid);
    if (grid != MPI_COMM_NULL) {
        MPI_Barrier(grid);
        MPI_Comm_free(&grid);
    }
}

static void graphs(void)
{
    MPI_Comm graph;
    int kind, nodes, edges, n, place, *index = malloc(size * sizeof *index), *edge = malloc(2 * size * sizeof *edge);
    for (int i = 0; i < size; i++) {
        index[i] = 2 * (i + 1);
        edge[2 * i] = (i + size - 1) % size;
        edge[2 * i + 1] = (i + 1) % size;
    }
    MPI_Graph_map(MPI_COMM_WORLD, size, index, edge, &place);
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edge, 0, &graph);
    MPI_Topo_test(graph, &kind);
    CHECK(kind == MPI_GRAPH);
    MPI_Graphdims_get(graph, &nodes, &edges);
    CHECK(nodes == size && edges == 2 * size);
    MPI_Graph_get(graph, nodes, edges, index, edge);
    CHECK(index[size - 1] == 2 * size);
    int neighbors[2];
    MPI_Graph_neighbors_count(graph, rank, &n);
    CHECK(n == 2);
    MPI_Graph_neighbors(graph, rank, 2, neighbors);
    CHECK(neighbors[0] == prev && neighbors[1] == next);
    part_of(graph);
    MPI_Comm_free(&graph);
    free(index), free(edge);

    int in, out, weighted, source[1], weight_in[1], dest[1], weight_out[1];
    int sources[1] = {rank}, degrees[1] = {1}, dests[1] = {next}, weights[1] = {rank + 1};
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, sources, degrees, dests, weights, MPI_INFO_NULL, 0, &graph);
    MPI_Topo_test(graph, &kind);
    CHECK(kind == MPI_DIST_GRAPH);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    CHECK(in == 1 && out == 1 && weighted);
    MPI_Dist_graph_neighbors(graph, 1, source, weight_in, 1, dest, weight_out);
    CHECK(source[0] == prev && weight_in[0] == prev + 1 && dest[0] == next && weight_out[0] == rank + 1);
    part_of(graph);
    MPI_Comm_free(&graph);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &prev, weights, 1, &next, weights, MPI_INFO_NULL, 0, &graph);
    MPI_Comm_free(&graph);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, sources, degrees, dests, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Comm_free(&graph);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL,
                                   0, &graph);
    MPI_Comm_free(&graph);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    cartesian();
    graphs();
    return end();
}
