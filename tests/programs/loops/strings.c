/* A path is put together from the environment, with strlen, strcpy and strcat. */
#include <stdlib.h>
#include <string.h>

#ifndef ROOM
#define ROOM 512
#endif

int main(void) {
    const char *home = getenv("HOME");
    char path[ROOM];
    if (!home)
        return 1;
#ifdef FIXED
    if (strlen(home) + strlen("/.rc") >= sizeof path)
        return 1;
#else
    if (strlen(home) >= sizeof path)
        return 1;
#endif
    strcpy(path, home);
    strcat(path, "/.rc");
    return path[0];
}
