/* What a process may take is limited, or taken away, after MPI_Init: `limits KIND ROUNDS`. fsize: files of at most 1 MB.
 * nofile: no more files. as: hardly more memory. data: hardly more data. vanish: rank 0 removes the folder that TRACE_TMPDIR
 * names, halfway. comms: as many communicators of each rank alone as there are rounds, and hardly more data from MPI_Finalize on; comms-first and
 * comms-last: the same with this limit for the first or the last rank only. Then there are ROUNDS exchanges, and their sum must be
 * right: every hundredth in a ring, the others of each rank with itself, so that no rank waits for the processor of another.
 *
 * `limits from-start-as ROUNDS KB` and `limits from-start-data ROUNDS KB` have so much address space or data in all. Without KB
 * rank 0 says how much it has at the end. */
#include "check.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

static void limit(int what, rlim_t most)
{
    struct rlimit now;
    /* Before MPI_Init, too. */
    if (getrlimit(what, &now) != 0 || (now.rlim_cur = most, setrlimit(what, &now) != 0))
        exit(2);
}

/* Bytes that /proc/self/status tells of this process: VmSize, VmPeak, VmData. */
static rlim_t has(const char *what)
{
    char line[256];
    unsigned long kilobytes = 0;
    size_t length = strlen(what);
    FILE *f = fopen("/proc/self/status", "r");
    CHECK(f);
    while (fgets(line, sizeof line, f))
        if (strncmp(line, what, length) == 0 && line[length] == ':')
            kilobytes = strtoul(line + length + 1, NULL, 10);
    fclose(f);
    CHECK(kilobytes > 0);
    return (rlim_t)kilobytes << 10;
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    if (argc > 3)
        limit(strcmp(kind, "from-start-as") == 0 ? RLIMIT_AS : RLIMIT_DATA, (rlim_t)atol(argv[3]) << 10);
    begin(&argc, &argv);
    long rounds = argc > 2 ? atol(argv[2]) : 1000, sum = 0, expected = 0;
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
        limit(RLIMIT_AS, has("VmSize") + (4 << 20));
    if (strcmp(kind, "data") == 0)
        limit(RLIMIT_DATA, has("VmData") + (1 << 20));
    for (long i = 0; i < rounds; i++) {
        if (i == rounds / 2 && strcmp(kind, "vanish") == 0) {
            if (rank == 0)
                CHECK(system("rm -rf \"$TRACE_TMPDIR\"") == 0);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        int is_ring = i % 100 == 0, to = is_ring ? next : rank, from = is_ring ? prev : rank;
        MPI_Sendrecv(&out, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += in, expected += from;
    }
    CHECK(sum == expected);
    for (long i = 0; i < rounds && strncmp(kind, "comms", 5) == 0; i++) {
        MPI_Comm made;
        MPI_Comm_dup(MPI_COMM_SELF, &made);
        MPI_Comm_free(&made);
    }
    if (strcmp(kind, "comms") == 0 || (strcmp(kind, "comms-first") == 0 && rank == 0) ||
        (strcmp(kind, "comms-last") == 0 && rank == size - 1))
        limit(RLIMIT_DATA, has("VmData") + (1 << 20));
    if (strncmp(kind, "from-start", 10) == 0 && argc < 4 && rank == 0)
        fprintf(stderr, "peak %lu KB, data %lu KB\n", (unsigned long)has("VmPeak") >> 10,
                (unsigned long)has("VmData") >> 10);
    return end();
}
