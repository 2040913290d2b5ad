/* Characters are counted by their class, which a table says that is filled at the beginning. Wrong: there is one class more than counters. */
#include <stdio.h>

static unsigned char classes[256];

static void prepare(void) {
    for (int c = 0; c < 256; c++) classes[c] = c >= '0' && c <= '9' ? 1 : c == ' ' ? 2 : 0;
#ifndef FIXED
    classes['\t'] = 3;
#endif
}

int main(void) {
    int counts[3] = {0, 0, 0};
    char line[64];
    prepare();
    while (fgets(line, sizeof line, stdin))
        for (char *p = line; *p; p++) counts[classes[(unsigned char)*p]]++;
    return counts[0] == counts[1];
}
