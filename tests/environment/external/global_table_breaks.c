// world: breaks
// property: assertion
// native: ext
// why: each entry of a global table is a way in
#include <assert.h>
static int a, b;
int *const table[2] = {&a, &b};
void step(void);
int main(void)
{
    b = 1;
    step();
    assert(b == 1);
    return a;
}
