/* A flag says of one character what is taken for another. */
#include <stdio.h>

int main(void) {
    char s[16];
    if (!fgets(s, sizeof s, stdin)) return 0;
    char *p = s;
    int more = *p != 0 && *p != ',';
    while (more) {
        p++;
        if (*p == ';') p += 2;
        more = *p != 0 && *p != ',';
    }
    return (int)(p - s);
}
