/* The mean of the digits on standard input that are above a bound. */
#include <stdio.h>

int main(void)
{
    int sum = 0, count = 0, c;

    while ((c = getchar()) >= '0' && c <= '9') {
        if (c > '6') {
            sum += c - '0';
            count++;
        }
    }
    if (c != '=')
        return 1;
#ifdef FIXED
    if (count == 0)
        return 1;
#endif
    return sum / count; /* here */
}
