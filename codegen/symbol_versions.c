/* The recorder asks for the oldest form of each function of the C library, so that it is loaded by older ones than the one
 * that it was built with. The linker sends every use of NAME in libtrace.so, Rust's own library's too, to __wrap_NAME (--wrap,
 * see symbol_versions.rs); that jumps to the version which x86-64 has had from the first, arguments and return address untouched:
 * dlopen and dlsym look at who calls. */

#define FORWARD(name, strength)                                      \
    __asm__(".text\n"                                                \
            ".symver oldest_" #name ", " #name "@GLIBC_2.2.5\n"      \
            strength                                                 \
            ".globl __wrap_" #name "\n"                              \
            ".hidden __wrap_" #name "\n"                             \
            ".type __wrap_" #name ", @function\n"                    \
            "__wrap_" #name ":\n"                                    \
            "jmp *oldest_" #name "@GOTPCREL(%rip)\n"                 \
            ".size __wrap_" #name ", . - __wrap_" #name "\n")

/* In libdl and libpthread before glibc 2.34. */
FORWARD(dladdr, "");
FORWARD(dlerror, "");
FORWARD(dlopen, "");
FORWARD(dlvsym, "");
FORWARD(pthread_key_create, "");
FORWARD(pthread_key_delete, "");
FORWARD(pthread_setspecific, "");
FORWARD(pthread_sigmask, "");
/* In librt before glibc 2.34, which is there in programs that have something to ask about. */
FORWARD(aio_error, ".weak oldest_aio_error\n");

/* Before glibc 2.33 these were inline functions that called one with the number of the struct's layout, 1 on x86-64. */
#define STAT(name, oldest, place)                                    \
    __asm__(".text\n"                                                \
            ".symver oldest_" #name ", " #oldest "@GLIBC_2.2.5\n"    \
            ".globl __wrap_" #name "\n"                              \
            ".hidden __wrap_" #name "\n"                             \
            ".type __wrap_" #name ", @function\n"                    \
            "__wrap_" #name ":\n"                                    \
            "mov %rsi, %rdx\n"                                       \
            "mov " place "\n"                                        \
            "mov $1, %edi\n"                                         \
            "jmp *oldest_" #name "@GOTPCREL(%rip)\n"                 \
            ".size __wrap_" #name ", . - __wrap_" #name "\n")

STAT(stat64, __xstat64, "%rdi, %rsi");
STAT(lstat64, __lxstat64, "%rdi, %rsi");
STAT(fstat64, __fxstat64, "%edi, %esi");

/* Without an old form: the system calls themselves. Rust's library asks whether these functions exist, which would be answered
 * by the loader's refusal, as linkers do not mark such a wish as weak. What a kernel lacks is told by errno, as ever. */
long syscall(long number, ...);

#define CALL(name, number, parameters, ...)                          \
    __attribute__((visibility("hidden"))) long __wrap_##name parameters \
    {                                                                \
        return syscall(number, ##__VA_ARGS__);                       \
    }

CALL(gettid, 186, (void))
CALL(getrandom, 318, (void *to, unsigned long size, unsigned flags), to, size, flags)
CALL(statx, 332, (int folder, const char *path, int flags, unsigned mask, void *to), folder, path, flags, mask, to)
