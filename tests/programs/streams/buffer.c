// A stream is given a buffer. Wrong: that of a function that has returned, where the library writes with each line.
#include <stdio.h>

static void set_up(void) {
#ifdef FIXED
    static char buffer[BUFSIZ];
#else
    char buffer[BUFSIZ];
#endif
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
}

int main(void) {
    set_up();
    int c = getchar();
    if (c == 'x') printf("hello %d\n", c);
    return 0;
}
