/* Blanks at the beginning are written over by what follows. Wrong: the end is not moved along. */
#include <stdio.h>
#include <string.h>

int main(void) {
    char line[32], copy[32];
    size_t blanks = 0;
    if (!fgets(line, sizeof line, stdin)) return 0;
    while (line[blanks] == ' ') blanks++;
    memset(copy, 'x', sizeof copy);
#ifdef FIXED
    memmove(copy, line + blanks, strlen(line + blanks) + 1);
#else
    memmove(copy, line + blanks, strlen(line + blanks));
#endif
    memmove(line, copy, strlen(copy) + 1);
    return (int)strlen(line);
}
