/* No space need come before the end. */
#include <ctype.h>
#include <stdio.h>

int main(void) {
    char s[16];
    if (!fgets(s, sizeof s, stdin)) return 0;
    char *p = s;
    while (!isspace((unsigned char)*p)) p++;
    return *p;
}
