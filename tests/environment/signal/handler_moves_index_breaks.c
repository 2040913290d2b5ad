// world: breaks
// property: memory
// native: wrap puts
// assumption: signals
// why: between the check and the use the handler goes on to the next place
#include <signal.h>
#include <stdio.h>
static volatile int at;
static int table[4];
static void next(int s) { at = at + 4; }
int main(void)
{
    signal(SIGINT, next);
    if (at < 0 || at > 3)
        return 0;
    puts("go");
    return table[at];
}
