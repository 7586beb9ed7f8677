/* Annotations by MPI_Pcontrol(2, format, ...) and (3, key, format, ...), and calls of these levels that are none.
 * tests/tests/mpi/annotations.rs has the list of what must be found. With an argument, only calls without a format. */
#include "check.h"
#include <pthread.h>

static void *other_thread(void *unused)
{
    (void)unused;
    MPI_Pcontrol(2, "thread of rank %d", rank);
    return NULL;
}

/* Runs inside MPI_Comm_dup. */
static int copy(MPI_Comm comm, int key, void *state, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)state, (void)in, (void)out;
    MPI_Pcontrol(2, "inside a call");
    *flag = 0;
    return MPI_SUCCESS;
}

/* The standard's own level 2, and one of the program's own: what is in the registers is left from other calls. */
static int without_format(void)
{
    char text[100];
    for (int level = 2; level <= 9; level++) {
        MPI_Pcontrol(level);
        MPI_Get_processor_name(text, &(int){0});
        MPI_Pcontrol(level);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Pcontrol(level);
        snprintf(text, sizeof text, "%s %d", "a %s text", level);
        MPI_Pcontrol(level);
    }
    return end();
}

int main(int argc, char **argv)
{
    static char big[6000];
    pthread_t thread;
    MPI_Comm dup;
    int key, untouched = 7, provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1)
        return without_format();
    memset(big, 'x', sizeof big - 1);

    MPI_Pcontrol(2, "begin phase %d", 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(2, "%d %ld %c %s %x %hhd %lld|%g %g %g %g %g %g %g %g %g|%Lf|%.3s %*d %.*f %zu %%", 1, -2L, '3', "four",
                 0x5, 6, 7LL, .1, .2, .3, .4, .5, .6, .7, .8, .9, (long double)1.25, "precision", 5, 8, 2, 9.125,
                 sizeof big);
    MPI_Pcontrol(3, (long)17, "note of rank %d", rank);
    MPI_Pcontrol(3, (long)17, "another note");
    MPI_Pcontrol(3, (long)5000000000, "large key");
    MPI_Pcontrol(2, "%s", "");
    MPI_Pcontrol(2, "%s", big);
    if (provided >= MPI_THREAD_SERIALIZED) {
        CHECK(pthread_create(&thread, NULL, other_thread, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    } else {
        other_thread(NULL);
    }

    /* Off: nothing. Inside another call: nothing. */
    MPI_Pcontrol(0);
    MPI_Pcontrol(2, "while off");
    MPI_Pcontrol(1);
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_free(&dup);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);

    /* No formats. */
    MPI_Pcontrol(2, (void *)0);
    MPI_Pcontrol(2, (void *)1);
    MPI_Pcontrol(2, (void *)-1);
    MPI_Pcontrol(2, &untouched);
    MPI_Pcontrol(3, 4L, (void *)0x1234567800);
    MPI_Pcontrol(4, "of level 4");
    MPI_Pcontrol(2, "");
    MPI_Pcontrol(-1);

    /* Formats that must not be followed are text themselves. */
    MPI_Pcontrol(2, "count%n", &untouched);
    MPI_Pcontrol(2, "name %s", (char *)16);
    MPI_Pcontrol(2, "wide %.*f", 2147483647, 1.0);
    CHECK(untouched == 7);
    MPI_Pcontrol(2, "end phase %d", 1);
    return end();
}
