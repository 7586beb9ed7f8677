/* Processes that ask MPI something before they fork, and whose children are the ranks: they begin MPI. */
#include <mpi.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int flag = 0, rank = 0, status = 1;
    MPI_Initialized(&flag);
    pid_t child = fork();
    if (child < 0)
        return 1;
    if (child > 0) {
        waitpid(child, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        puts("ok");
    return flag;
}
