/* Every function of libc that the recorder knows, called by the program itself on files in the folder that is its argument:
 * plain and 64 forms, short reads, errors, descriptors made from each other, appending, mappings. Prints for each call what
 * is to be recorded: kind, descriptor, offset, bytes, result, errno. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#undef _FORTIFY_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef RWF_NOAPPEND
#define RWF_NOAPPEND 0x20
#endif

/* What programs call that were compiled with -D_FORTIFY_SOURCE. */
extern int __open_2(const char *, int);
extern int __open64_2(const char *, int);
extern int __openat_2(int, const char *, int);
extern int __openat64_2(int, const char *, int);
extern int __dprintf_chk(int, int, const char *, ...);
extern ssize_t __read_chk(int, void *, size_t, size_t);
extern ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
extern ssize_t __pread64_chk(int, void *, size_t, off_t, size_t);

static char buffer[4096];
static struct iovec vector[2] = {{buffer, 10}, {buffer + 100, 6}};

static void expect(const char *kind, int fd, long offset, long size, long result, int error)
{
    printf("%s fd %d at %ld size %ld gives %ld errno %d\n", kind, fd, offset, size, result, error);
}

/* Makes a call and says what its record must be; what is in `fd` may be the result itself. */
#define DO(kind, fd, offset, size, call)                                                                               \
    do {                                                                                                               \
        errno = 77;                                                                                                    \
        result = (long)(call);                                                                                         \
        int error = errno;                                                                                             \
        if (result != -1 && error != 77)                                                                               \
            printf("errno was changed to %d by %s\n", error, #call);                                                   \
        expect(kind, fd, offset, size, result, result == -1 ? error : 0);                                              \
    } while (0)

static long result;

static void opening(const char *folder)
{
    char a[300], b[300];
    int directory = open(folder, O_RDONLY | O_DIRECTORY); /* not recorded: no regular file */
    snprintf(a, sizeof a, "%s/a", folder);
    snprintf(b, sizeof b, "%s/b", folder);
#define OPENED(kind, call)                                                                                             \
    do {                                                                                                               \
        DO(kind, (int)result, -1, 0, call);                                                                            \
        if (result >= 0) {                                                                                             \
            int fd = (int)result;                                                                                      \
            DO("close", fd, -1, 0, close(fd));                                                                         \
        }                                                                                                              \
    } while (0)
    OPENED("open", open(a, O_RDWR | O_CREAT, 0640));
    OPENED("open", open64(b, O_RDWR | O_CREAT | O_EXCL, 0600));
    OPENED("open", open(b, O_RDWR | O_CREAT | O_EXCL, 0600)); /* exists */
    OPENED("open", open("/nowhere/at all", O_RDONLY));
    OPENED("open", __open_2(a, O_RDONLY));
    OPENED("open", __open64_2(a, O_RDONLY));
    OPENED("openat", openat(directory, "a", O_RDONLY));
    OPENED("openat", openat64(directory, "c", O_RDWR | O_CREAT, 0644));
    OPENED("openat", __openat_2(directory, "a", O_RDONLY));
    OPENED("openat", __openat64_2(directory, "a", O_RDONLY));
    OPENED("creat", creat(a, 0644));
    OPENED("creat", creat64(a, 0644));
    OPENED("open", open(folder, O_TMPFILE | O_RDWR, 0600)); /* a file without a name, not the folder */
    struct stat status;
    DO("stat", -1, -1, 0, stat(b, &status));
    if (result != 0 || (status.st_mode & 0777) != 0600)
        printf("the mode of open64 has got lost\n");
    close(directory);
    /* neither are these */
    int null = open("/dev/null", O_WRONLY), proc = open("/proc/self/stat", O_RDONLY);
    if (write(null, buffer, 5) != 5 || read(proc, buffer, 5) != 5)
        printf("no /dev/null, no /proc\n");
    close(null);
    close(proc);
    memset(buffer, 'x', sizeof buffer);
}

static void moving(const char *name)
{
    DO("open", (int)result, -1, 0, open(name, O_RDWR | O_CREAT | O_TRUNC, 0644));
    int fd = (int)result;
    DO("write", fd, 0, 100, write(fd, buffer, 100));
    DO("write", fd, 100, 28, write(fd, buffer, 28));
    DO("lseek", fd, 8, 0, lseek(fd, 8, SEEK_SET));
    DO("read", fd, 8, 20, read(fd, buffer, 20));
    DO("read", fd, 28, 4, __read_chk(fd, buffer, 4, sizeof buffer));
    DO("readv", fd, 32, 16, readv(fd, vector, 2));
    DO("writev", fd, 48, 16, writev(fd, vector, 2));
    DO("lseek", fd, 124, 0, lseek64(fd, -4, SEEK_END));
    DO("read", fd, 124, 10, read(fd, buffer, 10)); /* 4 bytes */
    DO("read", fd, 128, 10, read(fd, buffer, 10)); /* none */
    DO("pread", fd, 3, 5, pread(fd, buffer, 5, 3));
    DO("pread", fd, 3, 5, pread64(fd, buffer, 5, 3));
    DO("pread", fd, 3, 5, __pread_chk(fd, buffer, 5, 3, sizeof buffer));
    DO("pread", fd, 3, 5, __pread64_chk(fd, buffer, 5, 3, sizeof buffer));
    DO("pread", fd, -7, 5, pread(fd, buffer, 5, -7)); /* EINVAL */
    DO("pwrite", fd, 200, 5, pwrite(fd, buffer, 5, 200));
    DO("pwrite", fd, 1L << 33, 5, pwrite64(fd, buffer, 5, 1L << 33));
    DO("preadv", fd, 1, 16, preadv(fd, vector, 2, 1));
    DO("preadv", fd, 1, 16, preadv64(fd, vector, 2, 1));
    DO("pwritev", fd, 2, 16, pwritev(fd, vector, 2, 2));
    DO("pwritev", fd, 2, 16, pwritev64(fd, vector, 2, 2));
    DO("preadv2", fd, 1, 16, preadv2(fd, vector, 2, 1, 0));
    DO("preadv2", fd, 1, 16, preadv64v2(fd, vector, 2, 1, 0));
    DO("pwritev2", fd, 4, 16, pwritev2(fd, vector, 2, 4, 0));
    DO("pwritev2", fd, 4, 16, pwritev64v2(fd, vector, 2, 4, 0));
    DO("preadv2", fd, 128, 16, preadv2(fd, vector, 2, -1, 0)); /* at the position */
    DO("ftruncate", fd, -1, 1000, ftruncate(fd, 1000));
    DO("ftruncate", fd, -1, 2000, ftruncate64(fd, 2000));
    DO("truncate", -1, -1, 3000, truncate(name, 3000));
    DO("truncate", -1, -1, 4000, truncate64(name, 4000));
    DO("fallocate", fd, 0, 100, fallocate(fd, 0, 0, 100));
    DO("fallocate", fd, 100, 100, fallocate64(fd, 0, 100, 100));
    DO("posix_fallocate", fd, 0, 100, posix_fallocate(fd, 0, 100));
    DO("posix_fallocate", fd, 100, 100, posix_fallocate64(fd, 100, 100));
    DO("fsync", fd, -1, 0, fsync(fd));
    DO("fdatasync", fd, -1, 0, fdatasync(fd));
    DO("sync_file_range", fd, 10, 20, sync_file_range(fd, 10, 20, SYNC_FILE_RANGE_WRITE));
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 5, .l_len = 6};
    DO("fcntl lock", fd, 5, 6, fcntl(fd, F_SETLK, &lock));
    DO("fcntl lock", fd, 5, 6, fcntl64(fd, F_SETLKW, &lock));
    lock.l_type = F_UNLCK;
    DO("fcntl unlock", fd, 5, 6, fcntl(fd, F_SETLK, &lock));
    lock.l_type = F_RDLCK;
    DO("fcntl lock", fd, 5, 6, fcntl(fd, F_OFD_SETLK, &lock));
    fcntl(fd, F_GETFL); /* not recorded */
    DO("flock", fd, -1, 0, flock(fd, LOCK_EX));
    DO("close", fd, -1, 0, close(fd));
    /* from here on it is no file any more */
    if (read(fd, buffer, 1) != -1 || errno != EBADF)
        printf("a closed descriptor can be read\n");
    DO("open", (int)result, -1, 0, open(name, O_RDONLY));
    fd = (int)result;
    DO("write", fd, 0, 5, write(fd, buffer, 5));    /* EBADF */
    DO("pwrite", fd, 9, 5, pwrite(fd, buffer, 5, 9)); /* EBADF */
    DO("close", fd, -1, 0, close(fd));
}

