// A number is written in digits, the last one first, and turned around. Wrong: there is no room for the sign.
#include <stdio.h>

#ifdef FIXED
#define ROOM 12
#else
#define ROOM 11
#endif

static int digits(int value, char *out) {
    char turned[10];
    int n = 0, o = 0;
    unsigned rest = value < 0 ? -(unsigned)value : (unsigned)value;
    do {
        turned[n++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0) out[o++] = '-';
    while (n) out[o++] = turned[--n];
    out[o] = 0;
    return o;
}

int main(void) {
    unsigned value = 0;
    for (int i = 0; i < 4; i++) value = value << 8 | ((unsigned)getchar() & 255);
    char text[ROOM];
    return digits((int)value, text) & 1;
}
