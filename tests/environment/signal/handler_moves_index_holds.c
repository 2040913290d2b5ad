// world: holds
// property: memory
// native: wrap puts
// why: the index is copied before
#include <signal.h>
#include <stdio.h>
static volatile int at;
static int table[4];
static void next(int s) { at = at + 4; }
int main(void)
{
    int here;
    signal(SIGINT, next);
    here = at;
    if (here < 0 || here > 3)
        return 0;
    puts("go");
    return table[here];
}