static void sharing(const char *name)
{
    DO("open", (int)result, -1, 0, open(name, O_RDWR | O_CREAT | O_TRUNC, 0644));
    int a = (int)result, b = dup(a), c = fcntl(a, F_DUPFD, 40), d = fcntl(a, F_DUPFD_CLOEXEC, 50);
    DO("write", a, 0, 10, write(a, buffer, 10));
    DO("write", b, 10, 10, write(b, buffer, 10));
    DO("write", c, 20, 10, write(c, buffer, 10));
    DO("write", d, 30, 10, write(d, buffer, 10));
    DO("close", a, -1, 0, close(a));
    DO("write", b, 40, 10, write(b, buffer, 10));
    if (dup2(b, a) != a || dup3(b, 60, O_CLOEXEC) != 60 || dup2(b, b) != b)
        printf("dup2 fails\n");
    DO("write", a, 50, 10, write(a, buffer, 10));
    DO("lseek", 60, 5, 0, lseek(60, 5, SEEK_SET));
    DO("read", b, 5, 1, read(b, buffer, 1));
    if (dup2(-1, b) != -1)
        printf("dup2 of nothing succeeds\n");
    DO("read", b, 6, 1, read(b, buffer, 1));
    if (fcntl(b, F_SETFL, O_APPEND) != 0)
        printf("F_SETFL fails\n");
    DO("write", a, 60, 10, write(a, buffer, 10)); /* at the end of the file */
    DO("pwrite", c, 70, 10, pwrite(c, buffer, 10, 3)); /* Linux appends this as well */
    fcntl(b, F_SETFL, 0);
    DO("write", a, 70, 10, write(a, buffer, 10));
    DO("close", a, -1, 0, close(a));
    close_range(50, 70, 0);
    if (write(d, buffer, 1) != -1 || write(60, buffer, 1) != -1)
        printf("close_range has left something\n");
    DO("close", b, -1, 0, close(b));
    DO("read", c, 80, 1, read(c, buffer, 1));
    DO("close", c, -1, 0, close(c));
    DO("open", (int)result, -1, 0, open(name, O_WRONLY | O_APPEND));
    a = (int)result;
    DO("write", a, 80, 5, write(a, buffer, 5));
    DO("write", a, 85, 5, write(a, buffer, 5));
    DO("close", a, -1, 0, close(a));
}

