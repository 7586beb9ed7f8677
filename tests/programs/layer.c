/* A layer over MPI, as wi4mpi and Mukautuva are: a library that has MPI's functions, loads the library BELOW for itself, and goes on to what it finds there by
 * name. With -DONLY_BARRIER it is a tool that stands in front of one function. With -DPROGRAM it is the program. MPICH's handles are numbers. */
#define _GNU_SOURCE
#include <stdio.h>

#define WORLD 0x44000000

#ifdef PROGRAM

int MPI_Init(int *, char ***);
int MPI_Comm_rank(int, int *);
int MPI_Barrier(int);
int MPI_Finalize(void);

int main(int argc, char **argv)
{
    int rank = -1, failed = MPI_Init(&argc, &argv);
    failed |= MPI_Comm_rank(WORLD, &rank);
    for (int i = 0; i < 3; i++)
        failed |= MPI_Barrier(WORLD);
    failed |= MPI_Finalize();
    if (rank == 0 && !failed)
        puts("ok");
    return failed;
}

#else

#include <dlfcn.h>
#include <stdlib.h>

static void *below(const char *name)
{
    static void *library;
    if (!library)
        library = dlopen(BELOW, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    void *function = library ? dlsym(library, name) : NULL;
    if (!function) {
        fprintf(stderr, "layer: %s: %s\n", name, dlerror());
        exit(9);
    }
    return function;
}

#define GO_ON(name, parameters, arguments)                       \
    int name parameters                                          \
    {                                                            \
        return ((int(*) parameters)below(#name)) arguments;      \
    }
#define BOTH(name, parameters, arguments)                        \
    GO_ON(MPI_##name, parameters, arguments)                     \
    GO_ON(PMPI_##name, parameters, arguments)

#ifdef ONLY_BARRIER
GO_ON(MPI_Barrier, (int comm), (comm))
#else
BOTH(Init, (int *argc, char ***argv), (argc, argv))
BOTH(Get_library_version, (char *text, int *length), (text, length))
BOTH(Comm_rank, (int comm, int *rank), (comm, rank))
BOTH(Barrier, (int comm), (comm))
BOTH(Finalize, (void), ())
#endif

#endif
