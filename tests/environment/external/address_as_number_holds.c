// world: holds
// property: assertion
// native: ext
// why: the number that is handed over is no address
#include <assert.h>
void tell_number(unsigned long number);
int main(void)
{
    int x[2] = {0, 0};
    tell_number((unsigned long)x[0]);
    assert(x[1] == 0);
    return 0;
}
