/* The line's end becomes a full stop. Wrong: where the line has no end of its own, that of the string is written over. */
#include <stdio.h>
#include <string.h>

int main(void) {
    char line[24];
    if (!fgets(line, sizeof line, stdin)) return 0;
    size_t length = strlen(line);
#ifdef FIXED
    if (length > 0 && line[length - 1] == '\n') line[length - 1] = '.';
#else
    if (length > 0) line[length - 1] == '\n' ? (line[length - 1] = '.') : (line[length] = '.');
#endif
    return (int)strlen(line);
}
