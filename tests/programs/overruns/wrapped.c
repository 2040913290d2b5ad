/* The sum of an index and a length is compared after it was cut. */
#include <stdio.h>
#include <string.h>

int main(void) {
    char s[16];
    if (!fgets(s, sizeof s, stdin)) return 0;
    unsigned char i = (unsigned char)getchar();
    size_t n = strlen(s);
    return (unsigned char)(i + n) < n ? s[i + n] : 0;
}
