/* A rank that leaves for good behind its session, without any handler of exit. */
#include "check.h"
#include <unistd.h>

#if HAVE_SESSIONS
int main(void)
{
    MPI_Session session;
    char *text = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_finalize(&session);
    if (text && atoi(text) == 1) {
        usleep(500000); /* MPICH 5's launcher drops what others say behind the first that leaves so */
        _exit(0);
    }
    printf("ok\n");
    return 0;
}
#else
int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return end();
}
#endif
