// A part of a picture is copied row by row. Wrong: its height is not compared with the rows that are left.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct picture {
    unsigned w, h;
    unsigned char *px;
};

static unsigned char *cut(const struct picture *from, unsigned x, unsigned y, unsigned w, unsigned h) {
    if (x > from->w || w > from->w - x) return NULL;
#ifdef FIXED
    if (y > from->h || h > from->h - y) return NULL;
#else
    if (y > from->h) return NULL;
#endif
    if (w == 0 || h == 0) return NULL;
    unsigned char *to = malloc(w * h);
    if (!to) return NULL;
    for (unsigned row = 0; row < h; row++)
        memcpy(to + row * w, from->px + (y + row) * from->w + x, w);
    return to;
}

int main(void) {
    struct picture p;
    p.w = (unsigned)getchar() & 127;
    p.h = (unsigned)getchar() & 127;
    if (p.w == 0 || p.h == 0) return 1;
    p.px = malloc(p.w * p.h);
    if (!p.px) return 1;
    memset(p.px, 7, p.w * p.h);
    unsigned w = (unsigned)getchar() & 127, h = (unsigned)getchar() & 127;
    unsigned char *part = cut(&p, (unsigned)getchar() & 127, (unsigned)getchar() & 127, w, h);
    if (part) printf("%d\n", part[w * h - 1]);
    free(part);
    free(p.px);
    return 0;
}
