/* How many parts of a hundred the digit on standard input makes. */
#include <stdio.h>

int main(void)
{
    int c = getchar();

    if (c < '0' || c > '9')
        return 1;
#ifdef FIXED
    if (c == '0')
        return 1;
#endif
    double part = 100.0 / (c - '0');
    return (int)part; /* here */
}
