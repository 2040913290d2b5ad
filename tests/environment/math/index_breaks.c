// world: breaks
// property: memory
// native: ext
// why: a rounded number may be outside
#include <math.h>
double measure(void);
static int table[10];
int main(void)
{
    double x = measure();
    if (!(x >= 0 && x < 10))
        return 0;
    return table[(int)ceil(x)];
}
