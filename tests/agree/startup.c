/* Constructors before main, by priority; atexit handlers and destructors after it. All of them may ask for input. */
#include <stdio.h>
#include <stdlib.h>
#include "crunner.h"

static int order[8], steps, seed;

static void note(int which)
{
    if (steps < 8)
        order[steps++] = which;
}

__attribute__((constructor)) static void last(void) { note(3); }
__attribute__((constructor(200))) static void second(void) { note(2); }
__attribute__((constructor(101))) static void first(void)
{
    seed = crunner_get_byte();
    note(1);
}
__attribute__((destructor)) static void good_bye(void) { printf("destructor after %d\n", steps); }
__attribute__((destructor(300))) static void before(void) { printf("destructor 300, %d\n", crunner_get_byte()); }

static void handler(void) { printf("handler, %d\n", seed); }

int main(void)
{
    note(4);
    atexit(handler);
    for (int i = 0; i < steps; i++)
        printf("%d ", order[i]);
    printf("seed %d\n", seed);
    if (seed & 1)
        exit(7);
    return seed & 3;
}
