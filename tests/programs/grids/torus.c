// Cells that live and die on a torus. Wrong: a neighbour to the left of the first column is in no column.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void turn(char *next, const char *cells, size_t w, size_t h) {
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++) {
            int n = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++) {
                    if (!dx && !dy) continue;
#ifdef FIXED
                    size_t xx = (x + w + dx) % w;
#else
                    size_t xx = x + dx;
#endif
                    size_t yy = (y + h + dy) % h;
                    n += cells[yy * w + xx];
                }
            next[y * w + x] = n == 3 || (n == 2 && cells[y * w + x]);
        }
}

int main(void) {
    size_t w = getchar(), h = getchar();
    if (w < 1 || h < 1 || w > 64 || h > 64) return 1;
    char *cells = malloc(w * h), *next = malloc(w * h);
    if (!cells || !next) return 1;
    for (size_t i = 0; i < w * h; i++) cells[i] = getchar() == '#';
    for (int i = 0; i < 10; i++) {
        turn(next, cells, w, h);
        memcpy(cells, next, w * h);
    }
    int alive = 0;
    for (size_t i = 0; i < w * h; i++) alive += cells[i];
    printf("%d\n", alive);
    free(cells);
    free(next);
    return 0;
}
