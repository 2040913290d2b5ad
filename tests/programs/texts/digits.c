/* Pairs of hexadecimal digits become bytes, by a table. Wrong: a character with its sign is an index. */
#include <stdio.h>

static const signed char value_of[256] = {
    [0 ... 255] = -1,
    ['0'] = 0, ['1'] = 1, ['2'] = 2, ['3'] = 3, ['4'] = 4, ['5'] = 5, ['6'] = 6, ['7'] = 7, ['8'] = 8, ['9'] = 9,
    ['a'] = 10, ['b'] = 11, ['c'] = 12, ['d'] = 13, ['e'] = 14, ['f'] = 15,
};

#ifdef FIXED
typedef unsigned char character;
#else
typedef signed char character;
#endif

int main(void) {
    char line[64];
    unsigned char bytes[32];
    int n = 0;
    if (!fgets(line, sizeof line, stdin)) return 0;
    for (const char *p = line; value_of[(character)p[0]] >= 0 && value_of[(character)p[1]] >= 0; p += 2)
        bytes[n++] = (unsigned char)(value_of[(character)p[0]] << 4 | value_of[(character)p[1]]);
    return n > 0 ? bytes[n - 1] : 0;
}
