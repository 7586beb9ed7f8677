/* Messages by all kinds of calls in both directions of a ring, of which each channel's n-th is 8 + n bytes long and begins with n:
 * so whoever sees one knows which it is. Every rank writes into a file what it has sent and received, with the call that a
 * trace draws it at, that call's number among those of its function, and whether recording was on:
 *
 *     sent DEST TAG N FUNCTION NUMBER ON
 *     received SOURCE TAG N FUNCTION NUMBER ON
 *
 * arrows ROUNDS [off] [pause=MS] [die]
 *
 * `off` switches recording off and on again, on each rank at other moments in the midst of an exchange; `pause` waits in each round;
 * with `die` the last rank is killed in the end. tests/tests/mpi/arrows.rs compares. */
#include "check.h"
#include <signal.h>
#include <unistd.h>

enum { LARGEST = 1 << 14, TAGS = 4 };

#define FUNCTIONS(X) X(Send) X(Isend) X(Issend) X(Start) X(Recv) X(Wait) X(Waitall) X(Test) X(Mrecv) X(Imrecv) X(Irecv) X(Sendrecv)
#define COUNTER(f) static int n_##f;
FUNCTIONS(COUNTER)
#define DO(f, ...) (n_##f++, MPI_##f(__VA_ARGS__))

static int is_on = 1, switches, ticks;
static FILE *list;
static int sent[16][TAGS], received[16][TAGS];
static char out[8][LARGEST], in[2][LARGEST];

/* Between any two calls recording may be switched. */
static void tick(void)
{
    ticks++;
    if (!switches)
        return;
    int at = (ticks + 5 * rank) % 31;
    if (at == 0 || at == 17) {
        is_on = at == 17;
        MPI_Pcontrol(is_on);
    }
}

static void wrote(const char *what, int other, int tag, int n, const char *function, int number)
{
    fprintf(list, "%s %d %d %d %s %d %d\n", what, other, tag, n, function, number, is_on);
}

static int fill(char *buffer, int dest, int tag)
{
    int n = sent[dest][tag]++;
    CHECK(8 + n <= LARGEST);
    memcpy(buffer, &n, sizeof n);
    return n;
}

static void tell_received(const char *buffer, MPI_Status *status, const char *function, int number)
{
    int n, bytes, source = status->MPI_SOURCE, tag = status->MPI_TAG;
    memcpy(&n, buffer, sizeof n);
    MPI_Get_count(status, MPI_CHAR, &bytes);
    CHECK(bytes == 8 + n && n == received[source][tag]);
    received[source][tag]++;
    wrote("received", source, tag, n, function, number);
}

#define SENT(f) wrote("sent", dest, tag, n, "MPI_" #f, n_##f)
#define RECEIVED(buffer, f) tell_received(buffer, &status, "MPI_" #f, n_##f)

static MPI_Request send_one(int how, char *buffer, int dest, int tag)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int n = fill(buffer, dest, tag), bytes = 8 + n;
    tick();
    switch (how % 4) {
    case 0:
        DO(Send, buffer, bytes, MPI_CHAR, dest, tag, MPI_COMM_WORLD);
        SENT(Send);
        break;
    case 1:
        DO(Isend, buffer, bytes, MPI_CHAR, dest, tag, MPI_COMM_WORLD, &request);
        SENT(Isend);
        break;
    case 2:
        DO(Issend, buffer, bytes, MPI_CHAR, dest, tag, MPI_COMM_WORLD, &request);
        SENT(Issend);
        break;
    default:
        MPI_Send_init(buffer, bytes, MPI_CHAR, dest, tag, MPI_COMM_WORLD, &request);
        tick();
        DO(Start, &request);
        SENT(Start);
    }
    return request;
}

