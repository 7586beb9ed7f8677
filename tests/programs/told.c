/* As many barriers as it is told to: told COUNT [FOLDER-TO-GO-TO [FOLDER-TO-REMOVE]]. With TOLD_NAME set, a communicator gets that name. */
#include "check.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    CHECK(argc > 1);
    for (int i = 0; i < atoi(argv[1]); i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (getenv("TOLD_NAME")) {
        MPI_Comm named;
        MPI_Comm_dup(MPI_COMM_WORLD, &named);
        MPI_Comm_set_name(named, getenv("TOLD_NAME"));
        MPI_Comm_free(&named);
    }
    if (argc > 2)
        CHECK(chdir(argv[2]) == 0);
    if (argc > 3)
        CHECK(rmdir(argv[3]) == 0);
    return end();
}
