/* Functions of a program that is compiled with -finstrument-functions: recursion, static ones, those of a shared object of its own,
 * threads, a jump out of nested ones, and MPI calls in between. Counts its calls by itself.
 *
 * With an argument, rank 1 is killed inside functions. -Dnoinline=unused lets the compiler inline them. */
#include "check.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

enum { THREADS = 3, JUMPS = 5 };

static jmp_buf back;
static int is_killed;

int shared_twice(int n);

static int __attribute__((noinline)) fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static void __attribute__((noinline)) exchange(void)
{
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size - 1) / 2);
}

static void __attribute__((noinline)) deepest(int n)
{
    longjmp(back, n);
}

static void __attribute__((noinline)) deep(int n)
{
    deepest(n);
}

static void __attribute__((noinline)) jumps(void)
{
    volatile int round = 0;
    setjmp(back);
    if (round++ < JUMPS)
        deep(round);
}

static void *__attribute__((noinline)) work(void *argument)
{
    int *n = argument;
    *n = fibonacci(*n);
    return NULL;
}

static void __attribute__((noinline)) stuck(void)
{
    kill(getpid(), SIGKILL);
}

static void __attribute__((noinline)) outer(void)
{
    exchange();
    if (is_killed && rank == 1)
        stuck();
}

int main(int argc, char **argv)
{
    int provided;
    is_killed = argc > 1;
    CHECK(fibonacci(5) == 5); /* 15 calls before MPI_Init */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pthread_t threads[THREADS];
    int results[THREADS];
    for (int i = 0; i < THREADS; i++) {
        results[i] = 6; /* 25 calls, result 8 */
        CHECK(pthread_create(&threads[i], NULL, work, &results[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(results[i] == 8);
    }
    jumps();
    CHECK(shared_twice(4) == 8);
    outer();
    MPI_Finalize();
    if (rank == 0)
        printf("ok\n");
    return 0;
}
