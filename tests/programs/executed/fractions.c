/* Numbers with fractions of three widths. */
#include <math.h>
void reach_error(void);

int main(void)
{
    long double wide = 1;
    double middle = 1;
    float narrow = 1;
    for (int i = 1; i <= 30; i++) {
        wide /= 3;
        middle /= 3;
        narrow /= 3;
    }
    for (int i = 1; i <= 30; i++) {
        wide *= 3;
        middle *= 3;
        narrow *= 3;
    }
    if (fabsl(wide - 1) > 1e-17L || fabs(middle - 1) > 1e-13 || fabsf(narrow - 1) > 1e-4f)
        reach_error();
#ifdef FIXED
    if (sqrt(2) * sqrt(2) == 2)
#else
    if (sqrt(2) * sqrt(2) != 2)
#endif
        reach_error();
    return 0;
}
