/* Zeros from the beginning are all written over. */
#include <stdio.h>
#include <string.h>

int main(void) {
    char s[8] = {0};
    int c;
    for (int i = 0; i < 8 && (c = getchar()) > 0; i++) s[i] = (char)c;
    return (int)strlen(s);
}
