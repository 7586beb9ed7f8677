/* Calls that MPI refuses. It reads nothing of their arrays, which end where memory does, and calls an error handler once. */
#include "check.h"
#include <sys/mman.h>

enum { FEW = 2, MANY = 5000, PAGE = 4096 };

static int errors;

static void count(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    errors++;
}

/* A few integers, behind which there is no memory. */
static int *at_end(void)
{
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    CHECK(mprotect(pages + PAGE, PAGE, PROT_NONE) == 0);
    return (int *)(pages + PAGE) - FEW;
}

/* The handler is called once, as without the recorder. */
#define REFUSED(name, ...)                             \
    do {                                               \
        errors = 0;                                    \
        CHECK(MPI_##name(__VA_ARGS__) != MPI_SUCCESS); \
        CHECK(errors == 1);                            \
    } while (0)

/* Lengths that MPI would have to tell are asked for only where the call has worked. */
static void without_questions(void)
{
    int counts[8] = {0}, places[8] = {0}, in[8] = {0}, out[8] = {0};
    MPI_Datatype types[8];
    for (int i = 0; i < 8; i++)
        types[i] = MPI_INT;
    MPI_Comm none = MPI_COMM_NULL, made;
    MPI_Request request;
    REFUSED(Gatherv, in, 1, MPI_INT, out, counts, places, MPI_INT, 0, none);
    REFUSED(Scatterv, in, counts, places, MPI_INT, out, 1, MPI_INT, 0, none);
    REFUSED(Allgatherv, in, 1, MPI_INT, out, counts, places, MPI_INT, none);
    REFUSED(Alltoallv, in, counts, places, MPI_INT, out, counts, places, MPI_INT, none);
    REFUSED(Alltoallw, in, counts, places, types, out, counts, places, types, none);
    REFUSED(Ialltoallw, in, counts, places, types, out, counts, places, types, none, &request);
    REFUSED(Reduce_scatter, in, out, counts, MPI_INT, MPI_SUM, none);
    REFUSED(Neighbor_alltoallv, in, counts, places, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD);
    REFUSED(Cart_rank, MPI_COMM_WORLD, in, out);
    REFUSED(Cart_coords, MPI_COMM_WORLD, 0, 2, out);
    REFUSED(Cart_sub, MPI_COMM_WORLD, in, &made);
    REFUSED(Graph_neighbors, MPI_COMM_WORLD, 0, 2, out);
    REFUSED(Comm_spawn, "nothing", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, none, &made, MPI_ERRCODES_IGNORE);
}

static void without_reading(void)
{
    int *volatile a = at_end(), *volatile b = at_end();
    MPI_Comm made;
    REFUSED(Graph_create, MPI_COMM_WORLD, MANY, a, b, 0, &made);
    REFUSED(Cart_create, MPI_COMM_NULL, MANY, a, b, 0, &made);
    REFUSED(Dist_graph_create, MPI_COMM_NULL, MANY, a, b, a, b, MPI_INFO_NULL, 0, &made);
#ifdef OPEN_MPI
    /* MPICH reads them. */
    MPI_Datatype type;
    REFUSED(Type_indexed, MANY, a, b, MPI_DATATYPE_NULL, &type);
    REFUSED(Type_create_subarray, MANY, a, a, b, 77, MPI_INT, &type);
#endif
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Errhandler handler, former;
    MPI_Comm_create_errhandler(count, &handler);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &former);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    without_questions();
    without_reading();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, former);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, former);
    MPI_Errhandler_free(&former);
    MPI_Errhandler_free(&handler);
    return end();
}
