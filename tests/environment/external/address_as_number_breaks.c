// world: breaks
// property: assertion
// native: ext
// why: an address that was handed over as a number is an address
#include <assert.h>
void start_transfer(unsigned long where, unsigned long count);
int main(void)
{
    int x[2] = {0, 0};
    start_transfer((unsigned long)x, sizeof x);
    assert(x[1] == 0);
    return 0;
}
