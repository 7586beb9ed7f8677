/* What the program has set up for itself and the recorder must neither trip over nor change: floating-point traps and flags,
 * and a limit of file sizes that the trace does not fit in. */
#include "check.h"
#include <sys/resource.h>

/* MXCSR: bits 0 to 5 are flags, 7 to 12 mask the traps of the same exceptions (invalid, denormal, divide by zero, …). */
static unsigned get(void)
{
    unsigned value;
    __asm__ volatile("stmxcsr %0" : "=m"(value));
    return value;
}

static void set(unsigned value)
{
    __asm__ volatile("ldmxcsr %0" : : "m"(value));
}

int main(int argc, char **argv)
{
    const unsigned trapping = 0x1f80 & ~(1 << 7 | 1 << 9 | 1 << 10); /* invalid, divide by zero, overflow */
    set(trapping);
    begin(&argc, &argv);
    for (int i = 0; i < 20000; i++) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    if (argc > 1) {
        struct rlimit limit;
        CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
        limit.rlim_cur = atol(argv[1]);
        CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    }
    set(trapping | 1 << 4); /* the flag of underflow */
    MPI_Finalize();
    /* but for "inexact", which MPI may raise as well */
    CHECK((get() & ~(1u << 5)) == (trapping | 1 << 4));
    if (rank == 0)
        printf("ok\n");
    return 0;
}
