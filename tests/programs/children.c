/* Ranks that start other processes: those inherit the preload and the rank variables, and must leave no trace. */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (system("true") != 0) /* before MPI_Init */
        return 1;
    begin(&argc, &argv);
    CHECK(system("sh -c 'exit 0'") == 0);
    pid_t child = fork();
    if (child == 0)
        _exit(0); /* a fork without exec: must neither merge nor remove anything */
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
