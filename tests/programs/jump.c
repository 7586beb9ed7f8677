/* An error handler that leaves with longjmp, out of calls that are recorded and out of calls that are not; later calls are made from
 * frames that lie above and below that of the call that was left, some far above. One handler jumps within itself only, which leaves nothing. */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/resource.h>

enum { JUMPS = 3 };

static jmp_buf back;
static sigjmp_buf own;

static void jump(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    longjmp(back, *code);
}

static void stay(MPI_Comm *comm, int *code, ...)
{
    int rank;
    (void)code;
    if (sigsetjmp(own, 0) == 0) {
        MPI_Comm_rank(*comm, &rank);
        siglongjmp(own, 1);
    }
}

static int __attribute__((noinline)) deep(int n)
{
    volatile char room[4096];
    int size;
    room[n] = 1;
    if (n > 0)
        return deep(n - 1) + room[n];
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

static void __attribute__((noinline)) fail(void)
{
    int x = 0;
    MPI_Send(&x, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD);
}

/* From below a frame that is larger than the usual limit of the stack. */
static void __attribute__((noinline)) fail_far_below(void)
{
    volatile char room[16 << 20];
    room[0] = room[sizeof room - 1] = 1;
    fail();
}

int main(int argc, char **argv)
{
    struct rlimit limit;
    MPI_Errhandler jumps, stays;
    volatile int jumped = 0, sizes = 0;
    int rank;

    getrlimit(RLIMIT_STACK, &limit);
    if (limit.rlim_cur < 64 << 20)
        limit.rlim_cur = 64 << 20;
    setrlimit(RLIMIT_STACK, &limit);
    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(jump, &jumps);
    MPI_Comm_create_errhandler(stay, &stays);
    for (volatile int on = 0; on < 2; on++) {
        MPI_Pcontrol(on);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, jumps);
        for (volatile int i = 0; i < JUMPS; i++) {
            if (setjmp(back) == 0)
                i == 1 ? fail_far_below() : fail();
            else
                jumped++;
            sizes += deep(20) > 0;
            sizes += deep(0) > 0;
        }
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, stays);
        fail();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        puts(jumped == 2 * JUMPS && sizes == 4 * JUMPS ? "ok" : "not jumped");
    MPI_Errhandler_free(&jumps);
    MPI_Errhandler_free(&stays);
    MPI_Finalize();
    return 0;
}
