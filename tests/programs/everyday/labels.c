/* What a letter stands for is printed. Wrong: one of the kinds has no label. */
#include <stdio.h>

enum kind { RED, GREEN, BLUE, NONE };

#ifdef FIXED
static const char *const labels[] = {"red", "green", "blue", "none"};
#else
static const char *const labels[] = {"red", "green", "blue"};
#endif

static enum kind kind_of(int c) {
    switch (c) {
    case 'r': return RED;
    case 'g': return GREEN;
    case 'b': return BLUE;
    default: return NONE;
    }
}

int main(void) {
    int c;
    while ((c = getchar()) != EOF) puts(labels[kind_of(c)]);
    return 0;
}
