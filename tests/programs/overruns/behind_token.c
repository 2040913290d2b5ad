/* What stands behind the last token is no string. */
#include <stdio.h>
#include <string.h>

int main(void) {
    char s[16];
    if (!fgets(s, sizeof s, stdin)) return 0;
    char *token = strtok(s, " ");
    if (!token) return 0;
    return (int)strlen(token + strlen(token) + 1);
}
