// Points are appended and deleted. Wrong: the room that is asked for is half of what is noted.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct point {
    int x, y;
};

struct points {
    struct point *at;
    size_t count, room;
};

static int append(struct points *p, struct point one) {
    if (p->count == p->room) {
        size_t room = p->room ? 2 * p->room : 4;
#ifdef FIXED
        struct point *at = realloc(p->at, room * sizeof *at);
#else
        struct point *at = realloc(p->at, room * sizeof one.x);
#endif
        if (!at) return -1;
        p->at = at;
        p->room = room;
    }
    p->at[p->count++] = one;
    return 0;
}

static void delete(struct points *p, size_t i) {
    if (i >= p->count) return;
    memmove(p->at + i, p->at + i + 1, (p->count - i - 1) * sizeof *p->at);
    p->count--;
}

int main(void) {
    struct points all = {NULL, 0, 0};
    int c, sum = 0;
    while ((c = getchar()) != EOF) {
        struct point one = {c, -c};
        if (c & 1) {
            if (append(&all, one)) break;
        } else {
            delete(&all, (size_t)c >> 1);
        }
    }
    for (size_t i = 0; i < all.count; i++) sum += all.at[i].x;
    free(all.at);
    return sum & 1;
}
