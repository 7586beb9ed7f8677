/* Ends MPI where its argument says that there is little room for anybody beside the program:
 *   stderr     a file of the program's own has the descriptor that standard error had
 *   stack      the thread that calls MPI_Finalize has a small stack
 *   sleepless  the kernel forbids the process to sleep
 * One rank comes to MPI_Finalize later than the other, so that somebody waits there. */
#include "check.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_BYTES (96 << 10)

static void *finalize(void *unused)
{
    MPI_Finalize();
    return unused;
}

static void forbid_to_sleep(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef __NR_nanosleep
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_nanosleep, 1, 0),
#endif
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clock_nanosleep, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

int main(int argc, char **argv)
{
    int rank, provided, file = -1;
    const char *what = argc > 1 ? argv[1] : "";
    char bytes[8];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(what, "stderr") == 0) {
        char name[40];
        snprintf(name, sizeof name, "own.%d", rank);
        close(STDERR_FILENO);
        file = open(name, O_CREAT | O_RDWR | O_TRUNC, 0600);
        CHECK(file == STDERR_FILENO && write(file, "hello", 5) == 5);
    }
    if (strcmp(what, "sleepless") == 0)
        forbid_to_sleep();
    MPI_Barrier(MPI_COMM_WORLD);
    for (double begun = MPI_Wtime(); rank == 1 && MPI_Wtime() < begun + 0.2;)
        ;
    if (strcmp(what, "stack") == 0) {
        pthread_t thread;
        pthread_attr_t small;
        pthread_attr_init(&small);
        CHECK(pthread_attr_setstacksize(&small, STACK_BYTES) == 0);
        CHECK(pthread_create(&thread, &small, finalize, NULL) == 0);
        pthread_join(thread, NULL);
    } else {
        MPI_Finalize();
    }
    if (file >= 0 && (pread(file, bytes, sizeof bytes, 0) != 5 || memcmp(bytes, "hello", 5) != 0)) {
        puts("another's bytes in a file of the program's");
        return 1;
    }
    if (rank == 0)
        puts("ok");
    return 0;
}