static void streams(const char *name)
{
    DO("open", (int)result, -1, 0, open(name, O_RDWR | O_CREAT | O_TRUNC, 0644));
    int fd = (int)result;
    DO("write", fd, 0, 10, write(fd, buffer, 10));
    FILE *stream = fdopen(fd, "r+");
    fputs("hello", stream);
    fflush(stream);
    DO("write", fd, 15, 10, write(fd, buffer, 10));
    expect("close", fd, -1, 0, fclose(stream), 0);
    stream = fopen(name, "r");
    fd = fileno(stream);
    expect("open", fd, -1, 0, fd, 0);
    expect("close", fd, -1, 0, fclose(stream), 0);
    stream = fopen64(name, "a");
    fd = fileno(stream);
    expect("open", fd, -1, 0, fd, 0);
    expect("close", fd, -1, 0, fclose(stream), 0);
    /* a stream that another file is opened on, and the same file anew */
    char other[300];
    snprintf(other, sizeof other, "%s.reopened", name);
    stream = fopen(name, "r");
    fd = fileno(stream);
    expect("open", fd, -1, 0, fd, 0);
    stream = freopen(other, "w", stream);
    fd = fileno(stream);
    expect("open", fd, -1, 0, fd, 0);
    DO("write", fd, 0, 7, write(fd, buffer, 7));
    stream = freopen64(name, "a+", stream);
    fd = fileno(stream);
    expect("open", fd, -1, 0, fd, 0);
    stream = freopen(NULL, "r", stream);
    fd = fileno(stream);
    DO("pread", fd, 2, 3, pread(fd, buffer, 3, 2));
    expect("close", fd, -1, 0, fclose(stream), 0);
    /* a descriptor that nobody has seen being opened */
    snprintf(other, sizeof other, "%s.XXXXXX", name);
    fd = (int)syscall(SYS_openat, AT_FDCWD, other, O_RDWR | O_CREAT, 0600);
    DO("write", fd, 0, 3, write(fd, buffer, 3));
    DO("close", fd, -1, 0, close(fd));
    DO("unlink", -1, -1, 0, unlink(other));
    /* sockets are none of ours, also with the number that a file had */
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    if (write(pair[0], buffer, 3) != 3 || read(pair[1], buffer, 3) != 3)
        printf("no sockets\n");
    close(pair[0]);
    close(pair[1]);
}

