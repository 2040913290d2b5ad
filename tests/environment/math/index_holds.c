// world: holds
// property: memory
// native: ext
// why: rounded downwards it is inside
#include <math.h>
double measure(void);
static int table[10];
int main(void)
{
    double x = measure();
    if (!(x >= 0 && x < 10))
        return 0;
    return table[(int)floor(x)];
}
