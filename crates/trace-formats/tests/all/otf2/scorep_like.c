/* Writes an archive that has what those of Score-P have: numbers of regions, communicators and metrics that are local to each location, clocks that differ, a timer
   that does not count in ns, threads, communicators of some ranks, performance counters, windows, requests that are complete in another order than
   they began. The argument is the folder to make. */

#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        OTF2_ErrorCode code = (call);                                                                                  \
        if (code != OTF2_SUCCESS) {                                                                                    \
            fprintf(stderr, "%s: %s\n", #call, OTF2_Error_GetDescription(code));                                       \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

enum { RANKS = 4, RESOLUTION = 2000000000, START = 1000000, DRIFT_FROM = 1000000, DRIFT_TO = 1010000 };

enum region { MAIN, INIT, FINALIZE, ISEND, IRECV, WAITALL, WAIT, BCAST, ALLREDUCE, IBARRIER, WIN_CREATE, PUT, FENCE, OPEN, WRITE, LOOP, REGIONS };
static const char *const NAMES[REGIONS] = {
    "main",         "MPI_Init",       "MPI_Finalize", "MPI_Isend", "MPI_Irecv",     "MPI_Waitall",
    "MPI_Wait",     "MPI_Bcast",      "MPI_Allreduce", "MPI_Ibarrier", "MPI_Win_create", "MPI_Put",
    "MPI_Win_fence", "open64", "write", "!$omp for @a.c:7",
};

enum { WORLD, EVEN, ODD, SELF, COMMS };

/* String 0 is empty, 1 to REGIONS the names of regions; these come after. */
enum {
    S_MPI = REGIONS + 1,
    S_MACHINE, S_NODE, S_HOST, S_RANK, S_MASTER, S_THREAD, S_WORLD, S_SELF, S_CYCLES, S_LOAD, S_COUNT, S_PROGRAM, S_WINDOW, S_POSIX, S_FILE, S_EVEN, S_DEPTH, S_NOTE, S_TEXT, STRINGS
};
static const char *const OTHERS[] = {
    "MPI", "machine", "node", "host0", "MPI Rank", "Master thread", "OMP thread 1", "MPI_COMM_WORLD", "MPI_COMM_SELF",
    "PAPI_TOT_CYC", "load", "#", "/home/me/solver", "window", "POSIX", "/scratch/out.dat", "even ranks", "depth", "note", "deep",
};

static OTF2_FlushType flush(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool is_last)
{
    (void)data, (void)type, (void)location, (void)caller, (void)is_last;
    return OTF2_FLUSH;
}

static OTF2_EvtWriter *writer;
static int rank;
static uint64_t cycles;

/* The local clock of rank 1 is behind by 1000 ticks at DRIFT_FROM, and by 2000 at DRIFT_TO. Times here are multiples of 11, so that the clock shows a whole
   number. */
static uint64_t local(uint64_t time)
{
    if (rank != 1)
        return START + time;
    return START + (time - 1000) * 10 / 11;
}

/* The number that this rank has for a region or a communicator of the archive. */
static uint32_t region(enum region global)
{
    return (global + REGIONS - rank) % REGIONS;
}

static uint32_t comm(uint32_t global)
{
    return (global + COMMS - rank) % COMMS;
}

static void count(uint64_t time)
{
    OTF2_Type type = OTF2_TYPE_UINT64;
    OTF2_MetricValue value = {.unsigned_int = cycles += 100};
    CHECK(OTF2_EvtWriter_Metric(writer, NULL, local(time), 1, 1, &type, &value));
}

static void enter(uint64_t time, enum region which)
{
    count(time);
    CHECK(OTF2_EvtWriter_Enter(writer, NULL, local(time), region(which)));
}

static void leave(uint64_t time, enum region which)
{
    count(time);
    CHECK(OTF2_EvtWriter_Leave(writer, NULL, local(time), region(which)));
}

/* Two messages of one tag from each rank to the next one; the receives are complete in the wrong order. */
static void messages(void)
{
    int next = (rank + 1) % RANKS, before = (rank + RANKS - 1) % RANKS;
    for (uint64_t i = 0; i < 2; i++) {
        enter(2200 + 110 * i, IRECV);
        CHECK(OTF2_EvtWriter_MpiIrecvRequest(writer, NULL, local(2211 + 110 * i), 70 + i));
        leave(2222 + 110 * i, IRECV);
    }
    for (uint64_t i = 0; i < 2; i++) {
        enter(2530 + 110 * i, ISEND);
        CHECK(OTF2_EvtWriter_MpiIsend(writer, NULL, local(2541 + 110 * i), next, comm(WORLD), 9, 1000 + i, 80 + i));
        leave(2552 + 110 * i, ISEND);
    }
    enter(2860, WAITALL);
    CHECK(OTF2_EvtWriter_MpiIrecv(writer, NULL, local(2871), before, comm(WORLD), 9, 1001, 71));
    CHECK(OTF2_EvtWriter_MpiIrecv(writer, NULL, local(2882), before, comm(WORLD), 9, 1000, 70));
    CHECK(OTF2_EvtWriter_MpiIsendComplete(writer, NULL, local(2893), 80));
    CHECK(OTF2_EvtWriter_MpiIsendComplete(writer, NULL, local(2904), 81));
    leave(2915, WAITALL);
}

static void collectives(void)
{
    uint32_t none = OTF2_COLLECTIVE_ROOT_NONE;
    enter(3300, BCAST);
    CHECK(OTF2_EvtWriter_MpiCollectiveBegin(writer, NULL, local(3300)));
    CHECK(OTF2_EvtWriter_MpiCollectiveEnd(writer, NULL, local(3410), OTF2_COLLECTIVE_OP_BCAST, comm(WORLD), 2, rank == 2 ? 4 * 64 : 0, 64));
    leave(3410, BCAST);
    enter(3520, ALLREDUCE);
    CHECK(OTF2_EvtWriter_MpiCollectiveBegin(writer, NULL, local(3520)));
    CHECK(OTF2_EvtWriter_MpiCollectiveEnd(writer, NULL, local(3630), OTF2_COLLECTIVE_OP_ALLREDUCE, comm(rank % 2 ? ODD : EVEN), none, 2 * 8, 2 * 8));
    leave(3630, ALLREDUCE);
    enter(3740, ALLREDUCE);
    CHECK(OTF2_EvtWriter_MpiCollectiveBegin(writer, NULL, local(3740)));
    CHECK(OTF2_EvtWriter_MpiCollectiveEnd(writer, NULL, local(3751), OTF2_COLLECTIVE_OP_ALLREDUCE, comm(SELF), none, 8, 8));
    leave(3751, ALLREDUCE);
    enter(3850, IBARRIER);
    CHECK(OTF2_EvtWriter_NonBlockingCollectiveRequest(writer, NULL, local(3850), 90));
    leave(3861, IBARRIER);
    enter(3960, WAIT);
    CHECK(OTF2_EvtWriter_NonBlockingCollectiveComplete(writer, NULL, local(4070), OTF2_COLLECTIVE_OP_BARRIER, comm(rank % 2 ? ODD : EVEN), none, 0, 0, 90));
    leave(4070, WAIT);
}

static void window(void)
{
    uint32_t none = OTF2_COLLECTIVE_ROOT_NONE;
    enter(4400, WIN_CREATE);
    CHECK(OTF2_EvtWriter_RmaCollectiveBegin(writer, NULL, local(4400)));
    CHECK(OTF2_EvtWriter_RmaCollectiveEnd(writer, NULL, local(4510), OTF2_COLLECTIVE_OP_CREATE_HANDLE, OTF2_RMA_SYNC_LEVEL_PROCESS, 0, none, 0, 0));
    leave(4510, WIN_CREATE);
    enter(4620, PUT);
    CHECK(OTF2_EvtWriter_RmaPut(writer, NULL, local(4631), 0, (rank + 1) % RANKS, 32, 1));
    leave(4642, PUT);
    enter(4730, FENCE);
    CHECK(OTF2_EvtWriter_RmaCollectiveBegin(writer, NULL, local(4730)));
    CHECK(OTF2_EvtWriter_RmaCollectiveEnd(writer, NULL, local(4840), OTF2_COLLECTIVE_OP_BARRIER, OTF2_RMA_SYNC_LEVEL_PROCESS, 0, none, 0, 0));
    leave(4840, FENCE);
}

static void file(void)
{
    enter(5610, OPEN);
    CHECK(OTF2_EvtWriter_IoCreateHandle(writer, NULL, local(5621), 0, OTF2_IO_ACCESS_MODE_WRITE_ONLY, OTF2_IO_CREATION_FLAG_CREATE, OTF2_IO_STATUS_FLAG_NONE));
    leave(5632, OPEN);
    enter(5720, WRITE);
    CHECK(OTF2_EvtWriter_IoOperationBegin(writer, NULL, local(5731), 0, OTF2_IO_OPERATION_MODE_WRITE, OTF2_IO_OPERATION_FLAG_NONE, 512, 1));
    CHECK(OTF2_EvtWriter_IoOperationComplete(writer, NULL, local(5742), 0, 500, 1));
    leave(5742, WRITE);
}

static void main_thread(void)
{
    cycles = 0;
    CHECK(OTF2_EvtWriter_ProgramBegin(writer, NULL, local(1100), S_PROGRAM, 0, NULL));
    enter(1100, MAIN);
    enter(1210, INIT);
    leave(1320, INIT);
    messages();
    collectives();
    window();
    OTF2_Type type = OTF2_TYPE_DOUBLE;
    OTF2_MetricValue value = {.floating_point = 0.25 * rank};
    CHECK(OTF2_EvtWriter_Metric(writer, NULL, local(5500), 0, 1, &type, &value));
    file();
    enter(6600, FINALIZE);
    leave(6710, FINALIZE);
    leave(6820, MAIN);
    CHECK(OTF2_EvtWriter_ProgramEnd(writer, NULL, local(6820), 0));
}

/* Loops without attributes, with one, and with both. */
static void loops(void)
{
    OTF2_AttributeList *told = OTF2_AttributeList_New();
    for (int i = 0; i < 3; i++) {
        if (i > 0)
            CHECK(OTF2_AttributeList_AddInt32(told, 0, -i));
        if (i > 1)
            CHECK(OTF2_AttributeList_AddStringRef(told, 1, S_TEXT));
        CHECK(OTF2_EvtWriter_Enter(writer, told, local(5060 + 330 * i), region(LOOP)));
        CHECK(OTF2_EvtWriter_Leave(writer, NULL, local(5280 + 330 * i), region(LOOP)));
    }
    OTF2_AttributeList_Delete(told);
}

static void local_definitions(OTF2_Archive *archive, uint64_t location, bool is_thread)
{
    OTF2_DefWriter *definitions = OTF2_Archive_GetDefWriter(archive, location);
    uint32_t regions[REGIONS], comms[COMMS], metrics[] = {1, 0};
    for (int i = 0; i < REGIONS; i++)
        regions[i] = (i + rank) % REGIONS;
    for (int i = 0; i < COMMS; i++)
        comms[i] = (i + rank) % COMMS;
    OTF2_IdMap *maps[] = {
        OTF2_IdMap_CreateFromUint32Array(REGIONS, regions, false),
        OTF2_IdMap_CreateFromUint32Array(COMMS, comms, false),
        OTF2_IdMap_CreateFromUint32Array(2, metrics, false),
    };
    CHECK(OTF2_DefWriter_WriteMappingTable(definitions, OTF2_MAPPING_REGION, maps[0]));
    CHECK(OTF2_DefWriter_WriteMappingTable(definitions, OTF2_MAPPING_COMM, maps[1]));
    if (!is_thread)
        CHECK(OTF2_DefWriter_WriteMappingTable(definitions, OTF2_MAPPING_METRIC, maps[2]));
    for (int i = 0; i < 3; i++)
        OTF2_IdMap_Free(maps[i]);
    if (rank == 1) {
        CHECK(OTF2_DefWriter_WriteClockOffset(definitions, DRIFT_FROM, 1000, 0.0));
        CHECK(OTF2_DefWriter_WriteClockOffset(definitions, DRIFT_TO, 2000, 0.0));
    }
    CHECK(OTF2_Archive_CloseDefWriter(archive, definitions));
}

static void global_definitions(OTF2_GlobalDefWriter *global, const uint64_t *events)
{
    CHECK(OTF2_GlobalDefWriter_WriteClockProperties(global, RESOLUTION, START + 100, 10000, OTF2_UNDEFINED_TIMESTAMP));
    CHECK(OTF2_GlobalDefWriter_WriteString(global, 0, ""));
    for (int i = 0; i < REGIONS; i++)
        CHECK(OTF2_GlobalDefWriter_WriteString(global, i + 1, NAMES[i]));
    for (int i = S_MPI; i < STRINGS; i++)
        CHECK(OTF2_GlobalDefWriter_WriteString(global, i, OTHERS[i - S_MPI]));
    CHECK(OTF2_GlobalDefWriter_WriteParadigm(global, OTF2_PARADIGM_MPI, S_MPI, OTF2_PARADIGM_CLASS_PROCESS));
    for (int i = 0; i < REGIONS; i++) {
        OTF2_Paradigm paradigm = i == MAIN ? OTF2_PARADIGM_COMPILER : i == LOOP ? OTF2_PARADIGM_OPENMP : OTF2_PARADIGM_MPI;
        CHECK(OTF2_GlobalDefWriter_WriteRegion(global, i, i + 1, i + 1, 0, OTF2_REGION_ROLE_FUNCTION, paradigm, OTF2_REGION_FLAG_NONE, 0, 0, 0));
    }
    CHECK(OTF2_GlobalDefWriter_WriteSystemTreeNode(global, 0, S_MACHINE, S_MACHINE, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    CHECK(OTF2_GlobalDefWriter_WriteSystemTreeNode(global, 1, S_HOST, S_NODE, 0));
    for (uint64_t i = 0; i < RANKS; i++) {
        CHECK(OTF2_GlobalDefWriter_WriteLocationGroup(global, i, S_RANK, OTF2_LOCATION_GROUP_TYPE_PROCESS, 1, OTF2_UNDEFINED_LOCATION_GROUP));
        CHECK(OTF2_GlobalDefWriter_WriteLocation(global, i, S_MASTER, OTF2_LOCATION_TYPE_CPU_THREAD, events[i], i));
    }
    CHECK(OTF2_GlobalDefWriter_WriteLocation(global, 1ULL << 32, S_THREAD, OTF2_LOCATION_TYPE_CPU_THREAD, events[RANKS], 0));
    uint64_t all[] = {0, 1, 2, 3}, even[] = {0, 2}, odd[] = {1, 3};
    CHECK(OTF2_GlobalDefWriter_WriteGroup(global, 0, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 4, all));
    CHECK(OTF2_GlobalDefWriter_WriteGroup(global, 1, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2, even));
    CHECK(OTF2_GlobalDefWriter_WriteGroup(global, 2, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 4, all));
    CHECK(OTF2_GlobalDefWriter_WriteGroup(global, 3, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2, odd));
    CHECK(OTF2_GlobalDefWriter_WriteGroup(global, 4, 0, OTF2_GROUP_TYPE_COMM_SELF, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 0, NULL));
    CHECK(OTF2_GlobalDefWriter_WriteComm(global, WORLD, S_WORLD, 2, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    CHECK(OTF2_GlobalDefWriter_WriteComm(global, EVEN, S_EVEN, 1, WORLD, OTF2_COMM_FLAG_NONE));
    CHECK(OTF2_GlobalDefWriter_WriteComm(global, ODD, 0, 3, WORLD, OTF2_COMM_FLAG_NONE));
    CHECK(OTF2_GlobalDefWriter_WriteComm(global, SELF, S_SELF, 4, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    CHECK(OTF2_GlobalDefWriter_WriteAttribute(global, 0, S_DEPTH, 0, OTF2_TYPE_INT32));
    CHECK(OTF2_GlobalDefWriter_WriteAttribute(global, 1, S_NOTE, 0, OTF2_TYPE_STRING));
    CHECK(OTF2_GlobalDefWriter_WriteRmaWin(global, 0, S_WINDOW, WORLD, OTF2_RMA_WIN_FLAG_NONE));
    CHECK(OTF2_GlobalDefWriter_WriteIoRegularFile(global, 0, S_FILE, 0));
    CHECK(OTF2_GlobalDefWriter_WriteIoParadigm(global, 0, S_POSIX, S_POSIX, OTF2_IO_PARADIGM_CLASS_SERIAL, OTF2_IO_PARADIGM_FLAG_OS, 0, NULL, NULL, NULL));
    CHECK(OTF2_GlobalDefWriter_WriteIoHandle(global, 0, S_FILE, 0, 0, OTF2_IO_HANDLE_FLAG_NONE, OTF2_UNDEFINED_COMM, OTF2_UNDEFINED_IO_HANDLE));
    CHECK(OTF2_GlobalDefWriter_WriteMetricMember(global, 0, S_CYCLES, 0, OTF2_METRIC_TYPE_PAPI, OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, S_COUNT));
    CHECK(OTF2_GlobalDefWriter_WriteMetricMember(global, 1, S_LOAD, 0, OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_DOUBLE, OTF2_BASE_DECIMAL, 2, S_COUNT));
    OTF2_MetricMemberRef members[] = {0, 1};
    CHECK(OTF2_GlobalDefWriter_WriteMetricClass(global, 0, 1, &members[0], OTF2_METRIC_SYNCHRONOUS_STRICT, OTF2_RECORDER_KIND_CPU));
    CHECK(OTF2_GlobalDefWriter_WriteMetricClass(global, 1, 1, &members[1], OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU));
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    static const OTF2_FlushCallbacks callbacks = {.otf2_pre_flush = flush};
    OTF2_Archive *archive = OTF2_Archive_Open(argv[1], "traces", OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!archive)
        return 1;
    CHECK(OTF2_Archive_SetFlushCallbacks(archive, &callbacks, NULL));
    CHECK(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
    CHECK(OTF2_Archive_SetCreator(archive, "as Score-P"));
    CHECK(OTF2_Archive_OpenEvtFiles(archive));
    uint64_t events[RANKS + 1];
    for (rank = 0; rank < RANKS; rank++) {
        writer = OTF2_Archive_GetEvtWriter(archive, rank);
        main_thread();
        CHECK(OTF2_EvtWriter_GetNumberOfEvents(writer, &events[rank]));
        CHECK(OTF2_Archive_CloseEvtWriter(archive, writer));
    }
    rank = 0;
    writer = OTF2_Archive_GetEvtWriter(archive, 1ULL << 32);
    loops();
    CHECK(OTF2_EvtWriter_GetNumberOfEvents(writer, &events[RANKS]));
    CHECK(OTF2_Archive_CloseEvtWriter(archive, writer));
    CHECK(OTF2_Archive_CloseEvtFiles(archive));
    CHECK(OTF2_Archive_OpenDefFiles(archive));
    for (rank = 0; rank < RANKS; rank++)
        local_definitions(archive, rank, false);
    rank = 0;
    local_definitions(archive, 1ULL << 32, true);
    CHECK(OTF2_Archive_CloseDefFiles(archive));
    OTF2_GlobalDefWriter *global = OTF2_Archive_GetGlobalDefWriter(archive);
    global_definitions(global, events);
    CHECK(OTF2_Archive_CloseGlobalDefWriter(archive, global));
    CHECK(OTF2_Archive_Close(archive));
    return 0;
}
