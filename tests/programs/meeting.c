/* A world of one rank that starts two others of two, which then meet each other: the first opens a port, whose name goes to
 * the second by way of the world between them. Ten messages go each way between each two ranks that meet. */
#include "check.h"

static void port_name(MPI_Comm comm, char *port, int sends)
{
    if (sends)
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 5, comm);
    else
        MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 5, comm, MPI_STATUS_IGNORE);
}

static void started(int opens)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm parent, other;
    MPI_Comm_get_parent(&parent);
    if (rank == 0 && opens)
        MPI_Open_port(MPI_INFO_NULL, port);
    if (rank == 0)
        port_name(parent, port, opens);
    if (opens)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
    for (int i = 0; i < 10; i++)
        for (int k = 0; k < 2; k++) {
            int in = -1;
            MPI_Sendrecv(&rank, 1, MPI_INT, k, i, &in, 1, MPI_INT, k, i, other, MPI_STATUS_IGNORE);
            CHECK(in == k);
        }
    MPI_Comm_disconnect(&other);
    if (rank == 0 && opens)
        MPI_Close_port(port);
    MPI_Comm_disconnect(&parent);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm worlds[2];
    if (argc > 1)
        unsetenv("TALLY_DIR"); /* the tally is that of the first world */
    begin(&argc, &argv);
    if (argc > 1) {
        started(strcmp(argv[1], "opens") == 0);
        MPI_Finalize();
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        char *arguments[] = {i == 0 ? "opens" : "connects", NULL};
        MPI_Comm_spawn(argv[0], arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &worlds[i], MPI_ERRCODES_IGNORE);
    }
    port_name(worlds[0], port, 0);
    port_name(worlds[1], port, 1);
    MPI_Comm_disconnect(&worlds[0]);
    MPI_Comm_disconnect(&worlds[1]);
    return end();
}
