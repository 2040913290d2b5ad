/* Arguments whose number is the first of them, some with fractions, some structures. */
#include <stdarg.h>
void reach_error(void);

struct pair {
    long first, second;
    int third;
};

static long add_up(int count, ...)
{
    va_list all;
    long sum = 0;
    va_start(all, count);
    for (int i = 0; i < count; i++) {
        if (i % 3 == 0)
            sum += va_arg(all, int);
        else if (i % 3 == 1)
            sum += (long)va_arg(all, double);
        else {
            struct pair pair = va_arg(all, struct pair);
            sum += pair.first * pair.second + pair.third;
        }
    }
    va_end(all);
    return sum;
}

int main(void)
{
    struct pair pair = { 3, 5, 1 };
    long sum = add_up(9, 1, 2.75, pair, 4, 5.5, pair, 7, 8.25, pair);
#ifdef FIXED
    if (sum != 1 + 2 + 16 + 4 + 5 + 16 + 7 + 8 + 16)
#else
    if (sum != 1 + 3 + 16 + 4 + 6 + 16 + 7 + 8 + 16)
#endif
        reach_error();
    return 0;
}
