/* A library to be preloaded behind the recorder. Rank 1 stops itself (SIGSTOP) before the STOP_AT-th time (0: the first) that the recorder
 * tests a request, or after it has begun the STOP_AT_SEND-th synchronous send, and goes on three seconds later. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_rank_1(void)
{
    const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
    for (int i = 0; i < 3; i++) {
        const char *rank = getenv(names[i]);
        if (rank)
            return strcmp(rank, "1") == 0;
    }
    return 0;
}

/* The number in a variable, for rank 1; -1 if there is none. */
static long number(const char *variable)
{
    const char *text = getenv(variable);
    return text && is_rank_1() ? atol(text) : -1;
}

static void stop(void)
{
    char command[64];
    unsetenv("LD_PRELOAD");
    snprintf(command, sizeof command, "(sleep 3; kill -CONT %d) >/dev/null 2>&1 &", getpid());
    if (system(command) == 0)
        raise(SIGSTOP);
}

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    static int (*real)(MPI_Request *, int *, MPI_Status *);
    static long tests, at;
    if (!real) {
        real = (int (*)(MPI_Request *, int *, MPI_Status *))dlsym(RTLD_NEXT, "PMPI_Test");
        at = number("STOP_AT");
    }
    if (tests++ == at)
        stop();
    return real(request, flag, status);
}

int PMPI_Issend(const void *bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    static int (*real)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    static long sends, at;
    if (!real) {
        real = (int (*)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))dlsym(RTLD_NEXT, "PMPI_Issend");
        at = number("STOP_AT_SEND");
    }
    int code = real(bytes, count, type, to, tag, comm, request);
    if (sends++ == at)
        stop();
    return code;
}
