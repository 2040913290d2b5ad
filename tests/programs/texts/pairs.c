/* A setting is taken to pieces. Wrong: the name has room for less than a line may have. */
#include <stdio.h>
#include <string.h>

int main(void) {
    char line[48], value[48];
#ifdef FIXED
    char name[48];
#else
    char name[24];
#endif
    while (fgets(line, sizeof line, stdin)) {
        char *equal = strchr(line, '=');
        if (!equal) continue;
        *equal = 0;
        strcpy(name, line);
        strcpy(value, equal + 1);
        if (!strcmp(name, "quit")) break;
    }
    return 0;
}
