/* strncpy leaves a string without an end. */
#include <stdio.h>
#include <string.h>

int main(void) {
    char s[64], d[16];
    if (!fgets(s, sizeof s, stdin)) return 0;
    strncpy(d, s, sizeof d);
    return (int)strlen(d);
}
