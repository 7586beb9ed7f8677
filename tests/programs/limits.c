/* What a process may take is limited, or taken away, after MPI_Init: `limits KIND ROUNDS`. fsize: files of at most 1 MB.
 * nofile: no more files. as: hardly more memory. vanish: rank 0 removes the folder that TRACE_TMPDIR names, halfway. Then
 * there are ROUNDS exchanges in a ring, and their sum must be right. */
#include "check.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

static void limit(int what, rlim_t most)
{
    struct rlimit now;
    CHECK(getrlimit(what, &now) == 0);
    now.rlim_cur = most;
    CHECK(setrlimit(what, &now) == 0);
}

static rlim_t address_space(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%ld", &pages) == 1);
    fclose(f);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *kind = argc > 1 ? argv[1] : "";
    long rounds = argc > 2 ? atol(argv[2]) : 1000, sum = 0;
    int out = rank, in;
    MPI_Sendrecv(&out, 1, MPI_INT, next, 0, &in, 1, MPI_INT, prev, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(kind, "fsize") == 0)
        limit(RLIMIT_FSIZE, 1 << 20);
    if (strcmp(kind, "nofile") == 0) {
        int first = open("/dev/null", O_RDONLY);
        CHECK(first >= 0);
        close(first);
        limit(RLIMIT_NOFILE, first);
    }
    if (strcmp(kind, "as") == 0)
        limit(RLIMIT_AS, address_space() + (4 << 20));
    for (long i = 0; i < rounds; i++) {
        if (i == rounds / 2 && strcmp(kind, "vanish") == 0) {
            if (rank == 0)
                CHECK(system("rm -rf \"$TRACE_TMPDIR\"") == 0);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        MPI_Sendrecv(&out, 1, MPI_INT, next, 0, &in, 1, MPI_INT, prev, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += in;
    }
    CHECK(sum == rounds * prev);
    return end();
}
