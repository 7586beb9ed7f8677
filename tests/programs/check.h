/* What every test program shares: start and end, checks that stop the run with file and line, and the integer types that
 * differ between the plain functions and their large-count forms.
 *
 * The harness compiles with a generated tally.h in the include path. It counts every MPI call the source makes, on each
 * rank, without the help of the recorder, and with -DLARGE_COUNT turns each call that has one into its _c form. */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LARGE_COUNT
typedef MPI_Count count_t; /* counts, block lengths, positions */
typedef MPI_Aint disp_t;   /* displacements of the v and w collectives, in elements or bytes */
typedef MPI_Count byte_t;  /* byte displacements and extents of datatypes */
#else
typedef int count_t;
typedef int disp_t;
typedef MPI_Aint byte_t;
#endif

#if __has_include("tally.h")
#include "tally.h"
#endif

/* A call that stays plain with -DLARGE_COUNT. */
#ifdef TALLY
#define PLAIN(function) (TALLY(function), (function))
#else
#define PLAIN(function) function
#endif

#define CHECK(condition)                                                                        \
    do {                                                                                        \
        if (!(condition)) {                                                                     \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);             \
            fflush(stderr);                                                                     \
            PMPI_Abort(MPI_COMM_WORLD, 1);                                                      \
        }                                                                                       \
    } while (0)

/* Open MPI before 5 lacks what MPI 4 added although some of it is in other MPI 3.1 libraries. */
#define HAVE_MPI4 (MPI_VERSION >= 4)
#if HAVE_MPI4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAVE_PARTITIONED 1
#define HAVE_PERSISTENT_COLLECTIVES 1
#define HAVE_SESSIONS 1
#define HAVE_ISENDRECV 1
#else
#define HAVE_PARTITIONED 0
#define HAVE_PERSISTENT_COLLECTIVES 0
#define HAVE_SESSIONS 0
#define HAVE_ISENDRECV 0
#endif

static int rank, size, next, prev; /* in MPI_COMM_WORLD; next and prev close a ring */

static inline void begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    prev = (rank + size - 1) % size;
}

static inline int end(void)
{
    MPI_Finalize();
    if (rank == 0)
        printf("ok\n");
    return 0;
}

#endif