static void print_list(int fd, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vdprintf(fd, format, list);
    va_end(list);
}

/* Files whose names libc makes up or that have none, and what libc does to them unseen. */
static void made_by_libc(const char *name)
{
    char template[300];
    for (int form = 0; form < 8; form++) {
        snprintf(template, sizeof template, "%s.XXXXXX%s", name, form < 4 ? "" : ".end");
        switch (form) {
        case 0: result = mkstemp(template); break;
        case 1: result = mkstemp64(template); break;
        case 2: result = mkostemp(template, O_CLOEXEC); break;
        case 3: result = mkostemp64(template, O_APPEND); break;
        case 4: result = mkstemps(template, 4); break;
        case 5: result = mkstemps64(template, 4); break;
        case 6: result = mkostemps(template, 4, O_CLOEXEC); break;
        default: result = mkostemps64(template, 4, 0);
        }
        int fd = (int)result;
        expect("open", fd, -1, 0, fd, 0);
        DO("write", fd, 0, 3, write(fd, buffer, 3));
        DO("close", fd, -1, 0, close(fd));
        DO("unlink", -1, -1, 0, unlink(template));
    }
    for (int form = 0; form < 2; form++) {
        FILE *stream = form ? tmpfile64() : tmpfile();
        int fd = fileno(stream);
        expect("open", fd, -1, 0, fd, 0);
        fputs("hello", stream);
        fflush(stream);
        DO("write", fd, 5, 10, write(fd, buffer, 10));
        expect("close", fd, -1, 0, fclose(stream), 0);
    }
    DO("open", (int)result, -1, 0, open(name, O_RDWR | O_CREAT | O_TRUNC, 0644));
    int fd = (int)result;
    DO("write", fd, 0, 10, write(fd, buffer, 10));
    if (dprintf(fd, "%s %d %.3f %c %g\n", "text", 5, 2.5, 'c', 1e9) != 21)
        printf("dprintf prints other text\n");
    DO("write", fd, 31, 10, write(fd, buffer, 10));
    print_list(fd, "%g %d %g\n", 0.5, 7, 0.25);
    DO("write", fd, 52, 10, write(fd, buffer, 10));
    if (__dprintf_chk(fd, 1, "%.2f %s\n", 0.125, "end") != 9)
        printf("__dprintf_chk prints other text\n");
    DO("lseek", fd, 0, 0, lseek(fd, 0, SEEK_SET));
    char text[100];
    DO("read", fd, 0, 99, read(fd, text, 99));
    if (result != 71 || memcmp(text + 10, "text 5 2.500 c 1e+09\n", 21) != 0 ||
        memcmp(text + 41, "0.5 7 0.25\n", 11) != 0 || memcmp(text + 62, "0.12 end\n", 9) != 0)
        printf("other text is in the file\n");
    DO("lseek", fd, 40, 0, lseek(fd, 40, SEEK_SET));
    DO("fcntl lock", fd, -1, 6, lockf(fd, F_LOCK, 6));
    DO("fcntl lock", fd, -1, 6, lockf64(fd, F_TLOCK, 6));
    lockf(fd, F_TEST, 6); /* not recorded */
    DO("fcntl unlock", fd, -1, 6, lockf(fd, F_ULOCK, 6));
    DO("close", fd, -1, 0, close(fd));
}

