/* A string is moved, and its end is not. */
#include <stdio.h>
#include <string.h>

int main(void) {
    char s[16];
    if (!fgets(s, sizeof s, stdin)) return 0;
    size_t n = strlen(s);
    memmove(s + 1, s, n);
    s[0] = '>';
    return (int)strlen(s);
}
