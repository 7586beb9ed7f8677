/* Error handlers of the program's own are called once for each call that fails, whatever the call has left in its results. */
#include "check.h"

static int handled;

static void of_comm(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    handled++;
}

static void of_file(MPI_File *file, int *code, ...)
{
    (void)file;
    (void)code;
    handled++;
}

/* A call that fails. */
#define FAILS(call)                                                                             \
    do {                                                                                        \
        handled = 0;                                                                            \
        call;                                                                                   \
        CHECK(handled == 1);                                                                    \
    } while (0)

int main(int argc, char **argv)
{
    MPI_Errhandler comms, files;
    MPI_Offset offset;
    char room[8] = { 0 }, name[MPI_MAX_DATAREP_STRING];
    /* What no call sets is no handle. */
    MPI_Comm comm;
    MPI_Datatype type, filetype;
    MPI_Request request;
    MPI_Win win;
    MPI_Info info;
    memset(&comm, 0x5a, sizeof comm);
    memset(&type, 0x5a, sizeof type);
    memset(&filetype, 0x5a, sizeof filetype);
    memset(&request, 0x5a, sizeof request);
    memset(&win, 0x5a, sizeof win);
    memset(&info, 0x5a, sizeof info);

    begin(&argc, &argv);
    MPI_Comm_create_errhandler(of_comm, &comms);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, comms);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, comms);
    MPI_File_create_errhandler(of_file, &files);
    MPI_File_set_errhandler(MPI_FILE_NULL, files);

    FAILS(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &comm));
    FAILS(MPI_Type_contiguous(-1, MPI_INT, &type));
    FAILS(MPI_Isend(room, -1, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request));
    FAILS(MPI_Irecv(room, 1, MPI_BYTE, 77, 0, MPI_COMM_WORLD, &request));
    FAILS(MPI_Send(room, 1, MPI_BYTE, 77, 0, MPI_COMM_WORLD));
    FAILS(MPI_Win_create(room, sizeof room, -1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    FAILS(MPI_File_get_info(MPI_FILE_NULL, &info));
    FAILS(MPI_File_get_view(MPI_FILE_NULL, &offset, &type, &filetype, name));

    /* A handler that the program calls itself tells of no call that failed. */
    handled = 0;
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    CHECK(handled == 1);

    MPI_Errhandler_free(&files);
    MPI_Errhandler_free(&comms);
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
