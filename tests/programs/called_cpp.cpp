// A C++ program compiled with -finstrument-functions: an exception leaves functions that are in each other.
#include <mpi.h>
#include <cstdio>
#include <stdexcept>

namespace solver {

struct Step {
    __attribute__((noinline)) int run(int depth)
    {
        if (depth == 0)
            throw std::runtime_error("deep enough");
        return run(depth - 1) + 1;
    }
};

__attribute__((noinline)) int tried()
{
    Step step;
    try {
        return step.run(3);
    } catch (const std::exception &) {
        return -1;
    }
}

__attribute__((noinline)) void after()
{
    MPI_Barrier(MPI_COMM_WORLD);
}

} // namespace solver

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int result = solver::tried();
    solver::after();
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Finalize();
    if (rank == 0 && result == -1)
        std::puts("ok");
    return 0;
}
