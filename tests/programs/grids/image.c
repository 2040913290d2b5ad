// Pixels of four bytes in an image. Wrong: a point below the last row is set.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct image {
    unsigned w, h;
    uint8_t *px;
};

static int image_init(struct image *im, unsigned w, unsigned h) {
    if (w == 0 || h == 0 || w > 512 || h > 512) return 0;
    im->px = calloc(w * h, 4);
    if (!im->px) return 0;
    im->w = w;
    im->h = h;
    return 1;
}

static void put(struct image *im, unsigned x, unsigned y, uint32_t color) {
#ifdef FIXED
    if (x >= im->w || y >= im->h) return;
#else
    if (x >= im->w || y > im->h) return;
#endif
    uint8_t *p = im->px + (y * im->w + x) * 4;
    p[0] = color;
    p[1] = color >> 8;
    p[2] = color >> 16;
    p[3] = color >> 24;
}

static uint8_t get(const struct image *im, unsigned x, unsigned y, int channel) {
    if (x >= im->w || y >= im->h) return 0;
    return im->px[(y * im->w + x) * 4 + (channel & 3)];
}

int main(void) {
    struct image im;
    unsigned w = getchar(), h = getchar();
    if (!image_init(&im, w, h)) return 1;
    for (unsigned i = 0; i < 10; i++) put(&im, getchar(), getchar(), i * 77);
    unsigned sum = 0;
    for (unsigned y = 0; y < im.h; y++)
        for (unsigned x = 0; x < im.w; x++) sum += get(&im, x, y, 1);
    printf("%u\n", sum);
    free(im.px);
    return 0;
}
