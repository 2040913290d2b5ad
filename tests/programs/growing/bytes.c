/* Bytes are appended to an array that grows. Wrong: it grows one byte too late. */
#include <stdio.h>
#include <stdlib.h>

struct bytes {
    unsigned char *data;
    size_t used, room;
};

static int append(struct bytes *all, unsigned char byte) {
#ifdef FIXED
    if (all->used == all->room) {
#else
    if (all->used > all->room) {
#endif
        size_t room = all->room ? all->room * 2 : 8;
        unsigned char *larger = realloc(all->data, room);
        if (!larger) return -1;
        all->data = larger;
        all->room = room;
    }
    all->data[all->used++] = byte;
    return 0;
}

int main(void) {
    struct bytes all = {0};
    int c;
    unsigned sum = 0;
    while ((c = getchar()) != EOF && all.used < 1000)
        if (append(&all, (unsigned char)c)) break;
    for (size_t i = 0; i < all.used; i++) sum = sum * 31 + all.data[i];
    free(all.data);
    return (int)(sum & 1);
}
