/* The name by which programs written for libdumpi include its API. */
#include "../../libdumpi.h"
