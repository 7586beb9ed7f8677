/* Children that the C library tells nobody of: of _Fork, and of the system calls fork and clone. They call MPI while their parent does, one
 * switches recording on, and one comes back out of an MPI call that its parent is in. Nothing of that is a call of the rank. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "check.h"
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#pragma weak _Fork
extern pid_t _Fork(void);

enum { kinds = 3, calls = 3000 };

static pid_t child_of(int kind)
{
    if (kind == 0 && _Fork)
        return _Fork();
#ifdef SYS_fork
    if (kind == 1)
        return (pid_t)syscall(SYS_fork);
#endif
    return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

/* What a child does. In parentheses, as the tally is the parent's. */
static void calls_of_child(void)
{
    int flag = 0;
    for (int i = 0; i < calls; i++)
        (MPI_Wtime)();
    (MPI_Pcontrol)(1);
    for (int i = 0; i < calls; i++)
        (MPI_Wtime)();
    (MPI_Initialized)(&flag);
    _exit(flag ? 0 : 1);
}

static void end_of(pid_t child)
{
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static pid_t inside;

/* Runs inside MPI_Comm_delete_attr. */
static int forks(MPI_Comm comm, int key, void *kind, void *state)
{
    (void)comm, (void)key, (void)state;
    inside = child_of(*(int *)kind);
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (int kind = 0; kind < kinds; kind++) {
        int key;
        pid_t child = child_of(kind);
        if (child == 0)
            calls_of_child();
        for (int i = 0; i < calls; i++)
            MPI_Wtime();
        end_of(child);

        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forks, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, &kind);
        MPI_Comm_delete_attr(MPI_COMM_SELF, key);
        if (inside == 0)
            calls_of_child();
        for (int i = 0; i < calls; i++)
            MPI_Wtime();
        end_of(inside);
        MPI_Comm_free_keyval(&key);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
