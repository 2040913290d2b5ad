/* Bit-fields, unions, shifts, rotations and builtins, driven by inputs. */
#include <stdint.h>
#include <stdio.h>
#include "crunner.h"

struct flags {
    unsigned ready : 1;
    signed level : 5;
    unsigned mode : 3;
    unsigned long long wide : 40;
};
union view {
    uint64_t whole;
    uint8_t byte[8];
    struct { uint32_t low, high; } half;
};

static uint32_t rotate(uint32_t x, unsigned by) { return (x << (by & 31)) | (x >> ((32 - by) & 31)); }

int main(void)
{
    struct flags f = {0};
    union view v;
    v.whole = 0;
    for (int i = 0; i < 8; i++)
        v.byte[i] = crunner_get_byte();
    f.ready = v.byte[0];
    f.level = (signed char)v.byte[1];
    f.mode = v.byte[2] >> 3;
    f.wide = v.whole;
    printf("%u %d %u %llu\n", f.ready, f.level, f.mode, (unsigned long long)f.wide);
    printf("%x %x\n", v.half.low, v.half.high);
    printf("%d %d %d\n", __builtin_popcountll(v.whole), v.whole ? __builtin_clzll(v.whole) : -1,
           v.whole ? __builtin_ctzll(v.whole) : -1);
    printf("%x %llx\n", rotate(v.half.low, v.byte[7]), (unsigned long long)__builtin_bswap64(v.whole));
    if (f.ready && f.level < 0)
        return 1;
    return f.mode;
}
