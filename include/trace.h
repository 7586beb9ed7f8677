/* libtrace: what a program, a library or an I/O server can ask of the recorder, and tell it.
 *
 * Works with and without the recorder: all functions are weak, and each is called only if it is there. So a program that
 * uses this header links without -ltrace and runs as if nothing were asked; preloaded, or linked with -ltrace, it finds
 * the recorder. (Programs that are linked with -no-pie find it only when linked with -ltrace, or with the linker option
 * -z dynamic-undefined-weak.) With TRACE_REQUIRED defined the functions are plain ones.
 *
 * Everything may be called at any time from any thread, also in signal handlers; only the first event of a thread that has
 * not called MPI may not come from one.
 */
#ifndef TRACE_H
#define TRACE_H

#include <stdint.h>

/* Version of this interface. */
#define TRACE_VERSION 2

#ifdef TRACE_REQUIRED
#define TRACE_WEAK
#else
#define TRACE_WEAK __attribute__((weak))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* CallID of the MPI call that is running on this thread: the rank in MPI_COMM_WORLD in the high bits, the number of the
 * call in the others (24 and 40 bits unless configured). 0 outside MPI. Every output format names calls by it. */
uint64_t trace_callid(void) TRACE_WEAK;

/* Switch recording on and off for the whole process, as MPI_Pcontrol(1) and MPI_Pcontrol(0) do. While it is off, calls are
 * counted and not recorded. */
void trace_on(void) TRACE_WEAK;
void trace_off(void) TRACE_WEAK;

/* Whether recording is on. */
int trace_is_on(void) TRACE_WEAK;

/* Version of the library's interface, TRACE_VERSION of its header; 0 without the recorder. */
unsigned trace_version(void) TRACE_WEAK;

/* From here on programs write trace_begin and so on: macros, below. The functions have longer names, since a preloaded
 * library must not stand in front of what libraries of the program call by such short ones.
 *
 * A region of the program on this thread: a state in the trace, around the MPI calls between begin and end. Regions nest; all
 * ranks agree on them by their names (80 bytes of them count, CLOG2 has room for 31). One that never ends goes to the end
 * of the trace. */
void libtrace_begin(const char *name) TRACE_WEAK;
void libtrace_end(const char *name) TRACE_WEAK;

/* The same at the least cost: the number of a name, looked up once, 0 without the recorder. */
uint32_t libtrace_region(const char *name) TRACE_WEAK;
void libtrace_region_begin(uint32_t region) TRACE_WEAK;
void libtrace_region_end(uint32_t region) TRACE_WEAK;

/* A marker: a moment with a value. */
void libtrace_mark(const char *name, int64_t value) TRACE_WEAK;
void libtrace_mark_double(const char *name, double value) TRACE_WEAK;

/* A text: a moment with words. 4000 bytes are recorded, CLOG2 and SLOG2 have room for 30. */
void libtrace_text(const char *text) TRACE_WEAK;

#ifdef __cplusplus
}
#endif

#ifdef TRACE_REQUIRED
#define TRACE_CALL(function, arguments, none) function arguments
#else
#define TRACE_CALL(function, arguments, none) (function ? function arguments : none)
#define trace_callid() TRACE_CALL(trace_callid, (), (uint64_t)0)
#define trace_on() TRACE_CALL(trace_on, (), (void)0)
#define trace_off() TRACE_CALL(trace_off, (), (void)0)
#define trace_is_on() TRACE_CALL(trace_is_on, (), 0)
#define trace_version() TRACE_CALL(trace_version, (), 0u)
#endif
#define trace_begin(name) TRACE_CALL(libtrace_begin, (name), (void)0)
#define trace_end(name) TRACE_CALL(libtrace_end, (name), (void)0)
#define trace_region(name) TRACE_CALL(libtrace_region, (name), (uint32_t)0)
#define trace_region_begin(region) TRACE_CALL(libtrace_region_begin, (region), (void)0)
#define trace_region_end(region) TRACE_CALL(libtrace_region_end, (region), (void)0)
#define trace_mark(name, value) TRACE_CALL(libtrace_mark, (name, value), (void)0)
#define trace_mark_double(name, value) TRACE_CALL(libtrace_mark_double, (name, value), (void)0)
#define trace_text(text) TRACE_CALL(libtrace_text, (text), (void)0)

/* TRACE_SCOPE("name"); in a block: a region from there to the end of the block, however it is left. */
#define TRACE_JOIN_(a, b) a##b
#define TRACE_JOIN(a, b) TRACE_JOIN_(a, b)

#ifdef __cplusplus
namespace trace {
/* A region that lives as long as the object. */
class scope {
public:
    explicit scope(uint32_t region) : region_(region) { trace_region_begin(region_); }
    explicit scope(const char *name) : region_(trace_region(name)) { trace_region_begin(region_); }
    ~scope() { trace_region_end(region_); }

private:
    scope(const scope &);
    scope &operator=(const scope &);
    uint32_t region_;
};
} /* namespace trace */

#define TRACE_SCOPE(name)                                                       \
    static const uint32_t TRACE_JOIN(trace_number_, __LINE__) = trace_region(name); \
    trace::scope TRACE_JOIN(trace_scope_, __LINE__)(TRACE_JOIN(trace_number_, __LINE__))
#else
static inline __attribute__((unused)) uint32_t trace_scope_begin(uint32_t *number, const char *name)
{
    if (*number == 0)
        *number = trace_region(name);
    trace_region_begin(*number);
    return *number;
}
static inline __attribute__((unused)) void trace_scope_end(const uint32_t *region)
{
    trace_region_end(*region);
}
#define TRACE_SCOPE(name)                                \
    static uint32_t TRACE_JOIN(trace_number_, __LINE__); \
    uint32_t TRACE_JOIN(trace_scope_, __LINE__)          \
        __attribute__((cleanup(trace_scope_end), unused)) = trace_scope_begin(&TRACE_JOIN(trace_number_, __LINE__), name)
#endif

#endif
