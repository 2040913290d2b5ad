/* Two zero bytes in a row are looked for. */
#include <stdio.h>

int main(void) {
    char s[16];
    int i = 0;
    if (!fgets(s, sizeof s, stdin)) return 0;
    while (s[i] || s[i + 1]) i++;
    return i;
}
