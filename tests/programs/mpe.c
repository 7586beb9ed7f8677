/* MPE's logging API as programs written for libmpe use it, and the helpers of its library. tests/tests/mpi/user.rs knows what
 * must be found. */
#include "check.h"
#include "../../include/mpe.h"

int main(int argc, char **argv)
{
    int a0, a1, b0, b1, solo, crossed[4], first, lo, hi, end_of_last = 0, position = 0;
    MPE_LOG_BYTES bytes;
    MPI_Comm half, tags;

    /* Not yet, and no harm. */
    CHECK(MPE_Initialized_logging() == 0);
    CHECK(MPE_Describe_event(5999, "early", "red") == MPE_LOG_NOT_INITIALIZED);
    CHECK(MPE_Log_event(600, 0, NULL) == MPE_LOG_NOT_INITIALIZED);
    begin(&argc, &argv);
    CHECK(MPE_Init_log() == MPE_LOG_OK && MPE_Initialized_logging() == 1);

    MPE_Log_get_state_eventIDs(&a0, &a1);
    MPE_Log_get_state_eventIDs(&b0, &b1);
    MPE_Log_get_solo_eventID(&solo);
    CHECK(a0 == 600 && a1 == 601 && b0 == 602 && b1 == 603 && solo == 5000);
    for (int i = 0; i < 4; i++)
        crossed[i] = MPE_Log_get_event_number();
    if (rank == 0) {
        MPE_Describe_state(a0, a1, "plain", "navy");
        MPE_Describe_info_state(b0, b1, "with data", "gold", "i=%d e=%E s=%s");
        MPE_Describe_event(solo, "tick", "no such colour");
        MPE_Describe_state(crossed[0], crossed[2], "crossed", "red");
        MPE_Describe_state(1, 2, "old style", "green"); /* numbers of the program's own, as MPE 1 wanted them */
    }
    for (int i = 0; i < 10; i++) {
        double e = i / 4.0;
        MPE_Log_event(a0, i, NULL);
        MPI_Barrier(MPI_COMM_WORLD);
        MPE_Log_bare_event(b0);
        position = 0;
        memset(bytes, 0, sizeof bytes);
        CHECK(MPE_Log_pack(bytes, &position, 'd', 1, &i) == MPE_LOG_OK);
        CHECK(MPE_Log_pack(bytes, &position, 'E', 1, &e) == MPE_LOG_OK);
        CHECK(MPE_Log_pack(bytes, &position, 's', 4, "text") == MPE_LOG_OK && position == 18);
        CHECK(MPE_Log_pack(bytes, &position, 'l', 2, bytes) == MPE_LOG_PACK_FAIL && position == 18);
        MPE_Log_info_event(b1, bytes);
        MPE_Log_event(a1, i, NULL);
        MPE_Log_event(solo, 0, NULL);
        MPE_Log_event(crossed[0], 0, NULL);
        MPE_Log_event(crossed[2], 0, NULL);
        MPE_Log_event(1, 0, NULL);
        MPE_Log_event(2, 0, NULL);
    }
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPE_Log_comm_event(half, 0, a0, NULL);
    MPE_Log_comm_event(half, 0, a1, NULL);
    MPI_Comm_free(&half);
    if (rank == 0)
        MPE_Log_send(1, 42, 4096);
    if (rank == 1)
        MPE_Log_receive(0, 42, 4096);
    CHECK(MPE_Log_sync_clocks() == MPE_LOG_OK);
    MPE_Stop_log();
    MPE_Log_event(solo, 0, NULL);
    MPE_Start_log();

    /* One rank after the other: with all in one file, that shows. */
    MPE_Seq_begin(MPI_COMM_WORLD, 1);
    printf("turn of rank %d\n", rank);
    fflush(stdout);
    MPE_Seq_end(MPI_COMM_WORLD, 1);
    CHECK(MPE_GetTags(MPI_COMM_WORLD, 3, &tags, &first) == MPI_SUCCESS && first > 1000);
    MPE_ReturnTags(tags, first, 3);
    MPI_Comm_free(&tags);
    MPE_TagsEnd();
    for (int i = 0; i < size; i++) {
        MPE_Decomp1d(10, size, i, &lo, &hi);
        CHECK(lo == end_of_last + 1);
        end_of_last = hi;
    }
    CHECK(end_of_last == 10);
    MPE_Comm_global_rank(MPI_COMM_WORLD, rank, &lo);
    CHECK(lo == rank);

    /* What libmpe's own wrappers of MPI functions call. */
    int known[3];
    known[0] = MPE_Log_get_known_eventID();
    known[1] = MPE_Log_get_known_eventID();
    known[2] = MPE_Log_get_known_solo_eventID();
    if (rank == 0) {
        MPE_Describe_known_state(NULL, 0, MPE_Log_get_known_stateID(), known[0], known[1], "wrapped", "red", "n=%d");
        MPE_Describe_known_event(NULL, 0, known[2], "noted", "blue", NULL);
    }
    MPE_Log_commIDs_event(NULL, 0, known[0], NULL);
    MPE_Log_commIDs_event(NULL, 0, known[2], NULL);
    if (rank == 0)
        MPE_Log_commIDs_send(NULL, 0, 1, 43, 8192);
    if (rank == 1)
        MPE_Log_commIDs_receive(NULL, 0, 0, 43, 8192);
    CHECK(MPE_Log_commIDs_intracomm(NULL, 0, 100, NULL) == MPE_LOG_OK);
    CHECK(MPE_Log_commIDs_intercomm(NULL, 0, 1000, NULL) == MPE_LOG_OK);
    CHECK(MPE_Log_commIDs_nullcomm(NULL, 0, 1) == MPE_LOG_OK);
    MPE_Log_commIDs_event(NULL, 0, known[1], NULL);

    /* Nothing of this starts a debugger or changes what errors do. */
    MPE_Errors_call_debugger(argv[0], NULL, NULL);
    MPE_Errors_call_xdbx(argv[0], NULL);
    MPE_Errors_call_dbx_in_xterm(argv[0], NULL);
    MPE_Signals_call_debugger();
    if (rank == 1)
        MPE_Start_debugger();
    if (argc > 1) { /* ends here; a launcher may lose what is said last, so it goes to a file of this name and the rank */
        MPI_Errhandler handler;
        char name[4096];
        snprintf(name, sizeof name, "%s.%d", argv[1], rank);
        CHECK(freopen(name, "w", stderr));
        MPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)MPE_Errors_to_dbx, &handler);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
        MPI_Send(&rank, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
        printf("not reached\n");
    }

    CHECK(MPE_Finish_log("named_by_program") == MPE_LOG_OK && MPE_Initialized_logging() == 2);
    CHECK(MPE_Log_event(solo, 0, NULL) == MPE_LOG_NOT_INITIALIZED);
    MPI_Finalize();
    CHECK(strstr(MPE_Log_merged_logfilename(), "named_by_program.clog2"));
    return 0;
}
