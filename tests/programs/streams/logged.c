// The system's log is opened with a name. Wrong: the name is released before the next message.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

int main(void) {
    char *name = malloc(8);
    if (!name) return 1;
    strcpy(name, "tool");
    openlog(name, 0, LOG_USER);
#ifndef FIXED
    free(name);
#endif
    int c = getchar();
    if (c > 0) syslog(LOG_INFO, "a character");
    closelog();
#ifdef FIXED
    free(name);
#endif
    return 0;
}
