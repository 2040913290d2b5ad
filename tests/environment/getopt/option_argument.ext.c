#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void again(int argc, char **argv)
{
    char *arguments[] = {"program", "-a", 0};
    if (argc < 2)
        execv("/proc/self/exe", arguments);
}
