/* random_calls SEED STEPS: a program that is right, made of steps drawn at random. All ranks draw the same steps (`common`), and each draws by itself
 * how it does them and when (`own`): with which function it sends, waits or probes. In the end each rank writes `messages.RANK` with a line for each
 * message that it has sent: the other rank in MPI_COMM_WORLD, bytes, tag. No two messages have the same number of bytes. */
#include "check.h"
#include <unistd.h>

enum { PLACES = 10, MOST_RANKS = 16, ROOM = 1 << 16, BATCH = 12 };

/* The communicators that there are, at the same place on all ranks; MPI_COMM_NULL on those that are not in it. */
static struct place {
    MPI_Comm comm;
    int rank, size, world[MOST_RANKS];
} places[PLACES];

static FILE *messages;
static char out[ROOM], in[2 * BATCH][ROOM];
static int next_size = 1;

/* --- numbers at random ---------------------------------------------------------------------------------------------- */

static unsigned long long common_state, own_state;

static int drawn(unsigned long long *state, int below)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((*state >> 33) % (unsigned)below);
}

/* The same number on all ranks, if all call it as often. */
static int common(int below)
{
    return drawn(&common_state, below);
}

static int own(int below)
{
    return drawn(&own_state, below);
}

static void dawdle(void)
{
    if (own(4) == 0)
        usleep(own(300));
}

/* --- communicators -------------------------------------------------------------------------------------------------- */

/* Puts a communicator into a place. */
static void put(struct place *place, MPI_Comm comm)
{
    int ranks[MOST_RANKS];
    MPI_Group group, world;
    place->comm = comm;
    place->size = 0;
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(comm, &place->rank);
    MPI_Comm_size(comm, &place->size);
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < place->size; i++)
        ranks[i] = i;
    MPI_Group_translate_ranks(group, place->size, ranks, world, place->world);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

static struct place *any_place(void)
{
    return &places[common(PLACES)];
}

static int is_in(const struct place *place)
{
    return place->comm != MPI_COMM_NULL;
}

/* A part of a communicator's group: those whose rank and `shift` are no multiple of `of`, the last one first if `turned`. */
static int part_of(const struct place *place, int shift, int of, int turned, MPI_Group *part)
{
    int ranks[MOST_RANKS], n = 0;
    MPI_Group group;
    for (int i = 0; i < place->size; i++) {
        int member = turned ? place->size - 1 - i : i;
        if ((member + shift) % of)
            ranks[n++] = member;
    }
    MPI_Comm_group(place->comm, &group);
    MPI_Group_incl(group, n, ranks, part);
    MPI_Group_free(&group);
    return (place->rank + shift) % of != 0;
}

