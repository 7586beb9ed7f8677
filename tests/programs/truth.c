/* A library to be preloaded behind the recorder: it looks into the buffers of all transfers to files named pattern.* and
 * writes down whose bytes they hold, so that what the joined trace says can be compared with it.
 *
 * io_pattern.c writes bytes that tell the rank and the call they belong to. A byte is delivered by the transfer that brings
 * it into the file: one that is in the file already goes back unchanged (read-modify-write) and is nobody's.
 *
 * A line per transfer in truth.RANK in the working directory: file, function, offset, size, result, then MARK:BYTES for each mark. Only system
 * calls are used, past all wrappers. */
#define _GNU_SOURCE
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define LAST 248 /* mark */

/* What a transfer brings: bytes per mark. */
struct found {
    char name[256];
    long bytes[256];
};

/* The file's name if it is one to be watched. */
static int watched(int fd, struct found *found)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    long n = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    if (n <= 0)
        return 0;
    path[n] = 0;
    char *base = strrchr(path, '/');
    if (!base || strncmp(base + 1, "pattern.", 8) != 0)
        return 0;
    if (strstr(base, "_cid-") || strstr(base, ".locktest")) /* Open MPI's own */
        return 0;
    snprintf(found->name, sizeof found->name, "%s", base + 1);
    found->name[strcspn(found->name, " ")] = 0; /* "(deleted)" */
    return 1;
}

/* What is in the file now. */
static long now_there(int fd, unsigned char *to, size_t size, long offset)
{
    long n = syscall(SYS_pread64, fd, to, size, offset);
    if (n >= 0)
        return n;
    /* Open for writing only. The other descriptor stays open: to close it would free the locks of this process. */
    static int other[1024];
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (fd >= 1024)
        return 0;
    if (other[fd] == 0)
        other[fd] = syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC);
    n = syscall(SYS_pread64, other[fd], to, size, offset);
    return n < 0 ? 0 : n;
}

static void look(int fd, const struct iovec *parts, int count, long offset, struct found *found)
{
    memset(found->bytes, 0, sizeof found->bytes);
    for (int p = 0; p < count; p++) {
        const unsigned char *new = parts[p].iov_base;
        size_t size = parts[p].iov_len;
        unsigned char *old = calloc(size + 1, 1);
        long there = now_there(fd, old, size, offset);
        for (size_t i = 0; i < size; i++)
            if (new[i] != 0 && new[i] <= LAST && ((long) i >= there || old[i] != new[i]))
                found->bytes[new[i]]++;
        offset += size;
        free(old);
    }
}

static void put(const struct found *found, const char *function, long offset, long size, long result)
{
    static int log = -1;
    char text[8192];
    int n = snprintf(text, sizeof text, "%s %s %ld %ld %ld", found->name, function, offset, size, result);
    for (int mark = 0; mark < 256; mark++)
        if (found->bytes[mark])
            n += snprintf(text + n, sizeof text - n, " %d:%ld", mark, found->bytes[mark]);
    text[n++] = '\n';
    if (log < 0) {
        const char *rank = getenv("PMI_RANK");
        if (!rank)
            rank = getenv("OMPI_COMM_WORLD_RANK");
        char path[64];
        snprintf(path, sizeof path, "truth.%s", rank ? rank : "0");
        log = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    }
    syscall(SYS_write, log, text, n);
}

#define REAL(name)                                                                              \
    static __typeof__(&name) real;                                                              \
    if (!real)                                                                                  \
    real = (__typeof__(&name)) dlsym(RTLD_NEXT, #name)

/* The real function between looking and writing down. Transfers of a process are looked at one after the other. */
#define TRANSFER(function, fd, parts, count, offset, size, call)                                \
    do {                                                                                        \
        static struct found found;                                                              \
        int before = errno;                                                                     \
        pthread_mutex_lock(&lock);                                                              \
        int is = watched(fd, &found);                                                           \
        long at = offset;                                                                       \
        if (is)                                                                                 \
            look(fd, parts, count, at, &found);                                                 \
        errno = before;                                                                         \
        __typeof__(call) result = call;                                                         \
        int after = errno;                                                                      \
        if (is)                                                                                 \
            put(&found, function, at, size, (long) result);                                     \
        pthread_mutex_unlock(&lock);                                                            \
        errno = after;                                                                          \
        return result;                                                                          \
    } while (0)

static long total(const struct iovec *parts, int count)
{
    long n = 0;
    for (int i = 0; i < count; i++)
        n += parts[i].iov_len;
    return n;
}

static long position(int fd)
{
    if (syscall(SYS_fcntl, fd, F_GETFL) & O_APPEND)
        return syscall(SYS_lseek, fd, 0, SEEK_END);
    return syscall(SYS_lseek, fd, 0, SEEK_CUR);
}

#define ONE ((struct iovec[]){{(void *) data, size}})

ssize_t write(int fd, const void *data, size_t size)
{
    REAL(write);
    TRANSFER("write", fd, ONE, 1, position(fd), size, real(fd, data, size));
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    REAL(pwrite);
    TRANSFER("pwrite", fd, ONE, 1, offset, size, real(fd, data, size, offset));
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
    REAL(pwrite64);
    TRANSFER("pwrite", fd, ONE, 1, offset, size, real(fd, data, size, offset));
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    REAL(writev);
    TRANSFER("writev", fd, parts, count, position(fd), total(parts, count), real(fd, parts, count));
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
    REAL(pwritev);
    TRANSFER("pwritev", fd, parts, count, offset, total(parts, count), real(fd, parts, count, offset));
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset)
{
    REAL(pwritev64);
    TRANSFER("pwritev", fd, parts, count, offset, total(parts, count), real(fd, parts, count, offset));
}

#define CONTROLLED ((struct iovec[]){{(void *) block->aio_buf, block->aio_nbytes}})

int aio_write(struct aiocb *block)
{
    REAL(aio_write);
    TRANSFER("aio_write", block->aio_fildes, CONTROLLED, 1, block->aio_offset, (long) block->aio_nbytes, real(block));
}

int aio_write64(struct aiocb64 *block)
{
    REAL(aio_write64);
    TRANSFER("aio_write", block->aio_fildes, CONTROLLED, 1, block->aio_offset, (long) block->aio_nbytes, real(block));
}
