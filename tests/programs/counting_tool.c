/* A tool as others are: it stands in front of some functions of MPI, counts their calls, goes on to the PMPI names, and says
 * at the end what it has seen. Before MPI_Finalize it makes some calls of its own. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static char told[100];
static long sends, receives, barriers, inits, finalizes;

#define COUNT(n) __atomic_fetch_add(&n, 1, __ATOMIC_RELAXED)

int MPI_Init(int *argc, char ***argv)
{
    COUNT(inits);
    return PMPI_Init(argc, argv);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    COUNT(inits);
    return PMPI_Init_thread(argc, argv, required, provided);
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    COUNT(sends);
    return PMPI_Isend(buffer, count, type, dest, tag, comm, request);
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    COUNT(receives);
    return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}

int MPI_Barrier(MPI_Comm comm)
{
    COUNT(barriers);
    return PMPI_Barrier(comm);
}

/* Has arguments of its own behind the level. */
int MPI_Pcontrol(const int level, ...)
{
    va_list list;
    va_start(list, level);
    const char *text = va_arg(list, const char *);
    int number = va_arg(list, int);
    snprintf(told, sizeof told, "%s %d %g", text, number, va_arg(list, double));
    va_end(list);
    return PMPI_Pcontrol(level);
}

int MPI_Finalize(void)
{
    int rank;
    COUNT(finalizes);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "tool: rank %d: %ld %ld %ld %ld %ld %s\n", rank, inits, sends, receives, barriers, finalizes, told);
    return PMPI_Finalize();
}
