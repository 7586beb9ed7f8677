/* Performance counters around MPI calls: a call that touches a number of new pages (the program's callback does, when an attribute
 * is deleted), pages touched between calls, and what the kernel itself has counted of the thread meanwhile, which is the truth that
 * the trace is compared with.
 *
 * Prints for each rank: RANK PAGES FAULTS SWITCHES, the pages that the callbacks touch and the page faults that getrusage saw
 * around all calls of MPI_Comm_delete_attr and the context switches around all calls of MPI_Barrier. */
#define _GNU_SOURCE
#include "check.h"
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PAGES = 500, CALLS = 20 };

static void touch(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    madvise(memory, PAGES * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAGES; i++)
        memory[i * page] = 1;
    munmap(memory, PAGES * page);
}

static int deleted(MPI_Comm comm, int key, void *value, void *state)
{
    (void)comm;
    (void)key;
    (void)value;
    (void)state;
    touch();
    return MPI_SUCCESS;
}

static struct rusage usage(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage;
}

static long faults(struct rusage u)
{
    return u.ru_minflt + u.ru_majflt;
}

static long switches(struct rusage u)
{
    return u.ru_nvcsw + u.ru_nivcsw;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int key, value = 1;
    long inside = 0;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key, NULL);
    for (int i = 0; i < CALLS; i++) {
        MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value);
        touch();
        long before = faults(usage());
        MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
        inside += faults(usage()) - before;
    }
    MPI_Comm_free_keyval(&key);
    long before = switches(usage());
    for (int i = 0; i < CALLS; i++) {
        /* All but rank 0 wait for it. */
        if (rank == 0)
            usleep(1000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    printf("%d %d %ld %ld\n", rank, PAGES * CALLS, inside, switches(usage()) - before);
    return end();
}
