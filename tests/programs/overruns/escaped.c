/* Behind a backslash two characters are skipped, the end among them. */
#include <stdio.h>

int main(void) {
    char s[16];
    int n = 0;
    if (!fgets(s, sizeof s, stdin)) return 0;
    for (char *p = s; *p; p++) {
        if (*p == '\\') p++;
        n++;
    }
    return n;
}
