/* Regions, markers and texts: nested, in threads, in a reduction's callback, in signal handlers. Each rank prints how many
 * signals its handler told of. With the argument "kill" it dies inside two regions; with "loop" it prints the cost of a pair. */
#include "check.h"
#include "../../include/trace.h"
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#define STEPS 20

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
    (void)number;
    signals++;
    trace_begin("signal");
    trace_end("signal");
}

/* Runs inside MPI_Allreduce. */
static void add(void *in, void *out, int *length, MPI_Datatype *type)
{
    (void)type;
    trace_begin("callback");
    for (int i = 0; i < *length; i++)
        ((int *)out)[i] += ((int *)in)[i];
    trace_end("callback");
}

static void *thread_of_its_own(void *unused)
{
    (void)unused;
    TRACE_SCOPE("thread");
    for (int i = 0; i < STEPS; i++) {
        trace_begin("in thread");
        trace_end("in thread");
    }
    return NULL;
}

static void leaf(int step)
{
    TRACE_SCOPE("leaf");
    trace_mark("step", step + 100 * rank);
    trace_mark_double("half", step / 2.0);
    if (step % 2)
        return;
    trace_text("even");
}

static void cost(void)
{
    struct timespec a, b;
    uint32_t number = trace_region("pair");
    long pairs = 1000000;
    for (int names = 0; names < 2; names++) {
        clock_gettime(CLOCK_MONOTONIC, &a);
        if (names)
            for (long i = 0; i < pairs; i++) {
                trace_begin("pair");
                trace_end("pair");
            }
        else
            for (long i = 0; i < pairs; i++) {
                trace_region_begin(number);
                trace_region_end(number);
            }
        clock_gettime(CLOCK_MONOTONIC, &b);
        printf("%s: %.1f ns\n", names ? "by name" : "by number",
               ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / pairs);
    }
}

int main(int argc, char **argv)
{
    MPI_Op op;
    pthread_t thread;
    int sum, provided;
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};

    trace_begin("whole");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && strcmp(argv[1], "loop") == 0)
        cost();
    MPI_Op_create(add, 1, &op);
    uint32_t outer = trace_region("outer");
    for (int i = 0; i < STEPS; i++) {
        trace_region_begin(outer);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
        CHECK(sum == size * (size - 1) / 2);
        leaf(i);
        trace_region_end(outer);
    }
    MPI_Op_free(&op);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && strcmp(argv[1], "kill") == 0) {
        trace_begin("doomed");
        trace_begin("in it");
        MPI_Barrier(MPI_COMM_WORLD);
        raise(SIGKILL);
    }
    pthread_create(&thread, NULL, thread_of_its_own, NULL);
    pthread_join(thread, NULL);

    signal(SIGALRM, on_signal);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 2000; i++) {
        trace_region_begin(outer);
        MPI_Comm_rank(MPI_COMM_WORLD, &provided);
        trace_region_end(outer);
    }
    for (long i = 0; signals < 20 && i < 10000000; i++) {
        trace_begin("busy");
        MPI_Comm_rank(MPI_COMM_WORLD, &provided);
        trace_end("busy");
    }
    setitimer(ITIMER_REAL, &never, NULL);
    raise(SIGALRM);
    signal(SIGALRM, SIG_IGN);
    CHECK(trace_callid() == 0);
    printf("signals of rank %d: %d\n", rank, (int)signals);
    fflush(stdout);
    trace_end("never begun");
    MPI_Finalize();
    trace_end("whole");
    return 0;
}
