/* All of the input is read into a block that is doubled when it is full. Wrong: it is doubled one character too late. */
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    size_t used = 0, room = 0;
    char *all = NULL;
    int c;
    while ((c = getchar()) != EOF) {
#ifdef FIXED
        if (used == room) {
#else
        if (room == 0 || used > room) {
#endif
            size_t wanted = room ? room * 2 : 16;
            char *moved = realloc(all, wanted);
            if (!moved) {
                free(all);
                return 1;
            }
            all = moved;
            room = wanted;
        }
        all[used++] = (char)c;
    }
    for (size_t i = 0; i < used; i++) putchar(all[i]);
    free(all);
    return 0;
}
