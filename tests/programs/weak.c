/* Asks after MPI_Init which functions there are, as programs do that are made for several versions of MPI: by weak references. Prints a line for each
 * that is there, and calls none. The functions came with MPI 3.1, 4.0, 4.1 and 5.0. */
#include <mpi.h>
#include <stdio.h>

#define ASK(name)                                   \
    {                                               \
        extern void name##_(void) __asm__(#name);   \
        extern __attribute__((weak)) void name##_(void); \
        void (*volatile function)(void) = name##_;  \
        if (function)                               \
            puts(#name);                            \
    }

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    ASK(MPI_Comm_rank)
    ASK(MPI_File_iread_all)
    ASK(PMPI_File_iread_all)
    ASK(MPI_Session_init)
    ASK(MPI_Send_c)
    ASK(PMPI_Send_c)
    ASK(MPI_Allreduce_init)
    ASK(MPI_Buffer_flush)
    ASK(MPI_Abi_get_version)
    ASK(MPIX_Stream_create)
    MPI_Finalize();
    return 0;
}
