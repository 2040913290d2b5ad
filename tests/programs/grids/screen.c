// A screen of characters with a cursor. Wrong: scrolling goes on to a row that there is not.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct screen {
    int w, h, x, y;
    char *cell;
};

static void scroll(struct screen *s) {
#ifdef FIXED
    for (int y = 1; y < s->h; y++)
#else
    for (int y = 1; y <= s->h; y++)
#endif
        memcpy(s->cell + (y - 1) * s->w, s->cell + y * s->w, s->w);
    memset(s->cell + (s->h - 1) * s->w, ' ', s->w);
}

static void show(struct screen *s, int c) {
    if (c == '\n' || s->x >= s->w) {
        s->x = 0;
        s->y++;
    }
    if (s->y >= s->h) {
        scroll(s);
        s->y = s->h - 1;
    }
    if (c != '\n') s->cell[s->y * s->w + s->x++] = (char)c;
}

int main(void) {
    struct screen s = {0};
    s.w = getchar();
    s.h = getchar();
    if (s.w < 2 || s.w > 80 || s.h < 2 || s.h > 25) return 1;
    s.cell = malloc((size_t)(s.w * s.h));
    if (!s.cell) return 1;
    memset(s.cell, ' ', (size_t)(s.w * s.h));
    for (int c = getchar(); c != EOF; c = getchar()) show(&s, c);
    fwrite(s.cell, 1, (size_t)s.w, stdout);
    free(s.cell);
    return 0;
}
