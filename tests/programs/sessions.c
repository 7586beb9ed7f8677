/* MPI 5.0 chapter 11, the sessions model: no MPI_Init, communicators made from process sets. */
#include "check.h"

#if HAVE_SESSIONS
static int errors;

static void session_error(MPI_Session *session, int *code, ...)
{
    (void)session, (void)code;
    errors++;
}

int main(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Info info;
    MPI_Errhandler handler;
    int sets, length = 0, sum = 0;
    char *name;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
    CHECK(sets >= 2);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL);
    name = malloc(length);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name);
    MPI_Session_get_pset_info(session, name, &info);
    MPI_Info_free(&info);
    free(name);
    MPI_Session_get_info(session, &info);
    MPI_Info_free(&info);
    MPI_Session_get_errhandler(session, &handler);
    MPI_Session_set_errhandler(session, handler);
    MPI_Errhandler_free(&handler);
    MPI_Session_create_errhandler(session_error, &handler);
    MPI_Session_set_errhandler(session, handler);
    MPI_Session_call_errhandler(session, MPI_ERR_OTHER);
    CHECK(errors == 1);
    MPI_Errhandler_free(&handler);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "tests/sessions", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size - 1) / 2);
    if (size > 1) { /* the first rank and the others */
        MPI_Group mine, theirs;
        MPI_Comm inter;
        int zero = 0;
        MPI_Group_incl(group, 1, &zero, rank == 0 ? &mine : &theirs);
        MPI_Group_excl(group, 1, &zero, rank == 0 ? &theirs : &mine);
        MPI_Intercomm_create_from_groups(mine, 0, theirs, 0, "tests/between", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter);
        MPI_Comm_remote_size(inter, &sum);
        CHECK(sum == (rank == 0 ? size - 1 : 1));
        MPI_Comm_free(&inter);
        MPI_Group_free(&mine);
        MPI_Group_free(&theirs);
    }
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
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
