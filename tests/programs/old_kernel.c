/* Runs a program, given with its arguments, as on the oldest kernel that the recorder is made for (Linux 3.10): the system calls and the
 * options of madvise and open that came later fail as they do there. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The first number, advice and flag that Linux 3.10 does not know: sched_setattr, MADV_WIPEONFORK, O_TMPFILE without O_DIRECTORY. */
#ifdef __x86_64__
#define NEW_CALL 314
#else
#define NEW_CALL 274
#endif
#define NEW_ADVICE 18
#define NEW_FLAG 020000000

#define LOAD(what) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
/* Goes so many steps on if it is so, or if it is not. */
#define IF(how, value, yes, no) BPF_JUMP(BPF_JMP | how | BPF_K, value, yes, no)
#define GIVE(what) BPF_STMT(BPF_RET | BPF_K, what)

int main(int argc, char **argv)
{
    struct sock_filter steps[] = {
        LOAD(nr),
        IF(BPF_JGE, NEW_CALL, 0, 1),
        GIVE(SECCOMP_RET_ERRNO | ENOSYS),
        IF(BPF_JEQ, SYS_madvise, 0, 4),
        LOAD(args[2]),
        IF(BPF_JGE, NEW_ADVICE, 0, 1),
        GIVE(SECCOMP_RET_ERRNO | EINVAL),
        GIVE(SECCOMP_RET_ALLOW),
        IF(BPF_JEQ, SYS_openat, 0, 3),
        LOAD(args[2]),
        IF(BPF_JSET, NEW_FLAG, 0, 1),
        GIVE(SECCOMP_RET_ERRNO | EISDIR),
        GIVE(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = { sizeof steps / sizeof *steps, steps };
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) {
        perror("old_kernel");
        return 1;
    }
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    return 127;
}
