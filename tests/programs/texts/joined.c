/* Two names become a path. Wrong: the slash and the end have no room. */
#include <stdio.h>
#include <string.h>

int main(void) {
    char folder[64], name[64], path[64];
    if (!fgets(folder, sizeof folder, stdin) || !fgets(name, sizeof name, stdin)) return 0;
    folder[strcspn(folder, "\n")] = 0;
    name[strcspn(name, "\n")] = 0;
#ifdef FIXED
    if (strlen(folder) + strlen(name) + 2 > sizeof path) return 1;
#else
    if (strlen(folder) + strlen(name) > sizeof path) return 1;
#endif
    strcpy(path, folder);
    strcat(path, "/");
    strcat(path, name);
    puts(path);
    return 0;
}
