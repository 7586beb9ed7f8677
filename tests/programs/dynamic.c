/* MPI 5.0 section 11.7 and 11.8: started and connected processes. The started ones are this program with an argument. */
#include "check.h"
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static int child(void)
{
    MPI_Comm parent, merged;
    int value = -1, sum = 0;
    unsetenv("TALLY_DIR"); /* the tally is that of the first world */
    MPI_Comm_get_parent(&parent);
    CHECK(parent != MPI_COMM_NULL);
    MPI_Bcast(&value, 1, MPI_INT, 0, parent);
    CHECK(value == 77);
    MPI_Intercomm_merge(parent, 1, &merged);
    value = 1;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, merged);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}

static void started(const char *program, int how)
{
    MPI_Comm children, merged;
    int errors[2], value = 77, sum = 0, one = 1;
    char *arguments[] = {"child", NULL}, *commands[] = {(char *)program, (char *)program};
    char **argument_lists[] = {arguments, arguments};
    int processes[] = {1, 1};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    if (how == 0)
        MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, errors);
    else
        MPI_Comm_spawn_multiple(2, commands, argument_lists, processes, infos, 0, MPI_COMM_WORLD, &children,
                                MPI_ERRCODES_IGNORE);
    MPI_Bcast(&value, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children);
    MPI_Intercomm_merge(children, 0, &merged);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged);
    CHECK(sum == size + 2);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&children);
}

/* Ranks 0 and 1 meet through a port, then through a socket. */
static void connected(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    const char *service = "tests/dynamic";
    MPI_Comm other;
    int got = -1;
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name(service, MPI_INFO_NULL, port);
        MPI_Send(NULL, 0, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    } else {
        MPI_Recv(NULL, 0, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Lookup_name(service, MPI_INFO_NULL, port);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    }
    MPI_Sendrecv(&rank, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, other, MPI_STATUS_IGNORE);
    CHECK(got == 1 - rank);
    MPI_Comm_disconnect(&other);
    if (rank == 0) {
        MPI_Unpublish_name(service, MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
}

/* Two ranks with a socket between them, which here is a TCP connection on this machine. */
static void joined(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0), got = -1;
    MPI_Comm other;
    if (rank == 0) {
        int listening = fd;
        CHECK(bind(listening, (struct sockaddr *)&address, length) == 0 && listen(listening, 1) == 0);
        CHECK(getsockname(listening, (struct sockaddr *)&address, &length) == 0);
        MPI_Send(&address, sizeof address, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
        fd = accept(listening, NULL, NULL);
        close(listening);
    } else {
        MPI_Recv(&address, sizeof address, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(connect(fd, (struct sockaddr *)&address, length) == 0);
    }
    MPI_Comm_join(fd, &other);
    if (other != MPI_COMM_NULL) {
        MPI_Sendrecv(&rank, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, other, MPI_STATUS_IGNORE);
        CHECK(got == 1 - rank);
        MPI_Comm_disconnect(&other);
    }
    close(fd);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (argc > 1)
        return child();
    started(argv[0], 0);
    started(argv[0], 1);
    if (size > 1 && rank < 2) {
        connected();
        joined();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
