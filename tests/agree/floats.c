/* Floating point: conversions, comparison with NaN, long double, library functions. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "crunner.h"

int main(void)
{
    double d;
    float f;
    long long n;
    unsigned char raw[8];
    crunner_get_bytes(raw, 8);
    memcpy(&n, raw, 8);
    n >>= 20;
    d = (double)n / 1024;
    f = (float)d;
    long double l = (long double)n * 3;
    printf("%.10g %.6g %.15Lg\n", d, f, l / 7);
    printf("%d %d %lld\n", (int)(d < 0), (int)fmod(d, 7), (long long)(l / 2));
    printf("%.9g %.9g %.9g\n", sqrt(fabs(d)), floor(d), sin(f));
    double nan = d - d;
    nan /= nan;
    printf("%d %d %d\n", nan == nan, nan < 1, !(nan >= 1));
    printf("%u %d\n", (unsigned)(unsigned char)(int)fabs(fmod(d, 200)), (int)(f * 0.001f));
    if (d > 1e6 && f < 2e6f)
        return 1;
    return 0;
}
