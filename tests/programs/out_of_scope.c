/* A pointer outlives the block of the array that it points into. */
#include <stdio.h>

int main(void)
{
    int usual = 3, *chosen = &usual;
    int c = getchar();

    if (c == 'x') {
        int special[2];
        special[0] = 1;
        special[1] = 2;
#ifdef FIXED
        usual = special[0];
#else
        chosen = special;
#endif
    }
    return *chosen; /* here */
}
