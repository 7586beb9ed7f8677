/* libtrace: what a program, a library or an I/O server can ask of the recorder.
 *
 * Link with -ltrace, or let the functions be weak and test their addresses: without the recorder they are not there.
 * Everything may be called at any time from any thread, also in signal handlers.
 */
#ifndef TRACE_H
#define TRACE_H

#include <stdint.h>

/* Version of this interface. */
#define TRACE_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

/* CallID of the MPI call that is running on this thread: the rank in MPI_COMM_WORLD in the high bits, the number of the
 * call in the others (24 and 40 bits unless configured). 0 outside MPI. Every output format names calls by it. */
uint64_t trace_callid(void);

/* Switch recording on and off for the whole process, as MPI_Pcontrol(1) and MPI_Pcontrol(0) do. While it is off, calls are
 * counted and not recorded. */
void trace_on(void);
void trace_off(void);

/* Whether recording is on. */
int trace_is_on(void);

/* Version of the library's interface, TRACE_VERSION of its header. */
unsigned trace_version(void);

#ifdef __cplusplus
}
#endif

#endif
