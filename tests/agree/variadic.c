/* Variable arguments of every class, va_copy, and more than the registers hold. */
#include <stdarg.h>
#include <stdio.h>
#include "crunner.h"

struct big { long a, b, c; };
struct pair { double x; int n; };

static double total(const char *kinds, ...)
{
    va_list list, again;
    double sum = 0;
    va_start(list, kinds);
    va_copy(again, list);
    for (int round = 0; round < 2; round++) {
        va_list *from = round ? &again : &list;
        for (const char *k = kinds; *k; k++) {
            switch (*k) {
            case 'i': sum += va_arg(*from, int); break;
            case 'l': sum += (double)va_arg(*from, long); break;
            case 'd': sum += va_arg(*from, double); break;
            case 'L': sum += (double)va_arg(*from, long double); break;
            case 's': sum += va_arg(*from, const char *)[0]; break;
            case 'B': { struct big b = va_arg(*from, struct big); sum += (double)(b.a + b.b + b.c); break; }
            case 'P': { struct pair p = va_arg(*from, struct pair); sum += p.x * p.n; break; }
            }
        }
    }
    va_end(again);
    va_end(list);
    return sum;
}

int main(void)
{
    int n = (signed char)crunner_get_byte();
    struct big b = {n, n + 1, n + 2};
    struct pair p = {0.5, n};
    printf("%.3f\n", total("iiiiiiii", n, 2, 3, 4, 5, 6, 7, 8));
    printf("%.3f\n", total("dddddddddd", 1.0, 2.0, n * 1.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0));
    printf("%.3f\n", total("iLdBsPl", n, (long double)n / 4, 1.5, b, "x", p, 1234567890123L));
    printf("%.3f\n", total("PPPPPP", p, p, p, p, p, p));
    return n & 7;
}
