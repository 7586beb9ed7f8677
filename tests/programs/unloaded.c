/* Loads the recorder, gives it back, and ends by quick_exit: unloaded FILE */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    void *recorder = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);
    if (!recorder || dlclose(recorder) != 0)
        return 1;
    recorder = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
    puts(recorder ? "kept" : "gone");
    fflush(stdout);
    quick_exit(5);
}
