/* States, events and messages of the program's own.
 *
 * Differences to libmpe: MPI_Init begins logging, MPI_Finalize writes the files (MPE_Finish_log names them), the thread of an
 * event is the one that logs it, and everything is thread-safe.
 */
#ifndef _MPE_LOG_H_
#define _MPE_LOG_H_

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the functions return. */
#define MPE_LOG_OK 0
#define MPE_LOG_LOCKED_OUT 1
#define MPE_LOG_NO_MEMORY 2
#define MPE_LOG_FILE_PROB 3
#define MPE_LOG_NOT_INITIALIZED 4
#define MPE_LOG_PACK_FAIL 5
#define MPE_Log_OK MPE_LOG_OK
#define MPE_Log_LOCKED_OUT MPE_LOG_LOCKED_OUT
#define MPE_Log_NO_MEMORY MPE_LOG_NO_MEMORY
#define MPE_Log_FILE_PROB MPE_LOG_FILE_PROB
#define MPE_Log_NOT_INITIALIZED MPE_LOG_NOT_INITIALIZED
#define MPE_Log_PACK_FAIL MPE_LOG_PACK_FAIL

/* The data that an event can carry: 32 bytes. */
#define MPE_LOG_BYTESIZE (4 * sizeof(double))
typedef char MPE_LOG_BYTES[MPE_LOG_BYTESIZE];

/* Begins logging; MPI_Init has done so already. Without MPI_Init, calls it. */
int MPE_Init_log(void);
/* 0 before MPI_Init, 1 while events are logged, 2 after MPE_Finish_log. */
int MPE_Initialized_logging(void);
/* Records neither calls nor events between MPE_Stop_log and MPE_Start_log. */
int MPE_Start_log(void);
int MPE_Stop_log(void);
/* Compares the clocks of all ranks once more. Collective over MPI_COMM_WORLD. */
int MPE_Log_sync_clocks(void);
/* Ends logging and names the files, if the setting `output` (MPE_LOGFILE_PREFIX) does not. */
int MPE_Finish_log(const char *filename);
/* Name of the CLOG2 file; final after MPI_Finalize. */
const char *MPE_Log_merged_logfilename(void);
/* Nothing: threads are counted as they come. */
void MPE_Log_thread_sync(int local_thread_count);

/* Numbers of events: two for a state, one for a solo event. All ranks must ask in the same order. */
int MPE_Log_get_state_eventIDs(int *startID, int *finalID);
int MPE_Log_get_solo_eventID(int *eventID);
int MPE_Log_get_event_number(void); /* deprecated */

/* Names, X11 colours and formats of data: "key=%d, other=%s" with the tokens of MPE_Log_pack. */
int MPE_Describe_state(int startID, int finalID, const char *name, const char *color);
int MPE_Describe_info_state(int startID, int finalID, const char *name, const char *color, const char *format);
int MPE_Describe_comm_state(MPI_Comm comm, int local_thread, int startID, int finalID, const char *name,
                            const char *color, const char *format);
int MPE_Describe_event(int eventID, const char *name, const char *color);
int MPE_Describe_info_event(int eventID, const char *name, const char *color, const char *format);
int MPE_Describe_comm_event(MPI_Comm comm, int local_thread, int eventID, const char *name, const char *color,
                            const char *format);

/* Appends to an event's data: s string of `count` characters; h 2, d 4, l 8 bytes decimal; x 4, X 8 bytes hexadecimal;
 * e float, E double. MPE_LOG_PACK_FAIL where there is no room. */
int MPE_Log_pack(MPE_LOG_BYTES bytebuf, int *position, char tokentype, int count, const void *data);

/* Events, on MPI_COMM_WORLD or another communicator; without data where bytebuf is NULL. */
int MPE_Log_event(int event, int unused, const char *bytebuf);
int MPE_Log_bare_event(int event);
int MPE_Log_info_event(int event, const char *bytebuf);
int MPE_Log_comm_event(MPI_Comm comm, int local_thread, int event, const char *bytebuf);

/* Messages that are not MPI's. `size` is in bytes. */
int MPE_Log_send(int receiver, int tag, int size);
int MPE_Log_receive(int sender, int tag, int size);
int MPE_Log_comm_send(MPI_Comm comm, int local_thread, int receiver, int tag, int size);
int MPE_Log_comm_receive(MPI_Comm comm, int local_thread, int sender, int tag, int size);

/* For wrappers of MPI functions, as libmpe's own are. Communicators are libmpe's and not looked at: all stands on MPI_COMM_WORLD. */
int MPE_Log_get_known_eventID(void);
int MPE_Log_get_known_solo_eventID(void);
int MPE_Log_get_known_stateID(void);
int MPE_Describe_known_state(const void *commIDs, int local_thread, int stateID, int startID, int finalID, const char *name,
                             const char *color, const char *format);
int MPE_Describe_known_event(const void *commIDs, int local_thread, int eventID, const char *name, const char *color,
                             const char *format);
int MPE_Log_commIDs_event(const void *commIDs, int local_thread, int event, const char *bytebuf);
int MPE_Log_commIDs_send(const void *commIDs, int local_thread, int receiver, int tag, int size);
int MPE_Log_commIDs_receive(const void *commIDs, int local_thread, int sender, int tag, int size);
int MPE_Log_commIDs_intracomm(const void *commIDs, int local_thread, int comm_etype, const void *intracommIDs);
int MPE_Log_commIDs_intercomm(const void *commIDs, int local_thread, int comm_etype, const void *intercommIDs);
int MPE_Log_commIDs_nullcomm(const void *commIDs, int local_thread, int comm_etype);

#ifdef __cplusplus
}
#endif

/* MPE2 2.4.9b has the functions on communicators without `local_thread`: programs for it define MPE_LOG_THREADLESS, with
 * -DMPE_LOG_THREADLESS or in front of the header. */
#ifdef MPE_LOG_THREADLESS
#define MPE_Describe_comm_state(comm, start, final, name, color, format) \
    MPE_Describe_comm_state(comm, 0, start, final, name, color, format)
#define MPE_Describe_comm_event(comm, event, name, color, format) \
    MPE_Describe_comm_event(comm, 0, event, name, color, format)
#define MPE_Log_comm_event(comm, event, bytebuf) MPE_Log_comm_event(comm, 0, event, bytebuf)
#define MPE_Log_comm_send(comm, receiver, tag, size) MPE_Log_comm_send(comm, 0, receiver, tag, size)
#define MPE_Log_comm_receive(comm, sender, tag, size) MPE_Log_comm_receive(comm, 0, sender, tag, size)
#endif

#endif
