/* MPE's logging API, as libtrace has it: a program written for libmpe compiles with this header and links with -ltrace in
 * place of -llmpe -lmpe. What it logs stands in the trace among its MPI calls.
 */
#ifndef _MPE_INCLUDE
#define _MPE_INCLUDE

#include "mpe_misc.h"
#include "mpe_log.h"

#endif
