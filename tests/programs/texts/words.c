/* Words are counted by a cursor. Wrong: behind a backslash the next character is skipped, whatever it is. */
#include <stdio.h>

int main(void) {
    char line[100];
    int words = 0, inside = 0;
    if (!fgets(line, sizeof line, stdin)) return 0;
    for (const char *p = line; *p; p++) {
#ifdef FIXED
        if (*p == '\\' && p[1]) p++;
#else
        if (*p == '\\') p++;
#endif
        if (*p == ' ' || *p == '\n') inside = 0;
        else if (!inside) inside = 1, words++;
    }
    return words;
}
