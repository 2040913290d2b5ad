/* Blanks at both ends of a line go. Wrong: a line of nothing but blanks is searched before its beginning. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static char *trimmed(char *s) {
    char *end;
    while (isspace((unsigned char)*s)) s++;
#ifdef FIXED
    if (!*s) return s;
    for (end = s + strlen(s) - 1; end > s && isspace((unsigned char)*end); end--);
#else
    for (end = s + strlen(s); isspace((unsigned char)*end) || !*end; end--);
#endif
    end[1] = 0;
    return s;
}

int main(void) {
    char line[40];
    while (fgets(line, sizeof line, stdin)) puts(trimmed(line));
    return 0;
}
