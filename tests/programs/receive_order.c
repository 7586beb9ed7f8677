/* Receives that are completed in another order than they were posted. Ranks 1 and 2 send messages to rank 0, each of another length, which stands in it, too.
 * Rank 0 posts receives of all kinds and completes them one by one, in an order of its own. It prints each message where it is completed:
 *
 *     SOURCE TAG BYTES
 *
 * Some messages nobody prints: those of receives that were freed before they were completed. tests/tests/mpi/receive_order.rs compares. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 40, EACH = 4, TAGS = 2, LARGEST = 512, RECEIVES = 2 * EACH * TAGS };

static char in[RECEIVES][LARGEST], out[LARGEST], freed[LARGEST];
static unsigned drawn = 12345;

static int draw(int below)
{
    drawn = drawn * 1103515245u + 12345u;
    return (int)(drawn >> 16) % below;
}

static void tell(const char *buffer, const MPI_Status *status)
{
    int bytes;
    memcpy(&bytes, buffer, sizeof bytes);
    printf("%d %d %d\n", status->MPI_SOURCE, status->MPI_TAG, bytes);
}

static void send(int tag, int number)
{
    int bytes = 8 + number;
    memcpy(out, &bytes, sizeof bytes);
    MPI_Send(out, bytes, MPI_CHAR, 0, tag, MPI_COMM_WORLD);
}

/* The senders agree with the receiver on nothing but the number of messages of each tag. */
static void send_all(int round)
{
    for (int nth = 0; nth < EACH; nth++)
        for (int tag = 0; tag < TAGS; tag++)
            send(tag, (round * EACH + nth) * TAGS + tag);
}

/* Receives one message of each source and tag by calls that post and complete, while others are under way. */
static void receive_between(void)
{
    for (int source = 1; source <= 2; source++)
        for (int tag = 0; tag < TAGS; tag++) {
            MPI_Status status;
            MPI_Recv(out, LARGEST, MPI_CHAR, source, tag, MPI_COMM_WORLD, &status);
            tell(out, &status);
        }
}

/* The message is taken out of matching, and received behind others. */
static void receive_matched(void)
{
    MPI_Message matched[2];
    MPI_Status status;
    for (int source = 1; source <= 2; source++)
        MPI_Mprobe(source, 0, MPI_COMM_WORLD, &matched[source - 1], &status);
    MPI_Recv(out, LARGEST, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &status);
    tell(out, &status);
    for (int source = 2; source >= 1; source--) {
        MPI_Mrecv(out, LARGEST, MPI_CHAR, &matched[source - 1], &status);
        tell(out, &status);
    }
}

static void complete(MPI_Request *requests, int number)
{
    for (int left = number; left > 0; left--) {
        int at = draw(number);
        while (requests[at] == MPI_REQUEST_NULL)
            at = (at + 1) % number;
        MPI_Status status;
        MPI_Wait(&requests[at], &status);
        tell(in[at], &status);
    }
}

/* As many receives as there are messages left; with wildcards, those of any source come first, so that they find something whatever the others get. */
static void receive(int left[2][TAGS], int wildcards)
{
    MPI_Request requests[RECEIVES];
    int posted = 0;
    for (int nth = 0; nth < EACH; nth++)
        for (int source = 1; source <= 2; source++)
            for (int tag = 0; tag < TAGS; tag++) {
                if (left[source - 1][tag] <= nth)
                    continue;
                int from = wildcards == 1 ? MPI_ANY_SOURCE : source;
                int with = wildcards == 2 ? MPI_ANY_TAG : tag;
                MPI_Irecv(in[posted], LARGEST, MPI_CHAR, from, with, MPI_COMM_WORLD, &requests[posted]);
                posted++;
            }
    complete(requests, posted);
}

static void receive_all(int round)
{
    int left[2][TAGS] = { { EACH, EACH }, { EACH, EACH } };
    MPI_Request pending[2 * TAGS], gone;
    switch (round % 8) {
    case 0: /* one receive of each channel waits for the end */
    case 1:
        for (int i = 0; i < 2 * TAGS; i++)
            MPI_Irecv(in[RECEIVES - 1 - i], LARGEST, MPI_CHAR, round % 8 ? MPI_ANY_SOURCE : 1 + i / TAGS, i % TAGS, MPI_COMM_WORLD, &pending[i]);
        for (int i = 0; i < 2 * TAGS; i++)
            left[i / TAGS][i % TAGS]--;
        if (round % 8 == 0) {
            receive_between();
            for (int i = 0; i < 2 * TAGS; i++)
                left[i / TAGS][i % TAGS]--;
            receive(left, 0);
        } else {
            receive(left, 1);
        }
        for (int i = 2 * TAGS - 1; i >= 0; i--) {
            MPI_Status status;
            MPI_Wait(&pending[i], &status);
            tell(in[RECEIVES - 1 - i], &status);
        }
        return;
    case 2: /* a receive that is freed gets a message, too */
        MPI_Irecv(freed, LARGEST, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &gone);
        MPI_Request_free(&gone);
        left[0][0]--;
        receive(left, 0);
        return;
    case 3:
        receive_matched();
        left[0][0] -= 2, left[1][0]--;
        receive(left, 0);
        return;
    case 4: /* a receive that is cancelled gets none: nothing has been sent to it */
        MPI_Irecv(freed, LARGEST, MPI_CHAR, 1, TAGS, MPI_COMM_WORLD, &gone);
        MPI_Cancel(&gone);
        MPI_Wait(&gone, MPI_STATUS_IGNORE);
        receive(left, 0);
        return;
    case 5: /* persistent */
        for (int i = 0; i < 2 * TAGS; i++)
            MPI_Recv_init(in[i], LARGEST, MPI_CHAR, 1 + i / TAGS, i % TAGS, MPI_COMM_WORLD, &pending[i]);
        for (int nth = 0; nth < EACH; nth++) {
            MPI_Startall(2 * TAGS, pending);
            for (int i = 2 * TAGS - 1; i >= 0; i--) {
                MPI_Status status;
                MPI_Wait(&pending[i], &status);
                tell(in[i], &status);
            }
        }
        for (int i = 0; i < 2 * TAGS; i++)
            MPI_Request_free(&pending[i]);
        return;
    default:
        receive(left, round % 8 == 6 ? 0 : 2);
    }
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < ROUNDS; round++) {
        if (rank == 0)
            receive_all(round);
        else
            send_all(round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
