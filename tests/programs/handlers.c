/* A signal handler that calls MPI again and again, whatever it interrupts: the recorder at work between two calls, and in MPI_Finalize. */
#include "check.h"
#include <signal.h>
#include <sys/time.h>

static volatile sig_atomic_t off;

static void handler(int signal)
{
    (void)signal;
    off = !off;
    (MPI_Pcontrol)(!off);
}

int main(int argc, char **argv)
{
    struct sigaction action;
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    begin(&argc, &argv);
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
    for (int i = 0; i < 100000; i++) {
        int size;
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    setitimer(ITIMER_REAL, &never, NULL);
    if (rank == 0)
        printf("ok\n");
    return 0;
}
