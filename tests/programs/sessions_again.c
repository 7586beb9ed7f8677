/* Sessions one after the other and at the same time, with a world in between if the argument says so. The ranks finalize
 * different numbers of them. */
#include "check.h"

#if HAVE_SESSIONS
static void session(int n)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int sum = 0, one = 1;
    char tag[30];
    snprintf(tag, sizeof tag, "tests/again/%d", n);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < 10; i++) {
        int in = -1;
        MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, i, &in, 1, MPI_INT, (rank + size - 1) % size, i, comm,
                     MPI_STATUS_IGNORE);
        CHECK(in == i);
    }
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    MPI_Session outer, more;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &outer);
    session(0);
    session(1);
    if (rank == 0) { /* one more than the others */
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &more);
        MPI_Session_finalize(&more);
    }
    if (argc > 1) {
        MPI_Init(NULL, NULL);
        MPI_Barrier(MPI_COMM_WORLD);
        session(2);
        MPI_Session_finalize(&outer);
        return end();
    }
    MPI_Session_finalize(&outer);
    if (rank == 0)
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
