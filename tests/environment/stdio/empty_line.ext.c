#include <unistd.h>
__attribute__((constructor)) static void feed(void)
{
    int ends[2];
    if (pipe(ends) == 0 && write(ends[1], "\0\n", 2) == 2) {
        dup2(ends[0], 0);
        close(ends[1]);
    }
}
