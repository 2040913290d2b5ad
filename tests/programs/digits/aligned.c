// Pieces are cut off a block, each from a multiple of eight on. Wrong: what is left is compared with the size that was asked for.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL 1020

int main(void) {
    char *block = malloc(ALL);
    if (!block) return 1;
    size_t used = 0;
    int c;
    while ((c = getchar()) != EOF) {
        size_t size = (size_t)c & 63;
        size_t rounded = (size + 7) & ~(size_t)7;
#ifdef FIXED
        if (rounded > ALL - used) break;
#else
        if (size > ALL - used) break;
#endif
        memset(block + used, c, size);
        used += rounded;
    }
    free(block);
    return 0;
}
