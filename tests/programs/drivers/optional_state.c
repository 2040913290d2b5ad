/* What is allocated on one path only: where there is none, nothing need be known of its members. A mode too many is kept. */
#include <stdio.h>
#include <stdlib.h>

#ifdef FIXED
#define MODE(c) ((c) & 3)
#else
#define MODE(c) ((c) & 7)
#endif

struct state {
    int mode;
    int lines;
};

int main(void)
{
    static const int widths[4] = {8, 16, 32, 64};
    struct state *state = NULL;
    int total = 0;
    int c = getchar();
    if (c == '#') {
        state = malloc(sizeof *state);
        if (state == NULL)
            return 1;
        while ((c = getchar()) == ' ')
            ;
        state->mode = MODE(c);
        state->lines = 0;
    }
    while ((c = getchar()) != EOF) {
        if (state != NULL && c == '\n')
            total ^= widths[state->mode]; /* here */
    }
    free(state);
    return total != 0;
}
