/* Two to the power of 24 paths. */
#include <assert.h>

unsigned __VERIFIER_nondet_uint(void);
#define any() __VERIFIER_nondet_uint()

int main(void)
{
    unsigned held = 1, x = any();
    if (any() % 2) x += 1; else x -= 2;
    if (any() % 2) x += 2; else x -= 3;
    if (any() % 2) x += 3; else x -= 4;
    if (any() % 2) x += 4; else x -= 5;
    if (any() % 2) x += 5; else x -= 6;
    if (any() % 2) x += 6; else x -= 7;
    if (any() % 2) x += 7; else x -= 8;
    if (any() % 2) x += 8; else x -= 9;
    if (any() % 2) x += 9; else x -= 10;
    if (any() % 2) x += 10; else x -= 11;
    if (any() % 2) x += 11; else x -= 12;
    if (any() % 2) x += 12; else x -= 13;
    if (any() % 2) x += 13; else x -= 14;
    if (any() % 2) x += 14; else x -= 15;
    if (any() % 2) x += 15; else x -= 16;
    if (any() % 2) x += 16; else x -= 17;
    if (any() % 2) x += 17; else x -= 18;
    if (any() % 2) x += 18; else x -= 19;
    if (any() % 2) x += 19; else x -= 20;
    if (any() % 2) x += 20; else x -= 21;
    if (any() % 2) x += 21; else x -= 22;
    if (any() % 2) x += 22; else x -= 23;
    if (any() % 2) x += 23; else x -= 24;
    if (any() % 2) x += 24; else x -= 25;
    assert(held);
    return (int)x;
}
