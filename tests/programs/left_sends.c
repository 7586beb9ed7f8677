/* Sends that MPI_Finalize has to end: rank 0 comes there at once, and rank 1 receives later, which takes both, as the message
 * is large. The argument is `bsend` or `freed`, a send whose request is freed. */
#include "check.h"
#include <unistd.h>

enum { BYTES = 8 << 20 };

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    char *bytes = malloc(BYTES), *buffer = malloc(BYTES + MPI_BSEND_OVERHEAD);
    memset(bytes, rank == 0 ? 7 : 0, BYTES);
    if (rank == 0 && strcmp(argv[1], "bsend") == 0) {
        MPI_Buffer_attach(buffer, BYTES + MPI_BSEND_OVERHEAD);
        MPI_Bsend(bytes, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Request request;
        MPI_Isend(bytes, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    } else {
        usleep(500000);
        MPI_Recv(bytes, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(bytes[0] == 7 && bytes[BYTES - 1] == 7);
    }
    MPI_Finalize();
    if (rank == 1)
        printf("ok\n");
    return 0;
}
