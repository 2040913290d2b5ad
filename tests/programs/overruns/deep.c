/* The end is written over at the bottom of a recursion. */
#include <stdio.h>
#include <string.h>

static char g[8];

static int depth(int k, char *p) {
    if (k > 0) return depth(k - 1, p);
    p[0] = 'a';
    p[1] = (char)getchar();
    p[7] = (char)getchar();
    return 0;
}

int main(void) {
    memset(g, 'b', 7);
    depth(getchar() & 3, g);
    return (int)strlen(g);
}
