/* The length of another line was asked. */
#include <stdio.h>
#include <string.h>

int main(void) {
    char s[16], d[8];
    if (!fgets(s, sizeof s, stdin)) return 0;
    if (strlen(s) >= sizeof d) return 0;
    if (!fgets(s, sizeof s, stdin)) return 0;
    strcpy(d, s);
    return d[0];
}
