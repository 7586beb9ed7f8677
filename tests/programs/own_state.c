/* What the program has set up for itself and the recorder must neither trip over nor change: floating-point traps and flags,
 * and a limit of file sizes that the trace does not fit in. */
#include "check.h"
#include <sys/resource.h>

#if defined __x86_64__
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

/* traps of: invalid, divide by zero, overflow */
enum { trapping = 0x1f80 & ~(1 << 7 | 1 << 9 | 1 << 10), underflow = 1 << 4, inexact = 1 << 5 };
#else
/* Flags of FPSR in bits 0 to 4 and 7, and the settings of FPCR from bit 8 on. Few processors for aarch64 can trap: a way of
 * rounding (bits 22 and 23) and flush-to-zero (24) stand for it. */
static unsigned get(void)
{
    unsigned long settings, flags;
    __asm__ volatile("mrs %0, fpcr" : "=r"(settings));
    __asm__ volatile("mrs %0, fpsr" : "=r"(flags));
    return settings | (flags & 0x9f);
}

static void set(unsigned value)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(value & ~0xfful));
    __asm__ volatile("msr fpsr, %0" : : "r"(value & 0xfful));
}

enum { trapping = 3 << 22 | 1 << 24, underflow = 1 << 3, inexact = 1 << 4 };
#endif

int main(int argc, char **argv)
{
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
    set(trapping | underflow);
    MPI_Finalize();
    /* but for "inexact", which MPI may raise as well */
    CHECK((get() & ~(unsigned) inexact) == (trapping | underflow));
    if (rank == 0)
        printf("ok\n");
    return 0;
}
