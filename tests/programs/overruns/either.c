/* A pointer leads to one of two strings, and writes over its end. */
#include <stdio.h>
#include <string.h>

int main(void) {
    char a[8] = "abc", b[8] = "abcdefg";
    int c = getchar();
    char *p = c & 1 ? a : b;
    p[7] = (char)c;
    p[3] = (char)c;
    return (int)(strlen(a) + strlen(b));
}
