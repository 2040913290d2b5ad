/* 128-bit integers, odd shifts, saturation at the ends of types, division in every signedness. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include "crunner.h"

int main(void)
{
    uint64_t a = 0, b = 0;
    crunner_get_bytes(&a, 8);
    crunner_get_bytes(&b, 8);
    unsigned __int128 p = (unsigned __int128)a * b;
    __int128 q = (__int128)(int64_t)a * (int64_t)b;
    printf("%llx %llx %llx\n", (unsigned long long)(p >> 64), (unsigned long long)p,
           (unsigned long long)((unsigned __int128)q >> 64));
    if (b) {
        printf("%llu %llu\n", (unsigned long long)(a / b), (unsigned long long)(a % b));
        int8_t s = (int8_t)a, t = (int8_t)b;
        if (t)
            printf("%d %d\n", s / t, s % t);
        p /= b;
        printf("%llx\n", (unsigned long long)p);
    }
    int64_t r;
    printf("%d\n", __builtin_add_overflow((int64_t)a, (int64_t)b, &r));
    int32_t m;
    printf("%d\n", __builtin_mul_overflow((int32_t)a, (int32_t)b, &m));
    printf("%d %d\n", (int)((int16_t)a >> 3), (int)((uint16_t)a >> 3));
    return (int)(a >> 61);
}
