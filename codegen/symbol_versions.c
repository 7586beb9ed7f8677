/* The recorder asks for the oldest form of each function of the C library, so that it is loaded by older ones than the one
 * that it was built with. The linker sends every use of NAME in libtrace.so, Rust's own library's too, to __wrap_NAME (--wrap,
 * see symbol_versions.rs); that jumps to the version which the processor has had from the first, arguments and return address
 * untouched: dlopen and dlsym look at who calls. */

/* The first version of glibc for the processor; a jump through the address of a function; the version of struct stat, between
 * a function's first two arguments and in front of them. */
#if defined __x86_64__
#define FIRST "GLIBC_2.2.5"
#define TYPE "@function"
#define JUMP(to) "jmp *" to "@GOTPCREL(%rip)\n"
#define STAT_VERSION(bits) "mov %rsi, %rdx\nmov %" bits "di, %" bits "si\nmov $1, %edi\n"
#elif defined __aarch64__
#define FIRST "GLIBC_2.17"
#define TYPE "%function"
#define JUMP(to) "adrp x16, :got:" to "\nldr x16, [x16, :got_lo12:" to "]\nbr x16\n"
#define STAT_VERSION(bits) "mov x2, x1\nmov x1, x0\nmov w0, 0\n"
#else
#error "the recorder is made for x86-64 and aarch64"
#endif

#define FORWARD(name, strength)                                      \
    __asm__(".text\n"                                                \
            ".symver oldest_" #name ", " #name "@" FIRST "\n"        \
            strength                                                 \
            ".globl __wrap_" #name "\n"                              \
            ".hidden __wrap_" #name "\n"                             \
            ".type __wrap_" #name ", " TYPE "\n"                     \
            "__wrap_" #name ":\n"                                    \
            JUMP("oldest_" #name)                                    \
            ".size __wrap_" #name ", . - __wrap_" #name "\n")

/* In libdl and libpthread before glibc 2.34. */
FORWARD(dladdr, "");
FORWARD(dlerror, "");
FORWARD(dlopen, "");
FORWARD(dlvsym, "");
FORWARD(pthread_key_create, "");
FORWARD(pthread_getspecific, "");
FORWARD(pthread_key_delete, "");
FORWARD(pthread_once, "");
FORWARD(pthread_setspecific, "");
FORWARD(pthread_sigmask, "");
/* In librt before glibc 2.34, which is there in programs that have something to ask about. */
FORWARD(aio_error, ".weak oldest_aio_error\n");

/* Before glibc 2.33 these were inline functions that called one with the number of the struct's layout, 1 on x86-64, 0
 * on aarch64. The first argument has 32 or 64 bits. */
#define STAT(name, oldest, bits)                                     \
    __asm__(".text\n"                                                \
            ".symver oldest_" #name ", " #oldest "@" FIRST "\n"      \
            ".globl __wrap_" #name "\n"                              \
            ".hidden __wrap_" #name "\n"                             \
            ".type __wrap_" #name ", " TYPE "\n"                     \
            "__wrap_" #name ":\n"                                    \
            STAT_VERSION(bits)                                       \
            JUMP("oldest_" #name)                                    \
            ".size __wrap_" #name ", . - __wrap_" #name "\n")

STAT(stat64, __xstat64, "r");
STAT(lstat64, __lxstat64, "r");
STAT(fstat64, __fxstat64, "e");

/* Without an old form: the system calls themselves. Rust's library asks whether these functions exist, which would be answered
 * by the loader's refusal, as linkers do not mark such a wish as weak. What a kernel lacks is told by errno, as ever. */
long syscall(long number, ...);

/* Numbers of its own, as headers that are old enough lack some. */
#if defined __x86_64__
enum { SYS_gettid = 186, SYS_getrandom = 318, SYS_statx = 332 };
#else
enum { SYS_gettid = 178, SYS_getrandom = 278, SYS_statx = 291 };
#endif

#define CALL(name, number, parameters, ...)                          \
    __attribute__((visibility("hidden"))) long __wrap_##name parameters \
    {                                                                \
        return syscall(number, ##__VA_ARGS__);                       \
    }

CALL(gettid, SYS_gettid, (void))
CALL(getrandom, SYS_getrandom, (void *to, unsigned long size, unsigned flags), to, size, flags)
CALL(statx, SYS_statx, (int folder, const char *path, int flags, unsigned mask, void *to), folder, path, flags, mask, to)

/* Since glibc 2.18. Rust's library asks for it as it does for those above. Before that, as Rust's library itself would do: a list for each
 * thread, which a key of the thread goes through when the thread ends. */
struct thread_exit {
    void (*run)(void *);
    void *object;
    struct thread_exit *before;
};
int pthread_key_create(unsigned *key, void (*at_exit)(void *));
int pthread_setspecific(unsigned key, const void *value);
void *pthread_getspecific(unsigned key);
int pthread_once(int *once, void (*begin)(void));
void *dlvsym(void *where, const char *name, const char *version);
void *malloc(unsigned long size);
void free(void *memory);

typedef int thread_atexit(void (*)(void *), void *, void *);
static thread_atexit *libc_thread_atexit;
static int once, has_key;
static unsigned key;

static void run_thread_exits(void *list)
{
    for (struct thread_exit *next = list, *before; next; next = before) {
        before = next->before;
        next->run(next->object);
        free(next);
    }
}

static void find_thread_atexit(void)
{
    libc_thread_atexit = (thread_atexit *)dlvsym((void *)0, "__cxa_thread_atexit_impl", "GLIBC_2.18");
    if (!libc_thread_atexit)
        has_key = pthread_key_create(&key, run_thread_exits) == 0;
}

#define SUBSTITUTE(name) __attribute__((visibility("hidden"))) int __wrap_##name

SUBSTITUTE(__cxa_thread_atexit_impl)(void (*run)(void *), void *object, void *owner)
{
    pthread_once(&once, find_thread_atexit);
    if (libc_thread_atexit)
        return libc_thread_atexit(run, object, owner);
    struct thread_exit *entry = has_key ? malloc(sizeof *entry) : (void *)0;
    if (!entry)
        return -1; /* what the object holds stays */
    *entry = (struct thread_exit){run, object, pthread_getspecific(key)};
    return pthread_setspecific(key, entry);
}
