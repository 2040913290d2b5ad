/* The first element is looked at in the end. Wrong: by an address from before the array grew. */
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    unsigned char *all = NULL, *first = NULL;
    size_t used = 0, room = 0;
    int c, found = 0;
    while ((c = getchar()) != EOF && used < 64) {
        if (used == room) {
            room += 16;
            all = realloc(all, room);
            if (!all) return 1;
#ifdef FIXED
            first = all;
#else
            if (!first) first = all;
#endif
        }
        all[used++] = (unsigned char)c;
    }
    if (first) found = *first;
    free(all);
    return found;
}
