/* A lower layer in another process sees in the shared table which call a thread is in: here it is the program itself that
 * looks, from an error handler that an MPI call runs. Prints rank, CallID as the recorder tells it, CallID in the table, and the
 * one in the table after the call. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "check.h"
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern uint64_t trace_callid(void) __attribute__((weak));

struct slot {
    uint32_t tid, zero;
    uint64_t call;
};

static volatile struct slot *slots;
static uint64_t told, seen;

static uint64_t look(void)
{
    for (int i = 0; i < 1 << 16; i++)
        if (slots[i].tid == (uint32_t) syscall(SYS_gettid))
            return slots[i].call;
    return ~0ull;
}

static void handler(MPI_Comm *comm, int *error, ...)
{
    (void) comm;
    (void) error;
    told = trace_callid();
    seen = look();
}

int main(int argc, char **argv)
{
    MPI_Errhandler own;
    begin(&argc, &argv);
    int file = open(getenv("TRACE_TIDS"), O_RDONLY);
    char *table = mmap(NULL, 64 + (16 << 16), PROT_READ, MAP_SHARED, file, 0);
    CHECK(table != MAP_FAILED && trace_callid);
    slots = (volatile struct slot *) (table + 64);
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, own);
    MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER);
    uint64_t after = look();
    printf("%d %llx %llx %llx\n", rank, (unsigned long long) told, (unsigned long long) seen, (unsigned long long) after);
    MPI_Finalize();
    return 0;
}
