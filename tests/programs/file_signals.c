/* A signal handler that writes to a file while the program does: its calls must neither be lost unsaid nor damage records.
 * Prints how many writes of each were made. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "check.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

/* Signals after which it is over. */
#define ENOUGH 4000

static int log_file;
static long self;
static volatile long handled;

static void handler(int number)
{
    int saved = errno;
    (void) number;
    /* Threads of the MPI library make no MPI calls and are unknown to the recorder. */
    if (syscall(SYS_gettid) == self && write(log_file, "tick", 4) == 4)
        handled++;
    errno = saved;
}

int main(int argc, char **argv)
{
    MPI_File file;
    long made = 0, small = 0;
    char byte[8] = "eight b", name[300];
    self = syscall(SYS_gettid);
    begin(&argc, &argv);
    MPI_File_open(MPI_COMM_SELF, "signals.data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    snprintf(name, sizeof name, "%s/log", argv[1]);
    log_file = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    snprintf(name, sizeof name, "%s/own", argv[1]);
    int own = open(name, O_CREAT | O_TRUNC | O_RDWR, 0644);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    /* On a busy machine fewer come in a second. */
    double end_at = MPI_Wtime() + 2;
    while (handled < ENOUGH && MPI_Wtime() < end_at)
        for (int i = 0; i < 200; i++) {
            int flag;
            MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            CHECK(pwrite(own, byte, 8, 0) == 8);
            small++;
            CHECK(MPI_File_write_at(file, 0, byte, 8, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS);
            made++;
        }
    setitimer(ITIMER_REAL, &never, NULL);
    CHECK(lseek(log_file, 0, SEEK_CUR) == 4 * handled);
    close(own);
    close(log_file);
    MPI_File_close(&file);
    printf("%ld %ld %ld\n", handled, small, made);
    MPI_Finalize();
    return 0;
}
