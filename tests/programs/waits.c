/* Ranks wait for each other: one case for each wait state. */
#include "waits.h"

/* Rank 0 sends late; rank 1 waits in the call that completes the receive. */
static void send_late(int bytes)
{
    compute(1);
    CALL(MPI_Send(big, bytes, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
}

static void late_sender(void)
{
    if (rank == 0)
        send_late(8);
    if (rank == 1)
        CALL(MPI_Recv(big, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void late_sender_big(void)
{
    if (rank == 0)
        send_late(BIG);
    if (rank == 1)
        CALL(MPI_Recv(big, BIG, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void late_sender_irecv(void)
{
    MPI_Request request;
    if (rank == 0)
        send_late(8);
    if (rank == 1) {
        MPI_Irecv(big, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &request);
        compute(2);
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

static void late_sender_sendrecv(void)
{
    int to = rank ^ 1;
    if (rank == 0)
        compute(1);
    if (rank < 2)
        CALL(MPI_Sendrecv(big, 8, MPI_BYTE, to, 3, big + 8, 8, MPI_BYTE, to, 3, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
}

/* With a tag of its own: a DUMPI file has no arguments of MPI_Mrecv, and would give its message to the next receive. */
static void late_sender_probe(void)
{
    MPI_Message message;
    MPI_Status status;
    if (rank == 0) {
        compute(1);
        CALL(MPI_Send(big, 8, MPI_BYTE, 1, 4, MPI_COMM_WORLD));
    }
    if (rank == 1) {
        CALL(MPI_Mprobe(0, 4, MPI_COMM_WORLD, &message, &status));
        MPI_Mrecv(big, 8, MPI_BYTE, &message, &status);
    }
}

static void late_sender_persistent(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Send_init(big, 8, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &request);
        compute(1);
        begins[round_number] = now();
        MPI_Start(&request);
        ends[round_number] = now();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
    if (rank == 1) {
        MPI_Recv_init(big, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
        MPI_Request_free(&request);
    }
}

static void late_receiver(void)
{
    if (rank == 0)
        CALL(MPI_Send(big, BIG, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
    if (rank == 1) {
        compute(1);
        CALL(MPI_Recv(big, BIG, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

static void late_receiver_ssend(void)
{
    if (rank == 0)
        CALL(MPI_Ssend(big, 8, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
    if (rank == 1) {
        compute(1);
        CALL(MPI_Recv(big, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

static void late_receiver_isend(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(big, BIG, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &request);
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    if (rank == 1) {
        compute(1);
        CALL(MPI_Recv(big, BIG, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

static void barrier(void)
{
    compute(rank + 1);
    CALL(MPI_Barrier(MPI_COMM_WORLD));
}

static void allreduce(void)
{
    int in = 1, out;
    late_to(2);
    CALL(MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

static void iallreduce(void)
{
    int in = 1, out;
    MPI_Request request;
    late_to(2);
    if (rank == 2)
        begins[round_number] = now();
    MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank != 2)
        begins[round_number] = now();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    ends[round_number] = now();
}

static void bcast_from(int root, int late)
{
    int data = 0;
    late_to(late);
    CALL(MPI_Bcast(&data, 1, MPI_INT, root, MPI_COMM_WORLD));
}

static void reduce_to(int root, int late)
{
    int in = 1, out;
    late_to(late);
    CALL(MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
}

static void bcast(void) { bcast_from(0, 0); }
static void bcast_of_2(void) { bcast_from(2, 2); }
static void bcast_leaf(void) { bcast_from(0, 3); }
static void reduce(void) { reduce_to(0, 2); }
static void reduce_root(void) { reduce_to(0, 0); }

static void scan(void)
{
    int in = 1, out;
    late_to(1);
    CALL(MPI_Scan(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

/* Two halves, of which one has a late rank. */
static void subcommunicator(void)
{
    int in = 1, out;
    MPI_Comm half = own_half();
    late_to(2);
    CALL(MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, half));
}

/* Each half has a file of its own. The odd ones have written once more, each to a file that only it has: what belongs together is not
 * the nth call of every rank. */
static void file(void)
{
    MPI_File file;
    MPI_Comm half = own_half();
    const char *name = rank % 2 ? "waits.odd" : "waits.even";
    MPI_File_open(half, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    if (rank % 2) {
        MPI_File alone;
        MPI_File_open(MPI_COMM_SELF, rank == 1 ? "waits.1" : "waits.3",
                      MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &alone);
        MPI_File_write_at_all(alone, 0, big, 8, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_close(&alone);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    late_to(2);
    CALL(MPI_File_write_at_all(file, 8 * rank, big, 8, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_File_close(&file);
}

/* A file in which the ranks' pieces of so many bytes stand between each other. */
static MPI_File opened(const char *name, int bytes, const char *hint)
{
    MPI_File file;
    MPI_Datatype piece, mine;
    MPI_Info info;
    MPI_Info_create(&info);
    if (hint) {
        MPI_Info_set(info, "romio_cb_write", hint);
        MPI_Info_set(info, "romio_ds_write", "disable");
    }
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
    MPI_Type_contiguous(bytes, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)size * bytes, &mine);
    MPI_Type_commit(&mine);
    MPI_File_set_view(file, (MPI_Offset)bytes * rank, MPI_BYTE, mine, "native", info);
    MPI_Type_free(&mine);
    MPI_Type_free(&piece);
    MPI_Info_free(&info);
    MPI_Barrier(MPI_COMM_WORLD);
    return file;
}

/* A collective write that a hint or a setting makes independent: ranks write their pieces whether the last one has come or not. */
static void file_alone(void)
{
    static MPI_File file;
    if (round_number == 0)
        file = opened("alone", 64, "disable");
    late_to(3);
    CALL(MPI_File_write_at_all(file, 0, big, BIG, MPI_BYTE, MPI_STATUS_IGNORE));
}

/* A collective write that another call completes. */
static void file_nonblocking(void)
{
    static MPI_File file;
    MPI_Request request;
    if (round_number == 0)
        file = opened("nonblocking", 256, NULL);
    late_to(3);
    CALL({
        MPI_File_iwrite_at_all(file, 0, big, 1 << 14, MPI_BYTE, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
}

/* The same with windows. */
static void window(void)
{
    MPI_Win window;
    MPI_Win_create(big, 8, 1, MPI_INFO_NULL, own_half(), &window);
    if (rank % 2) {
        MPI_Win alone;
        MPI_Win_create(big + 8, 8, 1, MPI_INFO_NULL, MPI_COMM_SELF, &alone);
        MPI_Win_fence(0, alone);
        MPI_Win_free(&alone);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    late_to(2);
    CALL(MPI_Win_fence(0, window));
    MPI_Win_free(&window);
}

/* Every rank computes, and sends on what it got. Begins are those of the sends, ends those of the receives: ranks wait from the end
 * of the barrier on. */
static void chain(void)
{
    if (rank > 0)
        MPI_Recv(big, 8, MPI_BYTE, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ends[round_number] = now();
    compute(1);
    begins[round_number] = now();
    if (rank + 1 < size)
        MPI_Send(big, 8, MPI_BYTE, rank + 1, 3, MPI_COMM_WORLD);
}

/* Nobody waits. */
static void none(void)
{
    CALL(MPI_Barrier(MPI_COMM_WORLD));
}

static const struct wait_case CASES[] = {
    {"late-sender", late_sender},
    {"late-sender-big", late_sender_big},
    {"late-sender-irecv", late_sender_irecv},
    {"late-sender-sendrecv", late_sender_sendrecv},
    {"late-sender-probe", late_sender_probe},
    {"late-sender-persistent", late_sender_persistent},
    {"late-receiver", late_receiver},
    {"late-receiver-ssend", late_receiver_ssend},
    {"late-receiver-isend", late_receiver_isend},
    {"barrier", barrier},
    {"allreduce", allreduce},
    {"iallreduce", iallreduce},
    {"bcast", bcast},
    {"bcast-of-2", bcast_of_2},
    {"bcast-leaf", bcast_leaf},
    {"reduce", reduce},
    {"reduce-root", reduce_root},
    {"scan", scan},
    {"subcommunicator", subcommunicator},
    {"file", file},
    {"file-alone", file_alone},
    {"file-nonblocking", file_nonblocking},
    {"window", window},
    {"chain", chain},
    {"none", none},
};

int main(int argc, char **argv)
{
    return run_cases(argc, argv, CASES, sizeof CASES / sizeof *CASES);
}
