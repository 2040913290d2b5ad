/* Records in an array that is counted with its sign. Wrong: there is memory for as many numbers, not records. */
#include <stdio.h>
#include <stdlib.h>

struct point {
    int x, y;
};

struct points {
    struct point *all;
    int count, room;
};

#ifdef FIXED
#define ELEMENT sizeof(struct point)
#else
#define ELEMENT sizeof(int)
#endif

static void add(struct points *points, int x, int y) {
    if (points->count >= points->room) {
        points->room = points->room ? points->room * 2 : 4;
        points->all = realloc(points->all, ELEMENT * points->room);
        if (!points->all) exit(1);
    }
    points->all[points->count].x = x;
    points->all[points->count].y = y;
    points->count++;
}

int main(void) {
    struct points points = {NULL, 0, 0};
    int c, sum = 0;
    while ((c = getchar()) != EOF && points.count <= 500) add(&points, c, c + 1);
    for (int i = 0; i < points.count; i++) sum += points.all[i].x - points.all[i].y;
    free(points.all);
    return sum & 1;
}
