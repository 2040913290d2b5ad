/* A callee writes over the end. */
#include <stdio.h>
#include <string.h>

static void mark(char *p, size_t n) { p[n] = 'x'; }

int main(void) {
    char s[16];
    if (!fgets(s, sizeof s, stdin)) return 0;
    mark(s, strlen(s));
    return (int)strlen(s);
}
