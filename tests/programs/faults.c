/* Programs that are wrong in one way each, for mpitrace verify. The first argument says which fault; the number of ranks is 3.
 *
 *   none        nothing is wrong
 *   circle      every rank receives from the next one, and nobody sends
 *   ssend       every rank sends synchronously to the next one, and nobody receives
 *   waitall     every rank waits for a message of the next one and for one of its own that nobody receives
 *   skip        rank 1 leaves out a barrier and waits for a message instead
 *   fence       the same with MPI_Win_fence
 *   write       the same with MPI_File_write_all
 *   locks       every rank locks its own window, then that of the next one, and gives none back
 *   starts      every rank begins to access the window of the next one before it posts its own
 *   exposed     every rank waits for the previous one to access its window, before it accesses that of the next one
 *   tags        every rank passes MPI_Sendrecv a tag that the next one does not receive
 *   sides       rank 0 waits for a nonblocking barrier of an intercommunicator, and the other side for messages of rank 0
 *   order       rank 1 calls MPI_Barrier where the others call MPI_Allreduce
 *   root        rank 2 takes another root in MPI_Bcast; it may hang, so the program is killed
 *   op          rank 1 passes another operation to MPI_Reduce
 *   size        rank 1 passes half of the data to MPI_Reduce
 *   unreceived  rank 0 sends two messages with tag 7 to rank 1, which receives one; under Open MPI it then receives from MPI_PROC_NULL
 *   truncate    rank 0 sends more than rank 1 has room for, and rank 2 writes to a file beyond the limit of its size
 *   badroot     all ranks call MPI_Gather with a root that does not exist
 *   killed      rank 1 asks again and again by MPI_Win_test and is killed between two calls, and the others wait for it in a barrier
 *   leaks       rank 1 leaves three requests, an operation, a communicator, a group, a datatype, an info object, a file, an error handler that is in
 *               use and two keyvals
 *   callbacks   a communicator and a keyval are freed by the callback of an attribute of MPI_COMM_SELF, in MPI_Finalize
 *   window      no rank frees a window
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int rank, size;

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void ignore(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

static int release(MPI_Comm comm, int key, void *kept, void *extra)
{
    (void)comm;
    (void)extra;
    MPI_Comm_free(kept);
    return MPI_Comm_free_keyval(&key);
}

static void callbacks(void)
{
    static MPI_Comm copy;
    int key;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, release, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &copy);
}

static void leaks(void)
{
    MPI_Comm copy;
    MPI_Errhandler handler;
    int keys[2];
    MPI_Comm_create_errhandler(ignore, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keys[0], NULL);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &keys[1], NULL);
    MPI_File file;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_attr(copy, keys[0], NULL);
    MPI_File_open(MPI_COMM_SELF, "faults.data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    if (rank != 1) {
        MPI_File_close(&file);
        MPI_Comm_free(&copy);
        MPI_Errhandler_free(&handler);
        MPI_Comm_free_keyval(&keys[0]);
        MPI_Type_free_keyval(&keys[1]);
        return;
    }
    MPI_Request requests[2];
    static char buffer[2];
    MPI_Group group;
    MPI_Datatype type;
    MPI_Info info;
    MPI_Op own;
    MPI_Request started;
    for (int i = 0; i < 2; i++)
        MPI_Recv_init(buffer + i, 1, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Info_create(&info);
    MPI_Op_create(add, 1, &own);
    MPI_Send_init(buffer, 1, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &started);
    MPI_Start(&started);
    MPI_Wait(&started, MPI_STATUS_IGNORE);
}

/* No write to a file succeeds behind the limit, which is far beyond what anything else writes. */
static void write_too_much(void)
{
    static char data[1000];
    const MPI_Offset most = (MPI_Offset)1 << 34;
    struct rlimit before, limit;
    MPI_File file;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = most;
    setrlimit(RLIMIT_FSIZE, &limit);
    MPI_File_open(MPI_COMM_SELF, "faults.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, most, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    setrlimit(RLIMIT_FSIZE, &before);
}

static void transfers(const char *fault)
{
    int next = (rank + 1) % size, previous = (rank + size - 1) % size, value = rank, other = 0;
    if (!strcmp(fault, "circle")) {
        MPI_Recv(&value, 1, MPI_INT, next, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(fault, "ssend")) {
        MPI_Ssend(&value, 1, MPI_INT, next, 5, MPI_COMM_WORLD);
    } else if (!strcmp(fault, "waitall")) {
        MPI_Request requests[2];
        MPI_Irecv(&other, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&value, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (!strcmp(fault, "unreceived") && rank == 0) {
        for (int i = 0; i < 2; i++)
            MPI_Send(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    } else if (!strcmp(fault, "unreceived") && rank == 1) {
        MPI_Recv(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#ifdef OPEN_MPI
        /* MPICH 4.0 does not say MPI_PROC_NULL in the status, by which alone DUMPI files tell it from MPI_ANY_SOURCE. */
        MPI_Request request;
        MPI_Status status;
        MPI_Irecv(&other, 1, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, &status);
#endif
    } else if (!strcmp(fault, "truncate") && rank < 2) {
        int many[4] = {0};
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        if (rank == 0)
            MPI_Send(many, 4, MPI_INT, 1, 3, MPI_COMM_WORLD);
        else
            MPI_Recv(many, 2, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(fault, "truncate")) {
        write_too_much();
    } else if (!strcmp(fault, "tags")) {
        static char out[1 << 20], in[1 << 20];
        MPI_Sendrecv(out, sizeof out, MPI_BYTE, next, 5, in, sizeof in, MPI_BYTE, previous, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(fault, "none")) {
        MPI_Request request;
        MPI_Irecv(&other, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, &request);
        MPI_Send(&value, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* Rank 0 is one side of an intercommunicator. */
static void sides(void)
{
    MPI_Comm local, both;
    MPI_Request request;
    int value = 0, is_alone = rank == 0;
    MPI_Comm_split(MPI_COMM_WORLD, is_alone, rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, is_alone, 9, &both);
    if (is_alone) {
        MPI_Ibarrier(both, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&value, 1, MPI_INT, 0, 5, both, MPI_STATUS_IGNORE);
    }
}

/* A call on a window or a file that rank 1 comes to after a message, which rank 0 sends behind its own call. */
static void on_objects(const char *fault)
{
    static int memory[4];
    int value = rank, wrong = rank == 1;
    MPI_Win window = MPI_WIN_NULL;
    MPI_File file = MPI_FILE_NULL;
    if (!strcmp(fault, "fence"))
        MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    else if (!strcmp(fault, "write"))
        MPI_File_open(MPI_COMM_WORLD, "faults.data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    else
        return;
    for (int turn = 0; turn < 2; turn++) {
        if (turn && wrong)
            MPI_Recv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (window != MPI_WIN_NULL)
            MPI_Win_fence(0, window);
        else
            MPI_File_write_all(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    }
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
}

/* Every rank waits for what the next or the previous one does on a window later. */
static void on_windows(const char *fault)
{
    static int memory[4];
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Win window;
    MPI_Group all, targets, origins;
    if (strcmp(fault, "locks") && strcmp(fault, "starts") && strcmp(fault, "exposed"))
        return;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_get_group(window, &all);
    MPI_Group_incl(all, 1, &next, &targets);
    MPI_Group_incl(all, 1, &previous, &origins);
    if (!strcmp(fault, "locks")) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
        /* After an access that is complete, no library puts the lock off any more. */
        MPI_Put(&rank, 1, MPI_INT, rank, 0, 1, MPI_INT, window);
        MPI_Win_flush(rank, window);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, window);
        MPI_Win_unlock(next, window);
        MPI_Win_unlock(rank, window);
    } else if (!strcmp(fault, "starts")) {
        MPI_Win_start(targets, 0, window);
        MPI_Win_complete(window);
        MPI_Win_post(origins, 0, window);
        MPI_Win_wait(window);
    } else {
        MPI_Win_post(origins, 0, window);
        MPI_Win_wait(window);
        MPI_Win_start(targets, 0, window);
        MPI_Win_complete(window);
    }
}

/* All ranks make a window, and one asks for a second whether rank 0, which does nothing with it, is through. */
static void ask_in_vain(int asks)
{
    static int memory[4];
    int flag, origin = 0;
    MPI_Win window;
    MPI_Group world, group;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (!asks)
        return;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &origin, &group);
    MPI_Win_post(group, 0, window);
    for (int i = 0; i < 100; i++) {
        MPI_Win_test(window, &flag);
        usleep(10000);
    }
}

static void collectives(const char *fault)
{
    int in[4] = {1, 2, 3, 4}, out[4];
    int wrong = rank == 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(fault, "skip")) {
        if (wrong)
            MPI_Recv(in, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Send(in, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    } else if (!strcmp(fault, "order")) {
        if (wrong)
            MPI_Barrier(MPI_COMM_WORLD);
        else
            MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } else if (!strcmp(fault, "root")) {
        MPI_Bcast(in, 4, MPI_INT, rank == 2, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(fault, "op")) {
        MPI_Reduce(in, out, 1, MPI_INT, wrong ? MPI_MAX : MPI_SUM, 0, MPI_COMM_WORLD);
    } else if (!strcmp(fault, "badroot")) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, size, MPI_COMM_WORLD);
    } else if (!strcmp(fault, "killed")) {
        ask_in_vain(wrong);
        if (wrong)
            kill(getpid(), SIGKILL);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(fault, "size")) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Reduce(in, out, wrong ? 1 : 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *fault = argc > 1 ? argv[1] : "none";
    transfers(fault);
    collectives(fault);
    on_objects(fault);
    on_windows(fault);
    if (!strcmp(fault, "sides"))
        sides();
    if (!strcmp(fault, "leaks"))
        leaks();
    else if (!strcmp(fault, "callbacks"))
        callbacks();
    if (!strcmp(fault, "window")) {
        static int memory[4];
        MPI_Win window;
        MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    }
    MPI_Finalize();
    return 0;
}
