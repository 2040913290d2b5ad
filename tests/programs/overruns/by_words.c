/* Four bytes at a time are written over a string. */
#include <stdio.h>
#include <string.h>

int main(void) {
    char s[16];
    if (!fgets(s, sizeof s, stdin)) return 0;
    int v = getchar();
    memcpy(s + 12, &v, 4);
    v = 0x41414141;
    for (int i = 0; i < 12; i += 4) memcpy(s + i, &v, 4);
    return (int)strlen(s);
}
