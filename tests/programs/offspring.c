/* Children of every kind, of the main thread and of another one, before MPI_Init, while MPI is in use, and after
 * MPI_Finalize. Some ask MPI something, some leave through exit() with all its handlers, one outlives its parent. With the
 * argument "child" it is such a child itself. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "check.h"
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char *self;

static void end_of(pid_t child)
{
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

/* What a child may ask: nothing of it is a call of the rank. */
static int asks(void)
{
    int flag = -1, finalized = -1, version, subversion;
    (MPI_Initialized)(&flag);
    (MPI_Finalized)(&finalized);
    (MPI_Get_version)(&version, &subversion);
    return flag < 0 || finalized < 0 || version < 3;
}

static void *descend(void *unused)
{
    char *arguments[] = {self, "child", NULL};
    pid_t child = fork();
    if (child == 0)
        _exit(asks());
    end_of(child);

    fflush(NULL);
    child = fork();
    if (child == 0) {
        unsetenv("TALLY_DIR"); /* the tally is the parent's */
        exit(asks());
    }
    end_of(child);

    child = vfork();
    if (child == 0) {
        execve(self, arguments, environ);
        _exit(127);
    }
    end_of(child);

    child = fork();
    if (child == 0) {
        execve(self, arguments, environ);
        _exit(127);
    }
    end_of(child);

    CHECK(posix_spawn(&child, self, NULL, NULL, arguments, environ) == 0);
    end_of(child);

    char command[4096];
    snprintf(command, sizeof command, "%s child", self);
    CHECK(system(command) == 0);

    FILE *pipe = popen(command, "r");
    char line[100] = "";
    CHECK(pipe && fgets(line, sizeof line, pipe) && strcmp(line, "a child\n") == 0);
    CHECK(pclose(pipe) == 0);

    child = fork(); /* the parent does not wait, and this one's own child outlives it */
    if (child == 0) {
        if (fork() == 0) {
            freopen("/dev/null", "w", stdout), freopen("/dev/null", "w", stderr);
            unsetenv("TALLY_DIR");
            sleep(2);
            exit(asks());
        }
        _exit(0);
    }
    end_of(child);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int level, sum = 0;
    if (argc > 1) {
        unsetenv("TALLY_DIR");
        printf("a child\n");
        return asks();
    }
    self = realpath(argv[0], NULL);
    freopen("/dev/null", "r", stdin);
    /* What children print through system() is not the rank's. */
    int out = dup(1);
    freopen("/dev/null", "w", stdout);
    descend(NULL);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    descend(NULL);
    pthread_create(&thread, NULL, descend, NULL);
    for (int i = 0; i < 200; i++) { /* meanwhile */
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == i * size);
    }
    pthread_join(thread, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    descend(NULL);
    if (rank == 0)
        dprintf(out, "ok\n");
    return 0;
}
