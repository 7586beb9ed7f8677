/* Helpers of libmpe that have nothing to do with logging. */
#ifndef _MPE_MISC
#define _MPE_MISC

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Between these two the ranks go on one after the other, `ng` of them at a time. */
void MPE_Seq_begin(MPI_Comm comm, int ng);
void MPE_Seq_end(MPI_Comm comm, int ng);

/* Private tags on a duplicate of a communicator. */
int MPE_GetTags(MPI_Comm comm, int ntags, MPI_Comm *comm_out, int *first_tag);
int MPE_ReturnTags(MPI_Comm comm, int first_tag, int ntags);
int MPE_TagsEnd(void);
int MPE_DelTag(MPI_Comm comm, int keyval, void *attr_val, void *extra_state);

/* stdout to a file, in whose name a %d is the rank. */
void MPE_IO_Stdout_to_file(char *name, int mode);

void MPE_GetHostName(char *name, int nlen);

/* The part s to e of 1 to n that process `rank` of `size` gets. */
int MPE_Decomp1d(int n, int size, int rank, int *s, int *e);

/* The rank in MPI_COMM_WORLD. */
void MPE_Comm_global_rank(MPI_Comm comm, int rank, int *grank);

/* Which process a debugger is wanted for, on stderr. None is started, here and by the others, which leave errors and signals to MPI
 * and to the system; MPE_Errors_to_dbx is an error handler that says what is wrong and ends the program. */
void MPE_Start_debugger(void);
void MPE_Errors_call_debugger(char *pgm, char *dbg, char **args);
void MPE_Errors_call_xdbx(char *pgm, char *display);
void MPE_Errors_call_dbx_in_xterm(char *pgm, char *display);
void MPE_Signals_call_debugger(void);
void MPE_Errors_to_dbx(MPI_Comm *comm, int *errorcode, ...);

#ifdef __cplusplus
}
#endif

#endif
