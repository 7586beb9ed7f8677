/* Children of every kind that make file calls of their own: none of them may write into the parent's record, and the parent's
 * goes on. Prints how many calls of pwrite the process itself has made. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "check.h"
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int own, made;
static char byte[8];

static void writes(void)
{
    for (int i = 0; i < 100; i++, made++)
        CHECK(pwrite(own, byte, 8, 8 * i) == 8);
}

static void end_of(pid_t child)
{
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char **argv)
{
    MPI_File file;
    char name[300];
    begin(&argc, &argv);
    MPI_File_open(MPI_COMM_SELF, "children.data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    snprintf(name, sizeof name, "%s/own", argv[1]);
    own = open(name, O_CREAT | O_TRUNC | O_RDWR, 0644);
    writes();
    CHECK(write(own, byte, 8) == 8); /* at 0 */
    pid_t child = fork();
    if (child == 0) {
        writes();
        CHECK(write(own, byte, 8) == 8); /* moves the position of both */
        int other = open("child", O_CREAT | O_WRONLY, 0644);
        CHECK(write(other, byte, 8) == 8 && close(other) == 0);
        _exit(0);
    }
    end_of(child);
    CHECK(write(own, byte, 8) == 8); /* at 16 */
    writes();
    child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        for (int i = 0; i < 100; i++)
            if (pwrite(own, byte, 8, 0) != 8)
                _exit(1);
        _exit(0);
    }
    end_of(child);
    writes();
    /* It has its parent's memory, but descriptors of its own. */
    child = vfork();
    if (child == 0) {
        close(own);
        close(STDERR_FILENO);
        close_range(3, ~0u, 0);
        execl("/bin/sh", "sh", "-c", "echo x > shell", NULL);
        _exit(1);
    }
    end_of(child);
    CHECK(system("echo y >> shell; cat shell > copy") == 0);
    FILE *pipe = popen("cat shell", "r");
    CHECK(fgetc(pipe) == 'x' && pclose(pipe) == 0);
    writes();
    CHECK(MPI_File_write_at(file, 0, byte, 8, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    made++;
    CHECK(close(own) == 0);
    MPI_File_close(&file);
    printf("%d\n", made);
    MPI_Finalize();
    return 0;
}
