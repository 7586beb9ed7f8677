/* Looks functions up in the library that its argument names, and says what dlerror says of each lookup, as POSIX shows it. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const char *names[] = {"MPI_Init", "MPI_Comm_rank", "MPI_Send_to_the_moon", "PMPI_Barrier", "MPI_Finalize"};
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; i < 5; i++) {
        dlerror();
        void *function = dlsym(library, names[i]);
        const char *error = dlerror();
        printf("%s: %s, %s\n", names[i], function ? "found" : "not found", error ? "an error" : "no error");
    }
    return 0;
}