/* A mapping outlives its descriptor, whose number another file gets: msync of the first is none of the second. */
static void mapped_and_closed(const char *name)
{
    char other[300];
    snprintf(other, sizeof other, "%s.other", name);
    DO("open", (int)result, -1, 0, open(name, O_RDWR | O_CREAT | O_TRUNC, 0644));
    int fd = (int)result;
    DO("ftruncate", fd, -1, 4096, ftruncate(fd, 4096));
    void *map;
    DO("mmap", fd, 0, 4096, map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    DO("close", fd, -1, 0, close(fd));
    DO("open", (int)result, -1, 0, open(other, O_RDWR | O_CREAT, 0644));
    if (fd != (int)result)
        printf("the number is not used again\n");
    memset(map, 'm', 4096);
    if (msync(map, 4096, MS_SYNC) != 0) /* not recorded */
        printf("msync fails\n");
    munmap(map, 4096);
    DO("close", fd, -1, 0, close(fd));
}

/* A file under the names of a descriptor that stands for it. */
static void named_by_descriptor(const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s.named", name);
    DO("open", (int)result, -1, 0, open(path, O_RDWR | O_CREAT | O_TRUNC, 0644));
    int fd = (int)result;
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, i ? "/dev/fd/%d" : "/proc/self/fd/%d", fd);
        DO("open", (int)result, -1, 0, open(path, O_RDWR));
        int again = (int)result;
        DO("pwrite", again, 5, 8, pwrite(again, buffer, 8, 5));
        DO("close", again, -1, 0, close(again));
    }
    DO("close", fd, -1, 0, close(fd));
    /* not recorded: a file of the kernel */
    fd = open("/proc/self/stat", O_RDONLY);
    if (read(fd, buffer, 1) != 1 || close(fd) != 0)
        printf("no /proc\n");
}

static void asynchronous(const char *name)
{
    DO("open", (int)result, -1, 0, open(name, O_RDWR | O_CREAT | O_TRUNC, 0644));
    int fd = (int)result;
    struct aiocb block = {.aio_fildes = fd, .aio_buf = buffer, .aio_nbytes = 50, .aio_offset = 7};
    const struct aiocb *list[] = {&block};
#define WAIT                                                                                                           \
    while (aio_error(&block) == EINPROGRESS)                                                                           \
    aio_suspend(list, 1, NULL)
    DO("aio_write", fd, 7, 50, aio_write(&block));
    WAIT;
    DO("aio_return", fd, 7, 50, aio_return(&block));
    DO("aio_write", fd, 7, 50, aio_write64((struct aiocb64 *)&block));
    WAIT;
    DO("aio_return", fd, 7, 50, aio_return64((struct aiocb64 *)&block));
    block.aio_nbytes = 500;
    DO("aio_read", fd, 7, 500, aio_read(&block));
    WAIT;
    DO("aio_return", fd, 7, 500, aio_return(&block)); /* 50 bytes */
    DO("aio_read", fd, 7, 500, aio_read64((struct aiocb64 *)&block));
    WAIT;
    DO("aio_return", fd, 7, 500, aio_return(&block));
    DO("aio_fsync", fd, -1, 0, aio_fsync(O_SYNC, &block));
    WAIT;
    aio_return(&block);
    expect("aio_return", fd, 7, 500, 0, 0);
    DO("aio_fsync", fd, -1, 0, aio_fsync64(O_SYNC, (struct aiocb64 *)&block));
    WAIT;
    aio_return(&block);
    expect("aio_return", fd, 7, 500, 0, 0);
    struct aiocb other = block, nothing = block;
    block.aio_nbytes = other.aio_nbytes = 20;
    other.aio_offset = 90;
    block.aio_lio_opcode = LIO_READ;
    other.aio_lio_opcode = LIO_WRITE;
    nothing.aio_lio_opcode = LIO_NOP;
    struct aiocb *several[] = {&block, NULL, &nothing, &other};
    for (int form = 0; form < 2; form++) {
        int r = form ? lio_listio64(LIO_WAIT, (struct aiocb64 **)several, 4, NULL) : lio_listio(LIO_WAIT, several, 4, NULL);
        expect("aio_read", fd, 7, 20, r, 0);
        expect("aio_write", fd, 90, 20, r, 0);
        expect("lio_listio", -1, -1, 4, r, 0);
        DO("aio_return", fd, 7, 20, aio_return(&block));
        DO("aio_return", fd, 90, 20, aio_return(&other));
    }
    /* one fails, the other does not */
    DO("open", (int)result, -1, 0, open(name, O_RDONLY));
    int readable = (int)result;
    other.aio_fildes = readable;
    int r = lio_listio(LIO_WAIT, several, 4, NULL);
    expect("aio_read", fd, 7, 20, 0, 0);
    expect("aio_write", readable, 90, 20, -1, EBADF);
    expect("lio_listio", -1, -1, 4, r, EIO);
    DO("aio_return", fd, 7, 20, aio_return(&block));
    errno = 77;
    expect("aio_return", readable, 90, 20, aio_return(&other), EBADF);
    DO("close", readable, -1, 0, close(readable));
    DO("close", fd, -1, 0, close(fd));
}

