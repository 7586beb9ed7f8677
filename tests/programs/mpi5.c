/* MPI 4.1 and 5.0: what these versions added, each function where the header has it (then tally.h defines it as a macro). */
#include "check.h"

#define PIECE 1000

static MPI_Status status;
static MPI_Request requests[3];
static int flag;

static void abi(void)
{
#ifdef MPI_Abi_get_version
    int major = 0, minor = 0;
    MPI_Info info;
    CHECK(MPI_Abi_get_version(&major, &minor) == MPI_SUCCESS);
#ifdef MPI_ABI_VERSION
    CHECK(major == MPI_ABI_VERSION && minor == MPI_ABI_SUBVERSION);
#endif
    MPI_Abi_get_info(&info);
    MPI_Info_free(&info);
    MPI_Abi_get_fortran_info(&info);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    /* Without Fortran they are not set, or not to be set again: an error code is as good as success here. */
    int yes = 1, no = 0;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Abi_get_fortran_booleans(sizeof yes, &yes, &no, &flag);
    yes = 1;
    no = 0;
    MPI_Abi_set_fortran_booleans(sizeof yes, &yes, &no);
    MPI_Info_create(&info);
    MPI_Abi_set_fortran_info(info);
    MPI_Info_free(&info);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
#endif
}

static void buffers(void)
{
#ifdef MPI_Comm_attach_buffer
    int out = rank, in = -1;
    void *gone;
    count_t length;
    char *buffer = malloc(MPI_BSEND_OVERHEAD + PIECE);
    MPI_Comm_attach_buffer(MPI_COMM_WORLD, buffer, MPI_BSEND_OVERHEAD + PIECE);
    MPI_Bsend(&out, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
    MPI_Recv(&in, 1, MPI_INT, prev, 1, MPI_COMM_WORLD, &status);
    CHECK(in == prev);
    MPI_Comm_flush_buffer(MPI_COMM_WORLD);
    MPI_Comm_iflush_buffer(MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Comm_detach_buffer(MPI_COMM_WORLD, &gone, &length);
    CHECK(gone == buffer && length == MPI_BSEND_OVERHEAD + PIECE);
    MPI_Buffer_attach(buffer, MPI_BSEND_OVERHEAD + PIECE);
    MPI_Buffer_flush();
    MPI_Buffer_iflush(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&gone, &length);
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_attach_buffer(session, buffer, MPI_BSEND_OVERHEAD + PIECE);
    MPI_Session_flush_buffer(session);
    MPI_Session_iflush_buffer(session, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Session_detach_buffer(session, &gone, &length);
    CHECK(gone == buffer);
    MPI_Session_finalize(&session);
    free(buffer);
#endif
}

static void statuses(void)
{
#ifdef MPI_Status_set_source
    int value = 0;
    memset(&status, 0, sizeof status);
    MPI_Status_set_source(&status, 3);
    MPI_Status_set_tag(&status, 5);
    MPI_Status_set_error(&status, MPI_ERR_OTHER);
    MPI_Status_get_source(&status, &value);
    CHECK(value == 3);
    MPI_Status_get_tag(&status, &value);
    CHECK(value == 5);
    MPI_Status_get_error(&status, &value);
    CHECK(value == MPI_ERR_OTHER);
#endif
#ifdef MPI_Request_get_status_all
    int in[3] = {-1, -1, -1}, indices[3], many, which;
    MPI_Status several[3];
    for (int i = 0; i < 3; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, prev, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 3; i++)
        MPI_Send(&rank, 1, MPI_INT, next, i, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD); /* fewer rounds */
    do
        MPI_Request_get_status_all(3, requests, &flag, several);
    while (!flag);
    CHECK(several[2].MPI_TAG == 2);
    MPI_Request_get_status_any(3, requests, &which, &flag, &status);
    CHECK(flag && which >= 0 && which < 3 && status.MPI_TAG == which);
    MPI_Request_get_status_some(3, requests, &many, indices, several);
    CHECK(many == 3);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK(in[0] == prev && in[2] == prev);
#endif
}

static void errors(void)
{
#ifdef MPI_Remove_error_class
    int class, code;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "of this test");
    MPI_Remove_error_string(code);
    MPI_Remove_error_code(code);
    MPI_Remove_error_class(class);
#endif
}

static void others(void)
{
#ifdef MPI_Session_set_info /* Open MPI's own */
    MPI_Session session;
    MPI_Info hints;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Info_create(&hints);
    MPI_Session_set_info(session, hints);
    MPI_Info_free(&hints);
    MPI_Session_finalize(&session);
#endif
#ifdef MPI_Get_hw_resource_info
    MPI_Info info;
    MPI_Get_hw_resource_info(&info);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
#endif
#ifdef MPI_Type_get_value_index
    MPI_Datatype pair;
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair);
    CHECK(pair == MPI_DOUBLE_INT);
#endif
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    abi();
    buffers();
    statuses();
    errors();
    others();
    return end();
}
