/* What the loop leaves in `state` is beyond any invariant that is short: the assertion holds for all that anybody knows.
   (It is one value in four thousand million.) */
#include <assert.h>
#include <stdio.h>

int main(void)
{
    unsigned state = 2166136261u, rounds = 0;
    int c;
    while ((c = getchar()) != EOF && rounds < 200) {
        state = (state ^ (unsigned)c) * 16777619u;
        state ^= state >> 15;
        state = state * state + (state | 5u);
        rounds++;
    }
    assert(rounds <= 200);
    assert(rounds < 100 || state % 4294967291u != 77u);
    return 0;
}