/* Receives two messages in one of many ways. */
static void receive_two(int how, int source, int tag)
{
    MPI_Request two[2];
    MPI_Status status, both[2];
    MPI_Message message;
    int flag = 0;
    tick();
    switch (how % 6) {
    case 0:
        for (int i = 0; i < 2; i++) {
            DO(Recv, in[0], LARGEST, MPI_CHAR, source, tag, MPI_COMM_WORLD, &status);
            RECEIVED(in[0], Recv);
            tick();
        }
        break;
    case 1:
        for (int i = 0; i < 2; i++) {
            DO(Irecv, in[0], LARGEST, MPI_CHAR, source, tag, MPI_COMM_WORLD, &two[0]);
            tick();
            DO(Wait, &two[0], &status);
            RECEIVED(in[0], Wait);
        }
        break;
    case 2:
        for (int i = 0; i < 2; i++)
            DO(Irecv, in[i], LARGEST, MPI_CHAR, source, tag, MPI_COMM_WORLD, &two[i]);
        tick();
        DO(Waitall, 2, two, both);
        for (int i = 0; i < 2; i++)
            tell_received(in[i], &both[i], "MPI_Waitall", n_Waitall);
        break;
    case 3:
        DO(Irecv, in[0], LARGEST, MPI_CHAR, source, tag, MPI_COMM_WORLD, &two[0]);
        tick();
        /* Few calls however long the other rank is kept from its processor: windows are told by numbers of calls. */
        for (int us = 50; !flag; us *= 2) {
            DO(Test, &two[0], &flag, &status);
            if (!flag)
                usleep(us);
        }
        RECEIVED(in[0], Test);
        tick();
        MPI_Mprobe(source, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        tick();
        DO(Mrecv, in[0], LARGEST, MPI_CHAR, &message, &status);
        RECEIVED(in[0], Mrecv);
        break;
    case 4:
        MPI_Recv_init(in[0], LARGEST, MPI_CHAR, source, tag, MPI_COMM_WORLD, &two[0]);
        for (int i = 0; i < 2; i++) {
            tick();
            DO(Start, &two[0]);
            tick();
            DO(Wait, &two[0], &status);
            RECEIVED(in[0], Wait);
        }
        MPI_Request_free(&two[0]);
        break;
    default:
        MPI_Mprobe(source, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        DO(Imrecv, in[0], LARGEST, MPI_CHAR, &message, &two[0]);
        tick();
        DO(Wait, &two[0], &status);
        RECEIVED(in[0], Wait);
        DO(Recv, in[0], LARGEST, MPI_CHAR, source, tag, MPI_COMM_WORLD, &status);
        RECEIVED(in[0], Recv);
    }
}

static void round_of(int number)
{
    MPI_Request requests[8];
    int how = number * 4 + rank, to[] = {next, prev};
    /* A neighbour may be a round ahead: its messages of that round must not be taken for those of this one, for which others
     * may wait. */
    int any = number % 2 ? 3 : 1;
    for (int i = 0; i < 8; i++) /* two messages with each tag to each neighbour */
        requests[i] = send_one(how + 3 * i + (i > 3), out[i], to[i % 2], i / 2 % 2 ? any : 0);
    receive_two(how / 4 + rank, prev, 0);
    receive_two(how / 4 + rank + 1, next, 0);
    receive_two(how / 3, MPI_ANY_SOURCE, any);
    receive_two(how / 5 + 2, MPI_ANY_SOURCE, any);
    for (int i = 0; i < 8; i++) {
        tick();
        if (requests[i] == MPI_REQUEST_NULL)
            continue;
        DO(Wait, &requests[i], MPI_STATUS_IGNORE);
        if (requests[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&requests[i]);
    }
    tick();
    MPI_Status status;
    int dest = next, tag = 2, n = fill(out[0], dest, tag);
    DO(Sendrecv, out[0], 8 + n, MPI_CHAR, dest, tag, in[0], LARGEST, MPI_CHAR, prev, tag, MPI_COMM_WORLD, &status);
    SENT(Sendrecv);
    RECEIVED(in[0], Sendrecv);
}

int main(int argc, char **argv)
{
    int pause = 0, dies = 0;
    begin(&argc, &argv);
    CHECK(size <= 16 && argc > 1);
    for (int i = 2; i < argc; i++) {
        switches |= !strcmp(argv[i], "off");
        dies |= !strcmp(argv[i], "die");
        sscanf(argv[i], "pause=%d", &pause);
    }
    char name[32];
    sprintf(name, "messages.%d", rank);
    list = fopen(name, "w");
    CHECK(list);
    for (int i = 0; i < atoi(argv[1]); i++) {
        round_of(i);
        usleep(1000 * pause);
    }
    fclose(list);
    if (dies && rank == size - 1) {
        usleep(300000);
        raise(SIGKILL);
    }
    if (dies)
        MPI_Barrier(MPI_COMM_WORLD);
    if (!is_on)
        MPI_Pcontrol(1);
    return end();
}
