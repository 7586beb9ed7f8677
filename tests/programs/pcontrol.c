/* MPI_Pcontrol(0) stops recording, MPI_Pcontrol(1) resumes it. The recorded barriers are 5 of 12. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (int i = 0; i < 2; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(0);
    for (int i = 0; i < 7; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    for (int i = 0; i < 3; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(2, "a level with further arguments", 3); /* any other level is the program's own business */
    return end();
}
