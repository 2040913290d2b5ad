/* The name of a file below the home directory, built character by character; FAULTY, without asking how long it gets. */
#include <stdlib.h>

#ifndef MAX_LEN
#define MAX_LEN 32
#endif

static const char file[] = "/.settings";

int main(void)
{
    static char path[MAX_LEN];
    const char *home = getenv("HOME");
    unsigned n = 0;
    if (home == NULL)
        return 1;
    while (home[n] != '\0') {
#ifndef FAULTY
        if (n + sizeof file >= sizeof path)
            return 2;
#endif
        path[n] = home[n];
        n++;
    }
    for (unsigned i = 0; i < sizeof file; i++)
        path[n + i] = file[i];
    return path[0] == '/' ? 0 : 3;
}