/* Makes a communicator out of another one, in the place of a third. The first two places stay. */
static void make_communicator(void)
{
    struct place *from = any_place(), *to = &places[2 + common(PLACES - 2)];
    int way = common(6), shift = common(64), keys = common(64);
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request;
    MPI_Group part;
    if (from == to)
        return;
    if (is_in(to)) {
        MPI_Comm_free(&to->comm);
        put(to, MPI_COMM_NULL);
    }
    if (!is_in(from))
        return;
    switch (way) {
    case 0:
        MPI_Comm_dup(from->comm, &made);
        break;
    case 1: {
        int color = (from->rank * 7 + shift) % 3 == 0 ? MPI_UNDEFINED : (from->rank + shift) % 2;
        MPI_Comm_split(from->comm, color, from->rank * keys % 5, &made);
        break;
    }
    case 2:
        part_of(from, shift, 3, 1, &part);
        MPI_Comm_create(from->comm, part, &made);
        MPI_Group_free(&part);
        break;
    case 3: {
        int dims[1] = {from->size}, periods[1] = {1};
        MPI_Cart_create(from->comm, 1, dims, periods, 0, &made);
        break;
    }
    case 4:
        MPI_Comm_idup(from->comm, &made, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case 5:
        if (part_of(from, shift, 2, 0, &part))
            MPI_Comm_create_group(from->comm, part, shift, &made);
        MPI_Group_free(&part);
        break;
    }
    put(to, made);
}

/* --- messages ------------------------------------------------------------------------------------------------------- */

static void note_message(const struct place *place, int to, int bytes, int tag)
{
    fprintf(messages, "%d %d %d\n", place->world[to], bytes, tag);
}

static void send(const struct place *place, int to, int bytes, int tag)
{
    MPI_Comm comm = place->comm;
    MPI_Request request = MPI_REQUEST_NULL;
    int done = 0, index;
    note_message(place, to, bytes, tag);
    switch (own(8)) {
    case 0:
        MPI_Send(out, bytes, MPI_BYTE, to, tag, comm);
        break;
    case 1:
        MPI_Ssend(out, bytes, MPI_BYTE, to, tag, comm);
        break;
    case 2:
        MPI_Bsend(out, bytes, MPI_CHAR, to, tag, comm);
        break;
    case 3:
        MPI_Isend(out, bytes, MPI_BYTE, to, tag, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case 4:
        MPI_Isend(out, bytes, MPI_BYTE, to, tag, comm, &request);
        while (!done)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        break;
    case 5:
        MPI_Send_init(out, bytes, MPI_BYTE, to, tag, comm, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        break;
    case 6:
        MPI_Issend(out, bytes, MPI_BYTE, to, tag, comm, &request);
        MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
        break;
    case 7:
        MPI_Ibsend(out, bytes, MPI_BYTE, to, tag, comm, &request);
        MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE);
        break;
    }
}

static void receive(const struct place *place, int from, int tag)
{
    MPI_Comm comm = place->comm;
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    int done = 0, index;
    switch (own(9)) {
    case 0:
        MPI_Recv(in[0], ROOM, MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Irecv(in[0], ROOM, MPI_BYTE, from, tag, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Irecv(in[0], ROOM, MPI_BYTE, from, tag, comm, &request);
        while (!done)
            MPI_Test(&request, &done, &status);
        break;
    case 3:
        MPI_Probe(from, tag, comm, &status);
        MPI_Recv(in[0], ROOM, MPI_BYTE, from, tag, comm, &status);
        break;
    case 4:
        while (!done)
            MPI_Iprobe(from, tag, comm, &done, &status);
        MPI_Recv(in[0], ROOM, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
        break;
    case 5:
        MPI_Mprobe(from, tag, comm, &message, &status);
        MPI_Mrecv(in[0], ROOM, MPI_BYTE, &message, &status);
        break;
    case 6:
        while (!done)
            MPI_Improbe(from, tag, comm, &done, &message, MPI_STATUS_IGNORE);
        MPI_Imrecv(in[0], ROOM, MPI_BYTE, &message, &request);
        MPI_Wait(&request, &status);
        break;
    case 7:
        MPI_Recv_init(in[0], ROOM, MPI_BYTE, from, tag, comm, &request);
        MPI_Start(&request);
        MPI_Wait(&request, &status);
        MPI_Request_free(&request);
        break;
    case 8:
        MPI_Irecv(in[0], ROOM, MPI_BYTE, from, tag, comm, &request);
        MPI_Waitsome(1, &request, &index, &done, MPI_STATUSES_IGNORE);
        break;
    }
}

static void one_message(void)
{
    struct place *place = any_place();
    int from = common(64), to = common(64), tag = common(100), bytes = next_size++;
    if (!is_in(place) || place->size < 2)
        return;
    from %= place->size;
    to %= place->size;
    if (to == from)
        to = (from + 1) % place->size;
    if (place->rank == from)
        send(place, to, bytes, tag);
    else if (place->rank == to)
        receive(place, from, tag);
}

static void complete(MPI_Request *requests, int n)
{
    MPI_Status statuses[2 * BATCH];
    int done = 0, index, some, indices[2 * BATCH], left = n;
    switch (own(6)) {
    case 0:
        MPI_Waitall(n, requests, statuses);
        break;
    case 1:
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
        break;
    case 2:
        while (left-- > 0)
            MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE);
        break;
    case 3:
        for (; left > 0; left -= some)
            MPI_Waitsome(n, requests, &some, indices, own(2) ? statuses : MPI_STATUSES_IGNORE);
        break;
    case 4:
        while (!done)
            MPI_Testall(n, requests, &done, statuses);
        break;
    case 5:
        while (left > 0) {
            if (own(2)) {
                MPI_Testany(n, requests, &index, &done, statuses);
                left -= done && index != MPI_UNDEFINED;
            } else {
                MPI_Testsome(n, requests, &some, indices, statuses);
                left -= some > 0 ? some : 0;
            }
        }
        break;
    }
}

/* Several messages at once, often several of one channel; from anyone if `wild`, and then nobody goes on before all have theirs. */
static void several_messages(void)
{
    struct place *place = any_place();
    int n = 1 + common(BATCH), wild = common(2), from[BATCH], to[BATCH], tag[BATCH], requested = 0;
    MPI_Request requests[2 * BATCH];
    int first = next_size;
    next_size += n;
    for (int i = 0; i < n; i++) {
        from[i] = common(64);
        to[i] = common(64);
        tag[i] = common(3);
    }
    if (!is_in(place))
        return;
    for (int i = 0; i < n; i++) {
        int source = from[i] % place->size, dest = to[i] % place->size;
        if (place->rank == dest) {
            MPI_Irecv(in[requested], ROOM, MPI_BYTE, wild ? MPI_ANY_SOURCE : source, wild ? MPI_ANY_TAG : tag[i],
                      place->comm, &requests[requested]);
            requested++;
        }
        if (place->rank == source) {
            note_message(place, dest, first + i, tag[i]);
            MPI_Isend(out, first + i, MPI_BYTE, dest, tag[i], place->comm, &requests[requested]);
            requested++;
        }
    }
    dawdle();
    complete(requests, requested);
    if (wild)
        MPI_Barrier(place->comm);
}

/* Messages of one size: each rank's goes to another one. */
static void round_trip(void)
{
    struct place *place = any_place();
    int tag = common(9), way = common(2), by = 1 + common(4), bytes = next_size++;
    if (!is_in(place))
        return;
    int to = (place->rank + by) % place->size, from = (place->rank + place->size - by % place->size) % place->size;
    note_message(place, to, bytes, tag);
    if (way)
        MPI_Sendrecv(out, bytes, MPI_BYTE, to, tag, in[0], ROOM, MPI_BYTE, from, tag, place->comm, MPI_STATUS_IGNORE);
    else
        MPI_Sendrecv_replace(in[0], bytes, MPI_BYTE, to, tag, from, tag, place->comm, MPI_STATUS_IGNORE);
}

/* What is no message. */
static void no_message(void)
{
    struct place *place = any_place();
    MPI_Request request;
    MPI_Status status;
    int cancelled;
    if (!is_in(place))
        return;
    switch (own(5)) {
    case 0:
        MPI_Send(out, 7, MPI_BYTE, MPI_PROC_NULL, 3, place->comm);
        break;
    case 1:
        MPI_Recv(in[0], 7, MPI_BYTE, MPI_PROC_NULL, 3, place->comm, &status);
        break;
    case 2:
        MPI_Isend(out, 7, MPI_BYTE, MPI_PROC_NULL, 3, place->comm, &request);
        MPI_Wait(&request, &status);
        break;
    case 3:
        MPI_Irecv(in[0], 7, MPI_BYTE, MPI_PROC_NULL, 3, place->comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case 4: /* nobody sends with this tag */
        MPI_Irecv(in[0], 7, MPI_BYTE, 0, 9999, place->comm, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &cancelled);
        CHECK(cancelled);
        break;
    }
}

/* --- collective calls ----------------------------------------------------------------------------------------------- */

static void collective(void)
{
    struct place *place = any_place();
    int which = common(12), n = 1 + common(50), root = common(64), blocks = common(2);
    int counts[MOST_RANKS], starts[MOST_RANKS];
    MPI_Request request = MPI_REQUEST_NULL;
    if (!is_in(place))
        return;
    MPI_Comm comm = place->comm;
    for (int i = 0; i < MOST_RANKS; i++) {
        counts[i] = n + i;
        starts[i] = 100 * i;
    }
    root %= place->size;
    dawdle();
#define EITHER(BLOCKING, NONBLOCKING, ...)                                                              \
    do {                                                                                                \
        if (blocks)                                                                                     \
            BLOCKING(__VA_ARGS__, comm);                                                                \
        else                                                                                            \
            NONBLOCKING(__VA_ARGS__, comm, &request);                                                   \
    } while (0)
    int *from = (int *)out, *to = (int *)in[0];
    switch (which) {
    case 0:
        if (blocks)
            MPI_Barrier(comm);
        else
            MPI_Ibarrier(comm, &request);
        break;
    case 1:
        EITHER(MPI_Bcast, MPI_Ibcast, to, n, MPI_INT, root);
        break;
    case 2:
        EITHER(MPI_Reduce, MPI_Ireduce, from, to, n, MPI_INT, MPI_SUM, root);
        break;
    case 3:
        EITHER(MPI_Allreduce, MPI_Iallreduce, from, to, n, MPI_INT, MPI_SUM);
        break;
    case 4:
        EITHER(MPI_Gather, MPI_Igather, from, n, MPI_INT, to, n, MPI_INT, root);
        break;
    case 5:
        EITHER(MPI_Gatherv, MPI_Igatherv, from, counts[place->rank], MPI_INT, to, counts, starts, MPI_INT, root);
        break;
    case 6:
        EITHER(MPI_Scatterv, MPI_Iscatterv, from, counts, starts, MPI_INT, to, counts[place->rank], MPI_INT, root);
        break;
    case 7:
        EITHER(MPI_Allgather, MPI_Iallgather, from, n, MPI_INT, to, n, MPI_INT);
        break;
    case 8:
        EITHER(MPI_Alltoall, MPI_Ialltoall, from, n, MPI_INT, to, n, MPI_INT);
        break;
    case 9:
        EITHER(MPI_Reduce_scatter, MPI_Ireduce_scatter, from, to, counts, MPI_INT, MPI_SUM);
        break;
    case 10:
        EITHER(MPI_Scan, MPI_Iscan, from, to, n, MPI_INT, MPI_SUM);
        break;
    case 11:
        EITHER(MPI_Exscan, MPI_Iexscan, from, to, n, MPI_INT, MPI_SUM);
        break;
    }
    if (!blocks)
        complete(&request, 1);
}

/* Two halves of all ranks, and what they say to each other. */
static void across(void)
{
    int shift = common(2), bytes = next_size++, n = 1 + common(20), high = common(2), inter_rank;
    MPI_Comm half, inter, all;
    if (size < 2)
        return;
    int side = (rank + shift) % 2, leader = side == shift ? 0 : 1;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - leader, 77, &inter);
    MPI_Comm_rank(inter, &inter_rank);
    if (inter_rank == 0 && side) {
        fprintf(messages, "%d %d %d\n", 1 - leader, bytes, 5);
        MPI_Send(out, bytes, MPI_BYTE, 0, 5, inter);
    } else if (inter_rank == 0) {
        MPI_Recv(in[0], ROOM, MPI_BYTE, 0, 5, inter, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(inter);
    MPI_Allreduce(out, in[0], n, MPI_INT, MPI_SUM, inter);
    MPI_Intercomm_merge(inter, side == high, &all);
    MPI_Barrier(all);
    MPI_Comm_free(&all);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* --- windows and files ---------------------------------------------------------------------------------------------- */

static void window(void)
{
    struct place *place = any_place();
    int way = common(3), target = common(64), n = 1 + common(30), one = 1, before, *memory;
    MPI_Win win;
    if (!is_in(place) || place->size < 2) /* Open MPI 4.1 makes no window of one rank */
        return;
    target %= place->size;
    MPI_Win_allocate(4096, sizeof *memory, MPI_INFO_NULL, place->comm, &memory, &win);
    switch (way) {
    case 0:
        MPI_Win_fence(0, win);
        MPI_Put(out, n, MPI_INT, target, 0, n, MPI_INT, win);
        MPI_Get(in[0], n, MPI_INT, (target + 1) % place->size, 100, n, MPI_INT, win);
        MPI_Win_fence(0, win);
        break;
    case 1:
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        MPI_Accumulate(out, n, MPI_INT, target, 0, n, MPI_INT, MPI_SUM, win);
        MPI_Win_unlock(target, win);
        break;
    case 2:
        MPI_Win_lock_all(0, win);
        MPI_Fetch_and_op(&one, &before, MPI_INT, target, 5, MPI_SUM, win);
        MPI_Win_flush(target, win);
        MPI_Win_unlock_all(win);
        break;
    }
    MPI_Win_free(&win);
}

static void file(void)
{
    struct place *place = any_place();
    int way = common(5), n = 1 + common(3000), which = (int)(place - places);
    char name[64];
    MPI_File file;
    MPI_Request request;
    MPI_Status status;
    if (!is_in(place))
        return;
    snprintf(name, sizeof name, "file.%d.%d", which, place->world[0]);
    MPI_File_open(place->comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_Offset at = (MPI_Offset)place->rank * n;
    switch (way) {
    case 0:
        MPI_File_write_at(file, at, out, n, MPI_BYTE, &status);
        break;
    case 1:
        MPI_File_write_at_all(file, at, out, n, MPI_BYTE, &status);
        MPI_File_read_at_all(file, at, in[0], n, MPI_BYTE, MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_File_set_view(file, at, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
        MPI_File_write(file, out, n, MPI_BYTE, &status);
        MPI_File_seek(file, 0, MPI_SEEK_SET);
        MPI_File_read(file, in[0], n, MPI_BYTE, &status);
        break;
    case 3:
        MPI_File_iwrite_at(file, at, out, n, MPI_BYTE, &request);
        MPI_Wait(&request, &status);
        break;
    case 4:
        MPI_File_write_at_all_begin(file, at, out, n, MPI_BYTE);
        MPI_File_write_at_all_end(file, out, &status);
        break;
    }
    MPI_File_close(&file);
}

/* --- the run -------------------------------------------------------------------------------------------------------- */

static void (*const steps[])(void) = {
    one_message, one_message, one_message, one_message, several_messages, several_messages, round_trip,
    no_message,  collective,  collective,  collective,  make_communicator, make_communicator, across,
    window,      file,
};

int main(int argc, char **argv)
{
    static char buffer[1 << 20];
    char name[32];
    void *detached;
    int bytes;
    begin(&argc, &argv);
    CHECK(argc == 3 && size <= MOST_RANKS);
    unsigned long long seed = strtoull(argv[1], NULL, 10);
    common_state = seed * 2654435761u + 1;
    own_state = seed * 31 + (unsigned)rank * 1000003u + 7;
    snprintf(name, sizeof name, "messages.%d", rank);
    messages = fopen(name, "w");
    CHECK(messages);
    MPI_Buffer_attach(buffer, sizeof buffer);
    for (int i = 0; i < PLACES; i++)
        put(&places[i], MPI_COMM_NULL);
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    put(&places[0], MPI_COMM_WORLD);
    put(&places[1], copy);
    for (int n = atoi(argv[2]); n > 0; n--)
        steps[common(sizeof steps / sizeof *steps)]();
    for (int i = 1; i < PLACES; i++)
        if (is_in(&places[i]))
            MPI_Comm_free(&places[i].comm);
    MPI_Buffer_detach(&detached, &bytes);
    CHECK(fclose(messages) == 0);
    return end();
}
