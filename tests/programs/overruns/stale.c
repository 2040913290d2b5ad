/* What was read was written over since. */
#include <stdio.h>
#include <string.h>

int main(void) {
    char s[8];
    if (!fgets(s, sizeof s, stdin)) return 0;
    char *p = s + strlen(s), c = *p;
    *p = 'q';
    if (!c) p++;
    while (*p) p++;
    return (int)(p - s);
}