/* Places that flags choose, whatever the position and the mode are. `b` has 175 bytes; pipes are not recorded. */
static void chosen_places(int a, int b)
{
    DO("lseek", b, 20, 0, lseek(b, 20, SEEK_SET));
    DO("pwritev2", b, 175, 16, pwritev2(b, vector, 2, 0, RWF_APPEND));
    DO("read", b, 20, 5, read(b, buffer, 5));
    DO("pwritev2", b, 191, 16, pwritev2(b, vector, 2, -1, RWF_APPEND));
    DO("write", b, 207, 4, write(b, buffer, 4));
    int ends[2];
    if (pipe(ends) != 0)
        return;
    DO("lseek", a, 30, 0, lseek(a, 30, SEEK_SET));
    if (splice(a, NULL, ends[1], NULL, 40, 0) != 40)
        puts("splice does not move bytes from a file");
    DO("read", a, 70, 5, read(a, buffer, 5));
    DO("lseek", a, 1000, 0, lseek(a, 1000, SEEK_SET));
    if (splice(ends[0], NULL, a, NULL, 40, 0) != 40)
        puts("splice does not move bytes to a file");
    DO("read", a, 1040, 5, read(a, buffer, 5));
    close(ends[0]);
    close(ends[1]);
    fcntl(b, F_SETFL, O_APPEND);
    /* Kernels before 6.9 refuse the flag. */
    DO("pwritev2", b, 3, 16, pwritev2(b, vector, 2, 3, RWF_NOAPPEND));
    struct aiocb block = {.aio_fildes = b, .aio_offset = 7, .aio_buf = buffer, .aio_nbytes = 9};
    DO("aio_write", b, -1, 9, aio_write(&block));
    while (aio_error(&block) == EINPROGRESS)
        usleep(100);
    DO("aio_return", b, 7, 9, aio_return(&block));
    fcntl(b, F_SETFL, 0);
}

static void copying(const char *name, const char *to)
{
    DO("open", (int)result, -1, 0, open(name, O_RDWR | O_CREAT | O_TRUNC, 0644));
    int a = (int)result;
    DO("open", (int)result, -1, 0, open(to, O_RDWR | O_CREAT | O_TRUNC, 0644));
    int b = (int)result;
    DO("write", a, 0, 4000, write(a, buffer, 4000));
    off_t from = 100, into = 10;
    DO("copy_file_range", b, 10, 50, copy_file_range(a, &from, b, &into, 50, 0));
    DO("lseek", a, 30, 0, lseek(a, 30, SEEK_SET));
    DO("copy_file_range", b, 0, 50, copy_file_range(a, NULL, b, NULL, 50, 0));
    from = 200;
    DO("sendfile", b, 50, 60, sendfile(b, a, &from, 60));
    DO("sendfile", b, 110, 60, sendfile64(b, a, NULL, 60));
    DO("read", a, 140, 5, read(a, buffer, 5));
    DO("write", b, 170, 5, write(b, buffer, 5));
    chosen_places(a, b);
    void *map;
    DO("mmap", a, 0, 4000, map = mmap(NULL, 4000, PROT_READ | PROT_WRITE, MAP_SHARED, a, 0));
    memset(map, 'm', 1000);
    DO("msync", a, 0, 4000, msync(map, 4000, MS_SYNC));
    munmap(map, 4000);
    DO("mmap", a, 0, 4000, map = mmap64(NULL, 4000, PROT_READ, MAP_PRIVATE, a, 0));
    munmap(map, 4000);
    map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* not recorded */
    msync(map, 4096, MS_SYNC);
    munmap(map, 4096);
    DO("close", a, -1, 0, close(a));
    DO("close", b, -1, 0, close(b));
    char third[300];
    snprintf(third, sizeof third, "%s.moved", to);
    DO("rename", -1, -1, 0, rename(to, third));
    DO("unlink", -1, -1, 0, unlink(third));
    DO("unlink", -1, -1, 0, unlink(third)); /* ENOENT */
    DO("unlinkat", -1, -1, 0, unlinkat(AT_FDCWD, name, 0));
}

/* What programs call that were linked with glibc before 2.33. */
#ifdef __aarch64__
#define OF_OLD_PROGRAMS(name, version) __asm__(".symver old" #name ", " #name "@GLIBC_2.17")
enum { STAT_VERSION = 0 };
#else
#define OF_OLD_PROGRAMS(name, version) __asm__(".symver old" #name ", " #name "@" version)
enum { STAT_VERSION = 1 };
#endif
extern int old__xstat(int, const char *, struct stat *), old__lxstat(int, const char *, struct stat *);
extern int old__fxstat(int, int, struct stat *), old__fxstatat(int, int, const char *, struct stat *, int);
OF_OLD_PROGRAMS(__xstat, "GLIBC_2.2.5");
OF_OLD_PROGRAMS(__lxstat, "GLIBC_2.2.5");
OF_OLD_PROGRAMS(__fxstat, "GLIBC_2.2.5");
OF_OLD_PROGRAMS(__fxstatat, "GLIBC_2.4");

static void asking(const char *name)
{
    struct stat status;
    struct stat64 status64;
    struct statx more;
    char missing[300];
    snprintf(missing, sizeof missing, "%s.missing", name);
    DO("open", (int)result, -1, 0, open(name, O_RDWR | O_CREAT | O_TRUNC, 0644));
    int fd = (int)result;
    DO("write", fd, 0, 10, write(fd, buffer, 10));
#define SIZED(kind, of, call, size)                                                                                    \
    do {                                                                                                               \
        status.st_size = status64.st_size = 0, more.stx_size = 0;                                                      \
        DO(kind, of, -1, 0, call);                                                                                     \
        if ((size) != 10)                                                                                              \
            printf("%s gives another size\n", #call);                                                                  \
    } while (0)
    SIZED("stat", -1, stat(name, &status), status.st_size);
    SIZED("stat", -1, stat64(name, &status64), status64.st_size);
    SIZED("lstat", -1, lstat(name, &status), status.st_size);
    SIZED("lstat", -1, lstat64(name, &status64), status64.st_size);
    SIZED("fstat", fd, fstat(fd, &status), status.st_size);
    SIZED("fstat", fd, fstat64(fd, &status64), status64.st_size);
    SIZED("fstatat", -1, fstatat(AT_FDCWD, name, &status, 0), status.st_size);
    SIZED("fstatat", -1, fstatat64(AT_FDCWD, name, &status64, AT_SYMLINK_NOFOLLOW), status64.st_size);
    SIZED("fstatat", fd, fstatat(fd, "", &status, AT_EMPTY_PATH), status.st_size);
    SIZED("statx", -1, statx(AT_FDCWD, name, 0, STATX_SIZE, &more), more.stx_size);
    SIZED("statx", fd, statx(fd, "", AT_EMPTY_PATH, STATX_SIZE, &more), more.stx_size);
    SIZED("stat", -1, old__xstat(STAT_VERSION, name, &status), status.st_size);
    SIZED("lstat", -1, old__lxstat(STAT_VERSION, name, &status), status.st_size);
    SIZED("fstat", fd, old__fxstat(STAT_VERSION, fd, &status), status.st_size);
    SIZED("fstatat", -1, old__fxstatat(STAT_VERSION, AT_FDCWD, name, &status, 0), status.st_size);
    DO("access", -1, -1, 0, access(name, R_OK));
    DO("faccessat", -1, -1, 0, faccessat(AT_FDCWD, name, R_OK, 0));
    DO("stat", -1, -1, 0, stat(missing, &status)); /* ENOENT */
    DO("access", -1, -1, 0, access(missing, R_OK));
    /* not recorded: no file, and no name */
    if (stat("/proc/self/stat", &status) != 0 || fstat(0, &status) != 0)
        printf("no /proc, no standard input\n");
    const char *nowhere = (const char *)16;
    if (stat(nowhere, &status) != -1 || errno != EFAULT || unlink(nowhere) != -1 || errno != EFAULT ||
        fstatat(fd, nowhere, &status, AT_EMPTY_PATH) != -1 || errno != EFAULT)
        printf("an address without a name is none\n");
    DO("close", fd, -1, 0, close(fd));
}

int main(int argc, char **argv)
{
    char name[2][300];
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 2; i++)
        snprintf(name[i], sizeof name[i], "%s/file%d", argv[1], i);
    opening(argv[1]);
    moving(name[0]);
    sharing(name[0]);
    streams(name[0]);
    named_by_descriptor(name[0]);
    made_by_libc(name[0]);
    mapped_and_closed(name[0]);
    asynchronous(name[0]);
    copying(name[0], name[1]);
    asking(name[0]);
    MPI_Finalize();
    return 0;
}
